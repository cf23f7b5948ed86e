"""Follow-through without a name: twins whose lower module is the submission's own, run where it always runs.

A layer over a feed-forward network that is wrong in a way nobody has named is judged against a twin of the layer that
asks the sandbox for what the student's own network gives, and for its gradients. No reference enters the sandbox.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from grader.case import Answer, Array, Call, Case, Fault, Input, Limits, Mode, Role, Status
from grader.diagnose import USED_BY, Causes, explains
from grader.evidence import Exhibit
from grader.judge import broken_property, unanswered
from grader.misconceptions import Misconception, parts_with
from grader.student import Student
from grader.twins import RIGHT, Parts
from grader.twins.parts import Part

INPUTS: dict[str, tuple[str, dict[str, Role]]] = {
    "logsumexp": ("nn.logsumexp", {"input": Role.VARIABLE, "dim": Role.PLAIN}),
    "softmax_loss": ("nn.softmax_loss", {"logits": Role.VARIABLE, "target": Role.CONSTANT}),
    "linear": ("modules_basic.Linear", {"x": Role.VARIABLE}),
    "embedding": ("modules_basic.Embedding", {"ids": Role.CONSTANT}),
    "layer_norm": ("modules_basic.LayerNorm1d", {"x": Role.VARIABLE}),
    "attention": ("transformer.MultiHeadAttention", {"x": Role.VARIABLE, "pad_mask": Role.CONSTANT}),
    "feed_forward": ("transformer.FeedForward", {"x": Role.VARIABLE}),
    "layer": ("transformer.TransformerLayer", {"x": Role.VARIABLE, "pad_mask": Role.CONSTANT}),
}
"""Part -> its target, and what its call takes."""
ROWS_ONLY = ("linear", "layer_norm")
"""Parts that a submission may have written for two dims only."""


class BorrowError(RuntimeError):
    """The student's own module gave no answer, so nothing can be built on it."""


@dataclass(frozen=True)
class Unnamed:
    """A fault that no misconception explains, in one part of a submission; the cause of what fails above it."""

    part: str
    blames: str

    @property
    def name(self) -> str:
        """What a report calls it."""
        return f"what is wrong in {INPUTS[self.part][0].partition('.')[2]}"


def explain_by_own_parts(
    exhibits: Sequence[Exhibit],
    broken: Mapping[str, str],
    earlier: Sequence[Misconception],
    student: Student,
    limits: Limits,
) -> Causes:
    """The faults below a failed check, if what the check looks at is right on top of the student's own lower modules.

    Args:
        exhibits: the check's trials and answers.
        broken: part -> the check that it failed, for every part that is wrong without a name, yet computes something.
        earlier: the named mistakes of other checks.
        student: asked for the lower modules' values and gradients.
        limits: of each such request.
    """
    below = [part for part in USED_BY.get(exhibits[0].trial.case.target, ())[1:] if part in broken and part in INPUTS]
    if not below:
        return ()
    named = tuple(dict.fromkeys(m for m in earlier if m.part not in below))
    if any(unanswered(e.trial, e.answer) is None and broken_property(e.trial, e.answer) for e in exhibits):
        return ()
    compared = [_in_evaluation(exhibit) for exhibit in exhibits if exhibit.trial.compare]
    for mistakes in (named, ()) if named else ((),):
        own = {part: _borrowed(part, student, limits) for part in below}
        parts: Parts = replace(parts_with(*mistakes), **own)
        if all(explains(exhibit, parts) for exhibit in compared):
            return (*mistakes, *(Unnamed(part, broken[part]) for part in below))
    return ()


def _in_evaluation(exhibit: Exhibit) -> Exhibit:
    """Without the calls in training: the masks inside a borrowed module are its own business."""
    calls = exhibit.trial.case.calls
    return replace(exhibit, followed=tuple(n for n in exhibit.followed if calls[n].mode is Mode.EVAL))


def _borrowed(part: str, student: Student, limits: Limits) -> type[Part]:
    """A twin that holds the right twin's parameters and computes with the student's module."""
    right: Any = getattr(RIGHT, part)
    target, roles = INPUTS[part]

    def init(self: Any, parts: Parts, *positional: Any, **named: Any) -> None:
        right.__init__(self, parts, *positional, **named)
        bound = inspect.signature(right.__init__).bind(self, parts, *positional, **named).arguments
        self.arguments = {name: value for name, value in bound.items() if name not in {"self", "parts"}}

    def forward(self: Any, *given: Any) -> Tensor:
        names, parameters = zip(*self.named_parameters(), strict=True) if list(self.parameters()) else ((), ())

        def ask(values: Sequence[Array], weights: Sequence[Array], cotangent: Array | None) -> Answer:
            taken = zip(roles.items(), values, strict=False)
            inputs = {name: Input(value, role) for (name, role), value in taken if value is not None}
            call = Call(inputs, Mode.EVAL, cotangent)
            case = Case(target, (call,), self.arguments, dict(zip(names, weights, strict=True)) or None)
            return _answer(student, case, limits)

        flat = part in ROWS_ONLY and isinstance(given[0], Tensor)
        first = given[0].flatten(0, -2) if flat else given[0]  # (..., D) -> (rows, D)
        result: Tensor = _Ask.apply(ask, names, roles, first, *given[1:], *parameters)  # type: ignore[no-untyped-call]
        return result.reshape(*given[0].shape[:-1], -1) if flat else result  # (rows, D') -> (..., D')

    return type(f"Borrowed{right.__name__}", (right,), {"__init__": init, "forward": forward, "any_shape": True})


def _answer(student: Student, case: Case, limits: Limits) -> Answer:
    answers = student.run([case], limits)
    if isinstance(answers, Fault):
        raise BorrowError(answers.text)
    (answer,) = answers
    if answer.status is not Status.OK or any(outcome.status is not Status.OK for outcome in answer.calls):
        raise BorrowError(f"{case.target} gave no answer")
    return answer


class _Ask(torch.autograd.Function):
    """One step of torch's graph that is computed in the sandbox, forwards and backwards."""

    @staticmethod
    def forward(ctx: Any, ask: Any, names: Sequence[str], roles: Mapping[str, Role], *tensors: Any) -> Tensor:
        """The student's output for these inputs and parameters."""
        ctx.ask, ctx.names, ctx.roles = ask, names, roles
        ctx.values = [t.detach().numpy() if isinstance(t, Tensor) else t for t in tensors]
        inputs, weights = _split(ctx.values, names)
        return torch.tensor(ask(inputs, weights, None).arrays["0.out"], dtype=torch.float64)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """The student's gradients for this cotangent; none where their module gives none."""
        inputs, weights = _split(ctx.values, ctx.names)
        arrays = ctx.ask(inputs, weights, gradients[0].numpy()).arrays
        wanted = [f"0.grad.{name}" for name, _ in zip(ctx.roles, inputs, strict=False)]
        wanted += [f"0.grad.param.{name}" for name in ctx.names]
        return (
            None,
            None,
            None,
            *(torch.tensor(arrays[w], dtype=torch.float64) if w in arrays else None for w in wanted),
        )


def _split(values: Sequence[Any], names: Sequence[str]) -> tuple[Sequence[Any], Sequence[Any]]:
    return values[: len(values) - len(names)], values[len(values) - len(names) :]
