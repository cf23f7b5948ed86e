"""Problem 2: Linear, Embedding, Dropout, LayerNorm1d (lecture sections 4.1, 5.3, 7.2)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from grader.case import Call, Case, Input, Json, Mode, Role
from grader.checks.draw import Draw, FloatArray
from grader.checks.dropout import dropped
from grader.checks.properties import (
    constant,
    input_kept,
    input_returned,
    other_output,
    standard_normal,
    uniform,
)
from grader.checks.registry import check
from grader.checks.trial import EVERYTHING, GRADIENTS, NOTHING, OUTPUTS, Trial

EPS = 1e-5


def _module(draw: Draw, name: str, arguments: Mapping[str, Json], call: Call, *, own: bool = False) -> Case:
    target = f"modules_basic.{name}"
    parameters = None if own else draw.parameters(target, arguments)
    return Case(target, (call,), arguments, parameters, draw.seed())


@check("p2.linear.forward")
def linear_forward(draw: Draw) -> Iterator[Trial]:
    """Linear computes x W + b with all its gradients, and without b when bias is False."""
    for bias in (True, False):
        arguments: dict[str, Json] = {"in_size": 5, "out_size": 3, "bias": bias}
        for own in (False, True):
            call = Call({"x": Input(draw.normal(4, 5))}, cotangent=draw.normal(4, 3))
            yield Trial(_module(draw, "Linear", arguments, call, own=own), EVERYTHING, (input_kept(0, "x"),))


@check("p2.linear.init")
def linear_init(draw: Draw) -> Iterator[Trial]:
    """Linear starts with weights and bias uniform in ±1/sqrt(in_size)."""
    for in_size, out_size in ((16, 2048), (100, 1500)):
        arguments: dict[str, Json] = {"in_size": in_size, "out_size": out_size, "bias": True}
        bound = in_size**-0.5
        call = Call({"x": Input(draw.normal(2, in_size))})
        case = _module(draw, "Linear", arguments, call, own=True)
        weights = uniform("weights", bound, {"linear.weights_bound": math.inf})
        other = {"linear.bias_zero": 0.0, "linear.bias_bound_out_size": out_size**-0.5}
        yield Trial(case, OUTPUTS, (weights, uniform("bias", bound, other)))


@check("p2.embedding.forward")
def embedding_forward(draw: Draw) -> Iterator[Trial]:
    """Embedding looks rows up, and ids that repeat add up in the gradient."""
    arguments: dict[str, Json] = {"num_embeddings": 7, "embedding_dim": 4}
    for own, (batch, length) in ((False, (3, 6)), (True, (1, 5)), (False, (2, 1))):
        ids = draw.ids(7, batch, length)
        ids[0, -1] = ids[0, 0]
        call = Call({"ids": Input(ids, Role.CONSTANT)}, cotangent=draw.normal(batch, length, 4))
        yield Trial(_module(draw, "Embedding", arguments, call, own=own), EVERYTHING)


@check("p2.embedding.init")
def embedding_init(draw: Draw) -> Iterator[Trial]:
    """Embedding starts with weights from N(0, 1)."""
    arguments: dict[str, Json] = {"num_embeddings": 100, "embedding_dim": 50}
    call = Call({"ids": Input(draw.ids(100, 2, 3), Role.CONSTANT)})
    yield Trial(_module(draw, "Embedding", arguments, call, own=True), OUTPUTS, (standard_normal("weights"),))


@check("p2.dropout.train")
def dropout_train(draw: Draw) -> Iterator[Trial]:
    """Dropout in training zeroes a share p and multiplies the rest by 1/(1-p), in values and gradients."""
    for p in (0.1, 0.5, 0.8):
        x = draw.normal(100, 200)
        call = Call({"x": Input(x)}, Mode.TRAIN, cotangent=draw.normal(100, 200))
        case = Case("modules_basic.Dropout", (call,), {"p_dropout": p}, None, draw.seed())
        yield Trial(case, NOTHING, (dropped(0, "x", p),))


@check("p2.dropout.eval")
def dropout_eval(draw: Draw) -> Iterator[Trial]:
    """Dropout returns its input in evaluation, and in training when p is 0."""
    x = draw.normal(6, 7)
    evaluation, at_zero = (0.5, Mode.EVAL, "in evaluation", "dropout.in_evaluation"), (0.0, Mode.TRAIN, "at p = 0", "")
    for p, mode, where, mistake in (evaluation, at_zero):
        case = Case("modules_basic.Dropout", (Call({"x": Input(x)}, mode),), {"p_dropout": p}, None, draw.seed())
        yield Trial(case, NOTHING, (input_returned(0, "x", where, mistake),))


@check("p2.dropout.fresh")
def dropout_fresh(draw: Draw) -> Iterator[Trial]:
    """Dropout draws a new mask at every call."""
    call = Call({"x": Input(draw.normal(20, 30))}, Mode.TRAIN)
    case = Case("modules_basic.Dropout", (call, call), {"p_dropout": 0.5}, None, draw.seed())
    fresh = other_output(0, 1, "at a second call in training", "dropout.same_mask")
    yield Trial(case, NOTHING, (dropped(0, "x", 0.5), dropped(1, "x", 0.5), fresh))


def _layer_norm(draw: Draw, x: FloatArray, cotangent: FloatArray, *, eps: float = EPS, own: bool = False) -> Case:
    arguments: dict[str, Json] = {"dim": x.shape[-1], "eps": eps}
    return _module(draw, "LayerNorm1d", arguments, Call({"x": Input(x)}, cotangent=cotangent), own=own)


@check("p2.layernorm.forward")
def layer_norm_forward(draw: Draw) -> Iterator[Trial]:
    """LayerNorm normalises each row by its biased variance, then applies weights and bias."""
    for rows, dim in ((3, 4), (6, 5)):
        x = draw.normal(rows, dim, scale=2.0) + 3.0
        yield Trial(_layer_norm(draw, x, draw.normal(rows, dim)), OUTPUTS, (input_kept(0, "x"),))
    own = _layer_norm(draw, draw.normal(4, 6), draw.normal(4, 6), own=True)
    yield Trial(own, OUTPUTS, (constant("weights", 1.0), constant("bias", 0.0)))


@check("p2.layernorm.eps")
def layer_norm_eps(draw: Draw) -> Iterator[Trial]:
    """LayerNorm adds eps to the variance inside the root."""
    for eps in (EPS, 0.1):
        x = draw.normal(4, 8, scale=eps**0.5)
        yield Trial(_layer_norm(draw, x, draw.normal(4, 8), eps=eps), OUTPUTS)
    zero = np.zeros((2, 8))
    yield Trial(_layer_norm(draw, zero, draw.normal(2, 8)), OUTPUTS)


@check("p2.layernorm.grad")
def layer_norm_gradient(draw: Draw) -> Iterator[Trial]:
    """LayerNorm's gradients reach its input, weights and bias."""
    for rows, dim in ((3, 4), (6, 5)):
        yield Trial(_layer_norm(draw, draw.normal(rows, dim) + 1.0, draw.normal(rows, dim)), GRADIENTS)
