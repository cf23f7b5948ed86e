"""A right backward pass of a wrong forward pass is worth its points: gradients against central differences.

The gradient that a submission gives along a random direction is compared with (f(p + e v) - f(p - e v)) / 2e of its own
forward pass f, for inputs and parameters p together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from grader import resemblance
from grader.case import Answer, Array, Call, Case, Fault, Input, Limits, Role
from grader.checks import Draw, shapes
from grader.checks.trial import GRADIENTS
from grader.evidence import Exhibit
from grader.student import Student

STEP = 1e-5
AGREES = 1e-6
"""Of the sum of |gradient · direction|: the difference quotient is right to about STEP squared."""
DIRECTIONS = 2
TELLING = 1e-3
"""Of the cotangent's largest entry: a smaller gradient may stand for no dependence at all."""


def follows_own_forward(exhibits: Sequence[Exhibit], draw: Draw, student: Student, limits: Limits) -> bool:
    """Whether every gradient of a check is that of the student's own forward pass.

    Only for checks that compare nothing but gradients, and only of what tells and resembles what was asked for (see
    `resemblance`): the framework finds the right gradient of anything.

    Args:
        exhibits: the check's trials and answers.
        draw: where the directions come from.
        student: asked for the forward passes.
        limits: of that request.
    """
    target = exhibits[0].trial.case.target
    decisive, confirming = resemblance.case_of(target), resemblance.case_of(target, draw)
    if decisive is None or confirming is None or any(exhibit.trial.compare != GRADIENTS for exhibit in exhibits):
        return False
    if any(exhibit.single for exhibit in exhibits) or not tells(exhibits):
        return False
    probes = [(e, _direction(e, draw)) for e in exhibits for _ in range(DIRECTIONS)]
    cases = [moved(e, v, sign) for e, v in probes for sign in (STEP, -STEP)]
    answers = student.run([decisive, confirming, *cases], limits)
    if isinstance(answers, Fault) or not resemblance.resembles(decisive, answers[0]):
        return False
    if not resemblance.resembles(confirming, answers[1], resemblance.CONFIRMED):
        return False
    pairs = zip(answers[2::2], answers[3::2], strict=True)
    return all(_agrees(e, v, *pair) for (e, v), pair in zip(probes, pairs, strict=True))


def tells(exhibits: Sequence[Exhibit]) -> bool:
    """Whether what was handed in really computes with its inputs and weights, right or wrong.

    Its output has the right shape and is finite, and the gradients of its inputs and of every weight are not tiny. What
    returns zeros, a constant or its input does not tell: everything that is built on it would look right.
    """
    asked = [e for e in exhibits if e.trial.case.calls[0].cotangent is not None]
    return bool(asked) and all(_tells(exhibit) for exhibit in asked)


def _tells(exhibit: Exhibit) -> bool:
    case, answer = exhibit.trial.case, exhibit.answer
    cotangent, out = case.calls[0].cotangent, answer.arrays.get("0.out")
    if out is None or cotangent is None or out.shape != cotangent.shape or not np.isfinite(out).all():
        return False
    inputs = [name for name, _ in _varied(case)]
    weights = [f"param.{name}" for name in shapes.of(case.target, case.arguments) if name.endswith("weights")]
    least = TELLING * float(np.abs(cotangent).max())
    gradients = [answer.arrays.get(f"0.grad.{name}") for name in (*inputs, *weights)]
    return all(g is not None and np.isfinite(g).all() and np.abs(g).max(initial=0.0) >= least for g in gradients)


def _varied(case: Case) -> list[tuple[str, Input]]:
    """The first call's inputs that have a gradient."""
    inputs = case.calls[0].inputs.items()
    return [(name, given) for name, given in inputs if given.role in {Role.VARIABLE, Role.TABLE_MODEL}]


def _points(exhibit: Exhibit) -> Iterator[tuple[str, Array]]:
    """What the first call's output depends on: gradient name -> value."""
    case, answer = exhibit.trial.case, exhibit.answer
    for name, given in _varied(case):
        yield f"0.grad.{name}", np.asarray(given.value, dtype=np.float64)
    for name in shapes.of(case.target, case.arguments):
        is_own = case.parameters is None or name in answer.reshaped
        value = answer.arrays.get(f"param.{name}") if is_own else (case.parameters or {}).get(name)
        if value is not None and name not in answer.absent:
            yield f"0.grad.param.{name}", np.asarray(value, dtype=np.float64)


def _direction(exhibit: Exhibit, draw: Draw) -> dict[str, Array]:
    return {name: draw.normal(*value.shape) for name, value in _points(exhibit)}


def moved(exhibit: Exhibit, direction: Mapping[str, Array], step: float) -> Case:
    """The first call of a case, at a point `step` along `direction`, without a backward pass."""
    at = {name: value + step * direction[name] for name, value in _points(exhibit)}
    case = exhibit.trial.case
    inputs = {
        name: Input(at.get(f"0.grad.{name}", given.value), given.role) for name, given in case.calls[0].inputs.items()
    }
    parameters = {k.removeprefix("0.grad.param."): v for k, v in at.items() if k.startswith("0.grad.param.")}
    call = Call(inputs, case.calls[0].mode)
    return replace(case, calls=(call,), parameters=parameters or case.parameters)


def _agrees(exhibit: Exhibit, direction: Mapping[str, Array], ahead: Answer, behind: Answer) -> bool:
    first, second = ahead.arrays.get("0.out"), behind.arrays.get("0.out")
    cotangent = exhibit.trial.case.calls[0].cotangent
    if first is None or second is None or cotangent is None or first.shape != second.shape:
        return False
    weights = np.resize(cotangent, first.shape)
    change = first.astype(np.float64) - second.astype(np.float64)
    difference = float((weights * change).sum()) / (2 * STEP)
    gradients = [(exhibit.answer.arrays.get(name), v) for name, v in direction.items()]
    if any(g is not None and g.shape != v.shape for g, v in gradients):
        return False
    terms = [g * v for g, v in gradients if g is not None]  # none is as good as zeros: the output must not depend on it
    slope, size = sum(float(t.sum()) for t in terms), sum(float(np.abs(t).sum()) for t in terms)
    return 0 < size < math.inf and abs(difference - slope) <= AGREES * size
