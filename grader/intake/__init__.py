"""Intake: whatever students deliver becomes submissions, as bytes. Nothing here imports, parses or runs any of it."""

from grader.intake.collect import collect

__all__ = ["collect"]
