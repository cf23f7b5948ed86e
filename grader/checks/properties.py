"""Rules that an answer must obey whatever the numbers are: causality, distributions, factors of dropout."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from grader.case import Answer, Case, Status
from grader.checks.trial import Broken, Property

Sample: TypeAlias = npt.NDArray[np.float64]

FALSE_ALARM = 1e-10
"""How often, at most, a right random implementation may break a statistical rule."""
ROUNDING = 1e-6
"""Relative error of a few float32 operations: these rules hold for submissions of either precision."""
_AT_ANOTHER_CALL = "at another call"


def unchanged_before(position: int, first: int = 0, second: int = 1) -> Property:
    """Two calls that differ in the token at `position` give bit-identical outputs (B, S, …) before it."""

    def holds(_: Case, answer: Answer) -> Broken | None:
        a, b = answer.arrays[f"{first}.out"], answer.arrays[f"{second}.out"]
        if not _same_rows(a, b):
            return Broken(f"{second}.out", f"the output has another shape {_AT_ANOTHER_CALL}")
        moved = np.argwhere(a[:, :position] != b[:, :position])
        if not len(moved):
            return None
        at = tuple(int(i) for i in moved[0])
        text = f"changing the token at position {position} changes the output at position {at[1]}, which is before it"
        return Broken(f"{second}.out", text, at)

    return holds


def changed_from(position: int, first: int = 0, second: int = 1) -> Property:
    """… and different outputs at that position and at every later one."""

    def holds(_: Case, answer: Answer) -> Broken | None:
        a, b = answer.arrays[f"{first}.out"], answer.arrays[f"{second}.out"]
        if not _same_rows(a, b):
            return Broken(f"{second}.out", f"the output has another shape {_AT_ANOTHER_CALL}")
        same = np.argwhere((a[:, position:] == b[:, position:]).all(axis=tuple(range(2, a.ndim))))
        if not len(same):
            return None
        at = (int(same[0][0]), int(same[0][1]) + position)
        text = (
            f"changing the token at position {position} does not change the output at position {at[1]}, which sees it"
        )
        return Broken(f"{second}.out", text, at)

    return holds


def same_output(
    first: int, second: int, where: str, keep: npt.NDArray[np.bool_] | None = None, misconception: str = ""
) -> Property:
    """Two calls return bit-identical outputs, in the rows `keep` (B, S) if given; `where` completes the sentence."""

    def holds(_: Case, answer: Answer) -> Broken | None:
        a, b = answer.arrays[f"{first}.out"], answer.arrays[f"{second}.out"]
        if a.shape != b.shape or (keep is not None and a.shape[: keep.ndim] != keep.shape):
            return Broken(f"{second}.out", f"the output has another shape {where}")
        moved = a != b if keep is None else (a != b) & keep.reshape(keep.shape + (1,) * (a.ndim - keep.ndim))
        if not moved.any():
            return None
        at = tuple(int(i) for i in np.argwhere(moved)[0])
        return Broken(f"{second}.out", f"the output changes {where}", at, misconception)

    return holds


def other_output(first: int, second: int, where: str, misconception: str = "") -> Property:
    """Two calls return different outputs."""

    def holds(_: Case, answer: Answer) -> Broken | None:
        if not np.array_equal(answer.arrays[f"{first}.out"], answer.arrays[f"{second}.out"]):
            return None
        return Broken(f"{second}.out", f"the output stays exactly the same {where}", misconception=misconception)

    return holds


def input_returned(call: int, name: str, where: str, misconception: str = "") -> Property:
    """The output equals the input of that name, bit for bit."""

    def holds(case: Case, answer: Answer) -> Broken | None:
        given, got = np.asarray(case.calls[call].inputs[name].value), answer.arrays[f"{call}.out"]
        if given.shape == got.shape and (given == got).all():
            return None
        return Broken(f"{call}.out", f"the output is not the input {where}", misconception=misconception)

    return holds


def input_kept(call: int, name: str) -> Property:
    """The call leaves the input of that name as it was."""

    def holds(_: Case, answer: Answer) -> Broken | None:
        if f"{call}.changed.{name}" not in answer.arrays:
            return None
        return Broken(f"{call}.out", f"the call writes into its input {name}")

    return holds


def uniform(parameter: str, bound: float, mistakes: Mapping[str, float]) -> Property:
    """The parameter's initial values are uniform in ±bound (DKW bound on the empirical distribution).

    `mistakes` maps a misconception to the other bound that it gives: 0 for none at all, infinity for any.
    """

    def holds(_: Case, answer: Answer) -> Broken | None:
        values = answer.arrays[f"param.{parameter}"].astype(np.float64).ravel()
        largest = float(np.abs(values).max())
        seen = (
            f"{values.size} values between {values.min():.3g} and {values.max():.3g}, uniform in ±{bound:.3g} expected"
        )
        if not _reaches(largest, bound):
            named = (name for name, other in mistakes.items() if math.isinf(other) or _reaches(largest, other))
            return Broken(f"param.{parameter}", seen, misconception=next(named, ""))
        if not _farthest(values, lambda v: np.clip((v / bound + 1) / 2, 0, 1)) <= _dkw(values.size):
            return Broken(f"param.{parameter}", seen + "; the range is right, the distribution is not uniform")
        return None

    return holds


def standard_normal(parameter: str) -> Property:
    """The parameter's initial values are N(0, 1)."""

    def holds(_: Case, answer: Answer) -> Broken | None:
        values = answer.arrays[f"param.{parameter}"].astype(np.float64).ravel()
        if _farthest(values, np.vectorize(lambda v: (1 + math.erf(v / math.sqrt(2))) / 2)) <= _dkw(values.size):
            return None
        seen = f"mean {values.mean():.3g}, standard deviation {values.std():.3g}, largest {np.abs(values).max():.3g}"
        is_uniform = bool(_farthest((values - values.min()) / (np.ptp(values) or 1.0), _identity) <= _dkw(values.size))
        named = "embedding.uniform" if is_uniform else "embedding.small" if values.std() < 0.9 else ""  # noqa: PLR2004
        return Broken(f"param.{parameter}", f"{seen}: not a sample of N(0, 1)", misconception=named)

    return holds


