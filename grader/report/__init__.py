"""What the grader writes: reports for staff, feedback for students, grades for the class."""
