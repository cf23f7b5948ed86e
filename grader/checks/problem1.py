"""Problem 1: logsumexp and softmax_loss (lecture sections 7.1 and 9.1)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from grader.case import Call, Case, Input, Role
from grader.checks.draw import Draw, FloatArray
from grader.checks.registry import check
from grader.checks.trial import EVERYTHING, GRADIENTS, OUTPUTS, Trial

SHAPES_AND_DIMS = (((3, 5), 0), ((3, 5), 1), ((2, 3, 4), -1), ((2, 3, 4), 1), ((2, 1, 4, 3), -3))
HUGE = 1000.0


def _logsumexp(x: FloatArray, dim: int, cotangent: FloatArray | None = None) -> Case:
    call = Call(inputs={"input": Input(x), "dim": Input(dim, Role.PLAIN)}, cotangent=cotangent)
    return Case("nn.logsumexp", (call,))


def _loss(logits: FloatArray, target: FloatArray, cotangent: FloatArray | None = None) -> Case:
    call = Call(inputs={"logits": Input(logits), "target": Input(target, Role.CONSTANT)}, cotangent=cotangent)
    return Case("nn.softmax_loss", (call,))


def _huge(draw: Draw, *shape: int) -> FloatArray:
    """Entries around +1000 and -1000 that differ by a few units, so that no single shift but the maximum helps."""
    return HUGE * draw.generator.choice([-1.0, 1.0], (*shape[:-1], 1)) + draw.normal(*shape)


@check("p1.lse.value")
def logsumexp_value(draw: Draw) -> Iterator[Trial]:
    """logsumexp over any dimension, which it keeps with size 1."""
    for shape, dim in SHAPES_AND_DIMS:
        yield Trial(_logsumexp(draw.normal(*shape, scale=3.0), dim), OUTPUTS)


@check("p1.lse.stable")
def logsumexp_stable(draw: Draw) -> Iterator[Trial]:
    """logsumexp stays finite and right for entries of size 1000."""
    yield Trial(_logsumexp(np.array([[HUGE, HUGE - 1, HUGE - 2]]), 1), OUTPUTS)
    yield Trial(_logsumexp(_huge(draw, 4, 3, 6), -1), OUTPUTS)
    yield Trial(_logsumexp(np.array([[HUGE, -HUGE], [-HUGE, -HUGE]]) + draw.normal(2, 2), 0), OUTPUTS)


@check("p1.lse.grad")
def logsumexp_gradient(draw: Draw) -> Iterator[Trial]:
    """The gradient of logsumexp is the softmax."""
    for shape, dim in SHAPES_AND_DIMS:
        kept = list(shape)
        kept[dim] = 1
        yield Trial(_logsumexp(draw.normal(*shape), dim, draw.normal(*kept)), GRADIENTS)


@check("p1.loss.value")
def loss_value(draw: Draw) -> Iterator[Trial]:
    """softmax_loss returns one loss per example, not their mean or sum."""
    for batch, classes in ((4, 7), (1, 3), (9, 2)):
        yield Trial(_loss(draw.normal(batch, classes, scale=2.0), draw.ids(classes, batch)), OUTPUTS)


@check("p1.loss.grad")
def loss_gradient(draw: Draw) -> Iterator[Trial]:
    """The gradient of softmax_loss is softmax minus one-hot."""
    for batch, classes in ((4, 7), (1, 3), (9, 2)):
        yield Trial(_loss(draw.normal(batch, classes), draw.ids(classes, batch), draw.normal(batch)), GRADIENTS)


@check("p1.loss.stable")
def loss_stable(draw: Draw) -> Iterator[Trial]:
    """softmax_loss stays finite and right for logits of size 1000, and so does its gradient."""
    yield Trial(_loss(_huge(draw, 5, 6), draw.ids(6, 5), draw.normal(5)), EVERYTHING)
    apart = np.array([[HUGE, -HUGE, 0.0], [0.0, HUGE, -HUGE], [HUGE, 0.0, -HUGE]]) + draw.normal(3, 3)
    yield Trial(_loss(apart, np.array([1.0, 1.0, 0.0]), draw.normal(3)), EVERYTHING)