def constant(parameter: str, value: float) -> Property:
    """Every initial value is `value`."""

    def holds(_: Case, answer: Answer) -> Broken | None:
        got = answer.arrays[f"param.{parameter}"].astype(np.float64)
        if (got == value).all():
            return None
        return Broken(
            f"param.{parameter}", f"starts at {got.min():.3g} … {got.max():.3g}, expected {value:g} everywhere"
        )

    return holds


def succeeds(call: int, what: str) -> Property:
    """The call is accepted."""

    def holds(_: Case, answer: Answer) -> Broken | None:
        if answer.calls[call].status is Status.OK:
            return None
        return Broken(f"{call}.out", f"{what} is refused: {answer.calls[call].trouble.text}")

    return holds


def _same_rows(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    """Whether both are outputs (B, S, …) of one shape: a property may be asked of an answer before its values are."""
    return a.shape == b.shape and a.ndim >= 2  # noqa: PLR2004 - (B, S)


def _reaches(largest: float, bound: float) -> bool:
    """Whether a sample of a thousand or more in ±bound has this largest entry; never for a NaN."""
    return 0.98 * bound <= largest <= bound * (1 + ROUNDING)


def _identity(values: Sample) -> Sample:
    return values


def _farthest(values: Sample, distribution: Callable[[Sample], Sample]) -> float:
    """Kolmogorov's distance between the sample and a distribution function."""
    ordered = np.sort(values)
    expected = distribution(ordered)
    n = len(ordered)
    above, below = np.arange(1, n + 1) / n - expected, expected - np.arange(n) / n
    return float(max(above.max(), below.max()))


def _dkw(n: int) -> float:
    """The distance that a right sample of size n exceeds with probability FALSE_ALARM (Massart 1990, corollary 1)."""
    return math.sqrt(math.log(2 / FALSE_ALARM) / (2 * n))
