"""Does a wrong forward pass resemble the right one? Decided on inputs that are the same in every class.

They are larger than a check's own and spread so that what is no more than a part of the right computation (a mean for
logsumexp, values without attention, a model without its layers) is far from it; `handouts/decisions/0002` has the
figures. Whether a submission resembles does not depend on the class's seed; but the public inputs could be known by
heart, so that it must hold, less strictly, on inputs of the class's own too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from grader import twins
from grader.case import Answer, Array, Call, Case, Input, Json, Role
from grader.checks import Draw

SEED = 3118
"""Public."""
RESEMBLES = 0.9
"""Correlation of the two outputs, with and without their means."""
CONFIRMED = 0.8
"""The same on a class's own inputs. Over 40 seeds, what has 0.9 on the public ones has 0.81 and more."""
AS_LONG = 2.5
"""How many times as long as the right output, or as short, the submission's may be."""


def case_of(target: str, draw: Draw | None = None) -> Case | None:
    """The case that decides about a target; None where nothing is paid for resembling it.

    With `draw` it has other inputs, and the same parameters: whether something resembles depends more on these.
    """
    make = _CASES.get(target)
    if make is None:
        return None
    decisive = make(Draw(np.random.default_rng(SEED)))
    return replace(decisive, calls=make(draw).calls) if draw else decisive


def resembles(case: Case, answer: Answer, least: float = RESEMBLES) -> bool:
    """Whether the output of the case's call is about as long as the right one, and goes up and down with it."""
    out, wanted = answer.arrays.get("0.out"), twins.run(case, answer)["0.out"]
    if out is None or out.shape != wanted.shape or not np.isfinite(out).all():
        return False
    length, right = float(np.linalg.norm(out)), float(np.linalg.norm(wanted))
    if not right / AS_LONG <= length <= right * AS_LONG:
        return False
    return min(_cosine(out, wanted), _cosine(out - out.mean(), wanted - wanted.mean())) >= least


def _cosine(one: Array, other: Array) -> float:
    lengths = float(np.linalg.norm(one)) * float(np.linalg.norm(other))
    return float((one * other).sum()) / lengths if lengths else 0.0


def _logsumexp(draw: Draw) -> Case:
    """Spread so far that the sum is mostly its largest term, which a mean is not."""
    inputs = {"input": Input(draw.normal(64, 6, scale=3.0)), "dim": Input(1, Role.PLAIN)}
    return Case("nn.logsumexp", (Call(inputs),))


def _softmax_loss(draw: Draw) -> Case:
    """The right class is often, not always, the likeliest: neither a constant nor -z_y alone comes near the loss."""
    logits, target = draw.normal(64, 7, scale=3.0), draw.ids(7, 64)
    logits[np.arange(64), target.astype(int)] += 3.0
    return Case("nn.softmax_loss", (Call({"logits": Input(logits), "target": Input(target, Role.CONSTANT)}),))


def _layer_norm(draw: Draw) -> Case:
    """Rows of their own mean and length: what does not take both out is far off."""
    x = draw.normal(32, 12) * np.exp(draw.normal(32, 1, scale=0.3)) + draw.normal(32, 1, scale=2.0)  # (32, 12)
    return _module(draw, "modules_basic.LayerNorm1d", {"dim": 12}, {"x": Input(x)})


def _attention(draw: Draw) -> Case:
    """Long inputs, so that each position looks at few others and not at the mean of all."""
    arguments: dict[str, Json] = {"n_embd": 8, "n_head": 2, "causal": True, "p_dropout": 0.0, "bias": True}
    return _module(draw, "transformer.MultiHeadAttention", arguments, {"x": Input(draw.normal(6, 8, 8, scale=2.0))})


def _decoder_lm(draw: Draw) -> Case:
    """Small embeddings, so that the layers decide about the logits, and attention that looks at few positions."""
    arguments: dict[str, Json] = {"n_vocab": 11, "n_embd": 8, "n_head": 2, "n_positions": 7, "p_dropout": 0.0}
    inputs = {"idx": Input(draw.ids(11, 8, 7), Role.CONSTANT)}
    case = _module(draw, "transformer.DecoderLM", arguments | {"n_layer": 2}, inputs)
    parameters = dict(case.parameters or {})
    factors = {"embeddings": 0.3, ".ln_1.": 2.0}
    for name, value in parameters.items():
        parameters[name] = value * next((factor for part, factor in factors.items() if part in name), 1.0)
    return replace(case, parameters=parameters)


def _module(draw: Draw, target: str, arguments: Mapping[str, Json], inputs: Mapping[str, Input]) -> Case:
    return Case(target, (Call(inputs),), arguments, draw.parameters(target, arguments))


_CASES: dict[str, Callable[[Draw], Case]] = {
    "nn.logsumexp": _logsumexp,
    "nn.softmax_loss": _softmax_loss,
    "modules_basic.LayerNorm1d": _layer_norm,
    "transformer.MultiHeadAttention": _attention,
    "transformer.DecoderLM": _decoder_lm,
}
