"""A trial: one case, what of its answer is compared with the twin's, and what else must hold of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from grader.case import Answer, Case

OUTPUTS = ("*.out",)
GRADIENTS = ("*.grad.*",)
EVERYTHING = ("*.out", "*.grad.*")
NOTHING: tuple[str, ...] = ()


@dataclass(frozen=True)
class Broken:
    """A property that does not hold.

    Args:
        what: the array that shows it, as named in `Answer.arrays`.
        text: what was seen, in a sentence, with the student's own numbers only.
        at: the first index that shows it.
        misconception: the mistake that looks like this, where there is one.
        share: of the points that is earned all the same.
        excused: ids of checks; where one of them has failed, and why is known, this has the same cause.
    """

    what: str
    text: str
    at: tuple[int, ...] = ()
    misconception: str = ""
    share: Fraction = Fraction(0)
    excused: tuple[str, ...] = ()


Property = Callable[[Case, Answer], Broken | None]
"""Looks at the answer alone. Properties are judged only where the values of the same trial agree with the twin's:
zeros, or `return x`, satisfy most of them."""


@dataclass(frozen=True)
class Trial:
    """One case and how its answer is judged.

    Args:
        case: what the worker runs.
        compare: glob patterns over `Answer.arrays`; what matches is compared with the twin's array of that name.
        properties: judged in order after the comparison.
        refused: numbers of the calls that must raise (anything but NotImplementedError).
        unrefused: the misconception of one that does not.
    """

    case: Case
    compare: tuple[str, ...] = EVERYTHING
    properties: tuple[Property, ...] = ()
    refused: tuple[int, ...] = ()
    unrefused: str = ""
