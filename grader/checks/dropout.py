"""The rule of dropout, read off what went in and what came out."""

from __future__ import annotations

import math

import numpy as np

from grader.case import Answer, Case
from grader.checks.properties import FALSE_ALARM, ROUNDING, Sample
from grader.checks.trial import Broken, Property


def dropped(call: int, name: str, p: float) -> Property:
    """The output is the input times 0 (with probability p) or 1/(1-p), and so is the gradient times the cotangent."""

    def holds(case: Case, answer: Answer) -> Broken | None:
        given, got = np.asarray(case.calls[call].inputs[name].value), answer.arrays[f"{call}.out"]
        if got.shape != given.shape:
            return Broken(f"{call}.out", f"the output has shape {got.shape}, the input {given.shape}")
        factors = got / given
        wrong = _share(factors, p) or _factor(factors, p) or _together(factors, p)
        if wrong:
            return Broken(f"{call}.out", f"with p = {p:g} {wrong[0]}", misconception=wrong[1])
        cotangent, gradient = case.calls[call].cotangent, answer.arrays.get(f"{call}.grad.{name}")
        if cotangent is not None and (gradient is None or not _close(gradient, cotangent * factors)):
            text = "the gradient does not pass through the same mask as the values"
            return Broken(f"{call}.grad.{name}", text, misconception="dropout.other_gradient")
        return None

    return holds


def _share(factors: Sample, p: float) -> tuple[str, str] | None:
    """What is wrong with the share that is kept, and the name of the mistake."""
    share = float((factors != 0).mean())
    margin = math.sqrt(math.log(2 / FALSE_ALARM) / (2 * factors.size))  # Hoeffding's inequality
    if abs(share - (1 - p)) <= margin:
        return None
    text = f"a share of {share:.3f} is kept, expected about {1 - p:g}"
    return text, "dropout.inverted" if abs(share - p) <= margin else ""


def _factor(factors: Sample, p: float) -> tuple[str, str] | None:
    """What is wrong with the factor of what is kept, and the name of the mistake."""
    kept = factors[factors != 0]
    wrong = kept[~(np.abs(kept * (1 - p) - 1) <= ROUNDING)]  # a NaN is wrong
    if not len(wrong):
        return None
    factor = float(wrong[0])
    text = f"a kept value is multiplied by {factor:.4g}, expected 1/(1-p) = {1 / (1 - p):.4g}"
    if abs(factor - 1) <= ROUNDING:
        return text, "dropout.not_rescaled"
    return text, "dropout.scaled_by_keep" if abs(factor - (1 - p)) <= ROUNDING else ""


def _together(factors: Sample, p: float) -> tuple[str, str] | None:
    """Whether neighbours along an axis share their fate more often than by chance: each is to be drawn by itself."""
    kept = factors != 0
    for axis in range(kept.ndim):
        pairs = np.moveaxis(kept, axis, 0)[: kept.shape[axis] // 2 * 2]  # (2n, ...): each entry in one pair only
        alike = pairs[::2] == pairs[1::2]
        margin = math.sqrt(math.log(2 / FALSE_ALARM) / (2 * alike.size))  # Hoeffding's inequality
        if abs(float(alike.mean()) - (p * p + (1 - p) * (1 - p))) > margin:
            return f"whole parts along axis {axis} are kept or dropped together", ""
    return None


def _close(actual: Sample, expected: Sample) -> bool:
    bound = ROUNDING * (1 + np.abs(expected))
    return actual.shape == expected.shape and bool((np.abs(actual - expected) <= bound).all())
