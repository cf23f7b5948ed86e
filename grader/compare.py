"""Two arrays meet: shape, dtype kind, finite, values — in this order, and never broadcast."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from grader.case import Array
from grader.verdict import Mismatch

_NUMBERS = "fiu"


def compare(what: str, actual: Array, expected: Array, tolerance: float, scale: float | None = None) -> Mismatch | None:
    """The first way in which `actual` is not `expected`, or None.

    Args:
        what: the array's name, for the report.
        actual: the submission's array.
        expected: the twin's, finite.
        tolerance: largest error allowed, relative to `scale`.
        scale: the size that errors are relative to; by default the largest entry of `expected` (1 if all are zero).
    """
    if actual.shape != expected.shape:
        return Mismatch(what=what, kind="shape")
    if actual.dtype.kind not in _NUMBERS:
        return Mismatch(what=what, kind="dtype")
    if actual.size == 0:
        return None
    values = actual.astype(np.float64)
    finite = np.isfinite(values)
    if not finite.all():
        return Mismatch(what=what, kind="finite", at=_first(~finite))
    size = scale if scale is not None else largest(expected)
    bound = tolerance * (size if size > 0 else 1.0)
    error = np.abs(values - expected)
    within = error <= bound  # not `~(error > bound)`: a NaN must be an error
    if within.all():
        return None
    return Mismatch(
        what=what,
        kind="value",
        max_abs=two_digits(float(error.max())),
        max_rel=two_digits(float(error.max()) / (size if size > 0 else 1.0)),
        at=_first(~within),
        tolerance=tolerance,
    )


def largest(array: Array) -> float:
    """The largest absolute entry; 0 for an empty array."""
    return float(np.abs(array).max()) if array.size else 0.0


MATHEMATICALLY_ZERO = 1e-6
"""A gradient this much smaller than its module's largest is rounding noise round zero (the key bias)."""


def gradient_scale(what: str, expected: Mapping[str, Array]) -> float:
    """What an error of the gradient `what` is relative to: its largest entry, or the module's where it is zero."""
    call = what.split(".", 1)[0]
    own = largest(expected[what])
    module = max(largest(array) for name, array in expected.items() if name.startswith(f"{call}.grad."))
    return module if own < MATHEMATICALLY_ZERO * module else own


def two_digits(value: float) -> float:
    """Rounded to two significant digits: enough to read, few enough to be the same on every run."""
    if value == 0 or not math.isfinite(value):
        return 0.0 if value == 0 else math.inf
    return float(f"{value:.1e}")


def _first(flags: Array) -> list[int]:
    return [int(i) for i in np.argwhere(flags)[0]]
