"""Wrong twins with a name. Importing this package fills the register."""

from grader.misconceptions import attention, layers, loss, model
from grader.misconceptions.registry import Misconception, find, known, parts_with

__all__ = ["Misconception", "attention", "find", "known", "layers", "loss", "model", "parts_with"]
