"""What a student fills, on top of the given framework."""
