"""The reference: the four files, filled. Staff only; `grader.stubs` makes the students' files from them."""
