"""The grader: drives submissions in a sandbox, compares them with torch twins, scores, reports."""
