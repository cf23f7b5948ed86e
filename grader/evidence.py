"""What a check has to go by: its trials with the submission's answers, to be laid beside any set of twins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from grader import twins
from grader.case import Answer, Array, Case, Status
from grader.checks import Trial
from grader.compare import gradient_scale
from grader.errors import IncomparableError
from grader.masks import fitted
from grader.rubric import Tolerance
from grader.twins import RIGHT, Parts


@dataclass(frozen=True)
class Exhibit:
    """One trial with the submission's answer.

    Args:
        trial: what was asked. For an answer in float32, its case has every array rounded to float32.
        answer: what came back.
        followed: the calls in which the twin can follow it (its dropout masks fit, and none is to be refused).
        tolerance: for this answer's precision.
        single: whether the answer is in float32.
    """

    trial: Trial
    answer: Answer
    followed: tuple[int, ...]
    tolerance: Tolerance
    single: bool = False

    def expected(self, parts: Parts = RIGHT) -> Mapping[str, Array]:
        """The arrays that a twin made of `parts` gives, as far as this trial compares them."""
        if not self.trial.compare:
            return {}
        arrays = twins.run(self.trial.case, self.answer, parts, calls=self.followed)
        return {k: v for k, v in arrays.items() if any(fnmatchcase(k, pattern) for pattern in self.trial.compare)}


def gather(
    trials: Sequence[Trial],
    answers: Sequence[Answer],
    tolerance: Tolerance,
    single: Tolerance,
) -> tuple[Exhibit, ...]:
    """The trials of a check with their answers, each with the tolerance of its precision."""
    exhibits = []
    for trial, given in zip(trials, answers, strict=True):
        answer, unfit = fitted(trial.case, given)
        calls = (n for n in range(len(trial.case.calls)) if n not in {*unfit, *trial.refused})
        followed = tuple(n for n in calls if _is_compared(trial, n))
        in_single = any(array.dtype == np.float32 for name, array in answer.arrays.items() if _tells(name))
        asked = replace(trial, case=rounded(trial.case)) if in_single else trial
        exhibits.append(Exhibit(asked, answer, followed, single if in_single else tolerance, in_single))
    return tuple(exhibits)


def _is_compared(trial: Trial, call: int) -> bool:
    return any(fnmatchcase(f"{call}.{what}", pattern) for pattern in trial.compare for what in ("out", "grad."))


def _tells(name: str) -> bool:
    return name.endswith(".out") or name.startswith("param.")


def rounded(case: Case) -> Case:
    """The case with every array rounded to float32, as a submission that computes in float32 rounds it on entry."""
    calls = tuple(
        replace(
            call,
            inputs={name: replace(given, value=_round(given.value)) for name, given in call.inputs.items()},
            cotangent=None if call.cotangent is None else _round(call.cotangent),
        )
        for call in case.calls
    )
    parameters = case.parameters and {name: _round(value) for name, value in case.parameters.items()}
    return replace(case, calls=calls, parameters=parameters)


def _round(value: Any) -> Any:
    return value.astype(np.float32).astype(np.float64) if isinstance(value, np.ndarray) else value


def equals(exhibit: Exhibit, parts: Parts) -> bool:
    """Whether the submission computed exactly what a twin made of `parts` computes, refusals and infinities included.

    Where the right twin has a gradient and this one has none or zeros, the submission's must be missing or zero.
    """
    if exhibit.answer.status is not Status.OK:
        return False
    theirs = exhibit.expected(parts)
    for number in exhibit.followed:
        answered = exhibit.answer.calls[number].status is Status.OK
        if answered != any(name.startswith(f"{number}.") for name in theirs):
            return False
    for name, wanted in theirs.items():
        actual = exhibit.answer.arrays.get(name)
        if actual is None and ".grad." in name and not np.any(wanted):
            continue  # no gradient and a gradient of zeros are the same to whoever looks at the numbers
        if actual is None or not _same(actual, wanted, _bound(name, wanted, theirs, exhibit.tolerance)):
            return False
    missing = set(_right_names(exhibit)) - theirs.keys()
    return not any(np.any(exhibit.answer.arrays[name]) for name in missing if name in exhibit.answer.arrays)


def _right_names(exhibit: Exhibit) -> Iterable[str]:
    try:
        return exhibit.expected().keys()
    except IncomparableError:  # parameters of a shape that the right twin cannot hold
        return ()


def _bound(name: str, wanted: Array, all_wanted: Mapping[str, Array], tolerance: Tolerance) -> float:
    if ".grad." in name:
        finite_gradients = {k: np.where(np.isfinite(v), v, 0.0) for k, v in all_wanted.items() if ".grad." in k}
        return tolerance.gradients * (gradient_scale(name, finite_gradients) or 1.0)
    finite = np.abs(wanted[np.isfinite(wanted)])
    return tolerance.outputs * (float(finite.max(initial=0.0)) or 1.0)


def _same(actual: Array, wanted: Array, bound: float) -> bool:
    if actual.shape != wanted.shape or actual.dtype.kind not in "fiu":
        return False
    finite = np.isfinite(wanted)
    if not np.array_equal(actual[~finite], wanted[~finite], equal_nan=True):
        return False
    return bool((np.abs(actual[finite] - wanted[finite]) <= bound).all())
