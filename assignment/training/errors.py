"""What can go wrong around a training run and is told in one line: what arrived, what was expected, the fix."""

from __future__ import annotations

import traceback
from pathlib import Path


class TrainingError(Exception):
    """The run cannot start or go on; the text is one line for the person who started it."""


def where_unwritten(error: NotImplementedError) -> str:
    """Say of a stub that was met where it is to be written."""
    file = Path(traceback.extract_tb(error.__traceback__)[-1].filename)
    return f"{error}: write it in {file.parent.name}/{file.name}, then run this again"
