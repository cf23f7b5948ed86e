"""The right gradient of a wrong forward pass is recognised; a missing, misshapen or overflowing one is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from grader.case import Answer, Call, CallOutcome, Case, Input, Limits, Status
from grader.checks import Draw, Trial
from grader.checks.trial import GRADIENTS
from grader.evidence import Exhibit
from grader.own_gradient import follows_own_forward
from grader.rubric import Tolerance

CHANCE = np.random.default_rng(3)
X, COTANGENT = CHANCE.standard_normal((4, 3)), CHANCE.standard_normal((4, 2))
W, B = CHANCE.standard_normal((3, 2)), CHANCE.standard_normal(2)
CASE = Case(
    "modules_basic.Linear",
    (Call({"x": Input(X)}, cotangent=COTANGENT),),
    {"in_size": 3, "out_size": 2},
    {"weights": W, "bias": B},
)
GRADIENT = {
    "0.grad.x": 1.5 * COTANGENT @ W.T,
    "0.grad.param.weights": 1.5 * X.T @ COTANGENT,
    "0.grad.param.bias": COTANGENT.sum(axis=0),
}
"""Of 1.5 x W + b, by hand."""


@pytest.fixture(autouse=True)
def _decided_by_the_same_case(monkeypatch):
    """No check asks for a Linear's gradients alone; this one does."""
    decisive = replace(CASE, calls=(Call({"x": Input(X)}),), parameters={"weights": W, "bias": B / 4})
    monkeypatch.setattr("grader.resemblance._CASES", {CASE.target: lambda _: decisive})


def forward(case: Case, *, bias: bool = True) -> np.ndarray:
    x, parameters = case.calls[0].inputs["x"].value, case.parameters
    return 1.5 * x @ parameters["weights"] + (parameters["bias"] if bias else 0.0)


class Wrong:
    """A submission whose forward pass is 1.5 x W + b, or 1.5 x W."""

    def __init__(self, *, bias: bool = True, kind: type = float) -> None:
        self.bias, self.kind = bias, kind

    def run(self, cases: list[Case], _: Limits) -> tuple[Answer, ...]:
        return tuple(answer({"0.out": forward(case, bias=self.bias).astype(self.kind)}) for case in cases)


def answer(arrays: dict[str, np.ndarray]) -> Answer:
    return Answer(Status.OK, (CallOutcome(Status.OK),), arrays)


def follows(student: Wrong, gradient: dict[str, np.ndarray]) -> bool:
    arrays = {"0.out": forward(CASE, bias=student.bias), **gradient}
    exhibit = Exhibit(Trial(CASE, GRADIENTS), answer(arrays), (0,), Tolerance(1e-9, 1e-9, 1e-6))
    with np.errstate(all="ignore"):  # as in the pipeline
        return follows_own_forward([exhibit], Draw(np.random.default_rng(0)), student, Limits())


def test_the_right_gradient_of_a_wrong_forward_pass_follows_it():
    assert follows(Wrong(), GRADIENT)


@pytest.mark.parametrize("name", GRADIENT)
@pytest.mark.parametrize(
    "change",
    [
        lambda g: g + 0.01,
        lambda g: g[None],
        lambda g: g.reshape(-1)[:1],
        lambda g: np.resize(g, (5, 7)),
        lambda g: np.full(g.shape, np.nan),
        lambda g: np.full(g.shape, 0.3e308),  # finite, and its sum is not
        lambda g: np.copysign(1.7e308, g),
        lambda g: g != 0,
    ],
)
def test_any_other_gradient_does_not(name, change):
    assert not follows(Wrong(), {**GRADIENT, name: change(GRADIENT[name])})


@pytest.mark.parametrize("name", GRADIENT)
def test_nor_does_one_that_is_missing(name):
    assert not follows(Wrong(), {key: value for key, value in GRADIENT.items() if key != name})


def test_what_the_output_does_not_depend_on_needs_no_gradient():
    assert follows(Wrong(bias=False), {key: value for key, value in GRADIENT.items() if not key.endswith("bias")})


@pytest.mark.parametrize("kind", [bool, np.int64])
def test_outputs_that_are_no_floats_are_followed_by_nothing(kind):
    assert not follows(Wrong(kind=kind), GRADIENT)


def test_what_does_not_resemble_what_was_asked_for_earns_nothing_for_its_right_gradient(monkeypatch):
    monkeypatch.setattr("grader.resemblance.AS_LONG", 1.2)  # half as long again is too long now
    assert not follows(Wrong(), GRADIENT)


def test_nor_does_what_is_not_asked_for_gradients_only(monkeypatch):
    monkeypatch.setattr("grader.resemblance._CASES", {})
    assert not follows(Wrong(), GRADIENT)
