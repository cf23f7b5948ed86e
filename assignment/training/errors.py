"""What can go wrong around a training run and is told in one line: what arrived, what was expected, the fix."""

from __future__ import annotations


class TrainingError(Exception):
    """The run cannot start or go on; the text is one line for the person who started it."""
