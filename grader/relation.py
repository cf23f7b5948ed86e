"""How a wrong array relates to the right one, where no misconception explains it: a sign, a factor, a transpose."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from grader.case import Array
from grader.compare import two_digits

ROUNDING = 1e-6
"""Relative to the largest entry: what two ways to compute the same numbers may differ by."""
MANY = 3
"""So many different numbers must agree before a common factor or difference means anything."""


@dataclass(frozen=True)
class Relation:
    """What turns the right array into the submission's.

    Args:
        kind: sign (-1), batch_times and batch_divided (the size of the batch), twice, factor (any other), offset
            (the same number added everywhere), transposed.
        factor: of kinds factor and offset, two digits.
    """

    kind: str
    factor: float | None = None


def relate(actual: Array, expected: Array, batch: int = 0, rounding: float = ROUNDING) -> Relation | None:
    """The first relation that holds for every entry, or None.

    Args:
        actual: the submission's array; wrong.
        expected: the twin's.
        batch: the size of the batch, 0 where there is none. A batch of 1 or 2 explains nothing that a factor does not.
        rounding: relative to the largest entry.
    """
    if actual.dtype.kind not in "fiu" or not (np.isfinite(actual).all() and np.isfinite(expected).all()):
        return None
    got, wanted = actual.astype(np.float64), expected.astype(np.float64)
    if got.size and got.shape == wanted.shape and (found := _scaled(got, wanted, batch, rounding)):
        return found
    return Relation("transposed") if _transposed(got, wanted, rounding) else None


def _scaled(got: Array, wanted: Array, batch: int, rounding: float) -> Relation | None:
    named = {"sign": -1.0, "twice": 2.0}
    if batch > 2:  # noqa: PLR2004 - one of 2 could not be told from "twice"
        named |= {"batch_times": float(batch), "batch_divided": 1.0 / batch}
    if np.any(wanted):
        for kind, factor in named.items():
            if _same(got, factor * wanted, rounding):
                return Relation(kind)
    if len(np.unique(np.abs(wanted))) < MANY:
        return None
    factor = float((got * wanted).sum() / (wanted * wanted).sum())
    if factor and math.isfinite(factor) and _same(got, factor * wanted, rounding):
        return Relation("factor", two_digits(factor))
    offset = float((got - wanted).mean())
    is_moved = math.isfinite(offset) and _same(got, wanted + offset, rounding)
    return Relation("offset", two_digits(offset)) if is_moved else None


def _transposed(got: Array, wanted: Array, rounding: float) -> bool:
    if got.ndim != wanted.ndim or not 2 <= got.ndim <= 4 or wanted.size < MANY:  # noqa: PLR2004 - 24 orders of 4 axes
        return False
    return any(
        _same(got, np.transpose(wanted, order), rounding)
        for order in permutations(range(wanted.ndim))
        if order != tuple(range(wanted.ndim))
    )


def _same(got: Array, other: Array, rounding: float) -> bool:
    if got.shape != other.shape:
        return False
    return bool((np.abs(got - other) <= rounding * np.abs(other).max(initial=0.0)).all())
