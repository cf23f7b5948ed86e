"""The assignment text, labs, exercises and decisions."""
