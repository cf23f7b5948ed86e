"""The proof that grading is right: `python -m grader.selfcheck` grades wrong and right solutions that we know."""
