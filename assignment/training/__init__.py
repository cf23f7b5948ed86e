"""Models that learn, built of the modules that you write: a classifier of sentences and a translator. Given.

Both need NumPy only. Their sentences come from `sentences` and `grammar`. Each is loaded when it is asked for: the
classifier works while your `translation.py` does not even load.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .classifier import SentenceClassifier
    from .translator import Translator

__all__ = ["SentenceClassifier", "Translator"]

_FILES = {"SentenceClassifier": "classifier", "Translator": "translator"}


def __getattr__(name: str) -> Any:
    if name not in _FILES:
        raise AttributeError(f"{__name__} has no {name}; expected one of {', '.join(_FILES)}, or a file's name")
    return getattr(importlib.import_module(f"{__name__}.{_FILES[name]}"), name)
