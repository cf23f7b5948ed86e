"""The checks: what is asked of a submission, one function a check. Importing this package fills the register."""

from grader.checks import learning, problem1, problem2, problem3, problem4
from grader.checks.draw import Draw
from grader.checks.registry import identifiers, title, trains, trials
from grader.checks.trial import Broken, Property, Trial

__all__ = [
    "Broken",
    "Draw",
    "Property",
    "Trial",
    "identifiers",
    "learning",
    "problem1",
    "problem2",
    "problem3",
    "problem4",
    "title",
    "trains",
    "trials",
]
