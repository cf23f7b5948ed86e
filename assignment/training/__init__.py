"""Models that learn, built of the modules that you write: a classifier of sentences and a translator. Given.

Both need NumPy only. Their sentences come from `sentences` and `grammar`.
"""

from .classifier import SentenceClassifier
from .translator import Translator

__all__ = ["SentenceClassifier", "Translator"]
