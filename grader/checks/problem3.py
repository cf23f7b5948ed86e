"""Problem 3: the decoder-only Transformer (lecture sections 2, 3, 5 and 6.3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from grader.case import Array, Call, Case, Input, Json, Mode, Role
from grader.checks.draw import Draw, FloatArray, other
from grader.checks.properties import changed_from, input_kept, other_output, same_output, succeeds, unchanged_before
from grader.checks.registry import check
from grader.checks.trial import EVERYTHING, GRADIENTS, NOTHING, OUTPUTS, Trial

ATTENTION, FEED_FORWARD = "transformer.MultiHeadAttention", "transformer.FeedForward"
LAYER, LM = "transformer.TransformerLayer", "transformer.DecoderLM"
B, S, D = 2, 5, 8
V, POSITIONS = 11, 7
WITHOUT = "with dropout (p = 0.5) and without"


def _case(draw: Draw, target: str, arguments: Mapping[str, Json], *calls: Call, own: bool = False) -> Case:
    parameters = None if own else draw.parameters(target, arguments)
    masks = any(call.mode is Mode.TRAIN for call in calls)
    return Case(target, calls, arguments, parameters, draw.seed(), masks=masks)


def _attend(x: FloatArray, cotangent: FloatArray | None = None, pad: Array | None = None) -> Call:
    pads = {} if pad is None else {"pad_mask": Input(pad.astype(np.float64), Role.CONSTANT)}
    return Call({"x": Input(x)} | pads, cotangent=cotangent)


def _heads(n_head: int, n_embd: int = D, *, causal: bool = True, p: float = 0.0, bias: bool = True) -> dict[str, Json]:
    return {"n_embd": n_embd, "n_head": n_head, "causal": causal, "p_dropout": p, "bias": bias}


@check("p3.mha.heads")
def attention_heads(draw: Draw) -> Iterator[Trial]:
    """Attention splits into heads, attends in each, merges them in order and projects."""
    for n_head in (1, 2, 4):
        yield Trial(
            _case(draw, ATTENTION, _heads(n_head), _attend(draw.normal(B, S, D))), OUTPUTS, (input_kept(0, "x"),)
        )
    yield Trial(_case(draw, ATTENTION, _heads(2, bias=False), _attend(draw.normal(3, 4, D))), OUTPUTS)
    yield Trial(_case(draw, ATTENTION, _heads(4), _attend(draw.normal(1, 1, D)), own=True), OUTPUTS)
    yield Trial(_case(draw, ATTENTION, _heads(2), _attend(draw.normal(B, S, D)), own=True), OUTPUTS)


@check("p3.mha.scale")
def attention_scale(draw: Draw) -> Iterator[Trial]:
    """Attention scores are divided by the square root of the head dimension."""
    for n_head, n_embd in ((1, 4), (1, 16), (2, 32)):
        x = draw.normal(B, S, n_embd)
        yield Trial(_case(draw, ATTENTION, _heads(n_head, n_embd), _attend(x)), OUTPUTS)


@check("p3.mha.causal")
def attention_causal(draw: Draw) -> Iterator[Trial]:
    """Changing a token leaves every earlier output as it is and changes all from there on."""
    for n_head, position in ((1, 2), (2, 4), (4, 1)):
        x = draw.normal(B, S, D)
        changed = x.copy()
        changed[:, position] = draw.normal(B, D)
        case = _case(draw, ATTENTION, _heads(n_head), _attend(x), _attend(changed))
        yield Trial(case, OUTPUTS, (unchanged_before(position), changed_from(position)))


@check("p3.mha.flag")
def attention_flag(draw: Draw) -> Iterator[Trial]:
    """With causal=False every position sees every other."""
    x = draw.normal(B, S, D)
    changed = x.copy()
    changed[:, -1] = draw.normal(B, D)
    for n_head in (1, 4):
        case = _case(draw, ATTENTION, _heads(n_head, causal=False), _attend(x), _attend(changed))
        yield Trial(case, OUTPUTS, (changed_from(0),))


@check("p3.mha.pad")
def attention_padding(draw: Draw) -> Iterator[Trial]:
    """Padded keys are hidden from every query."""
    tail = np.arange(S) >= np.array([[3], [S]])  # (B, S): the end of the first sequence
    middle = np.array([[False, True, False, True, False], [False] * S])  # no query sees padding only, causal or not
    for causal, pad in ((False, tail), (True, middle)):
        x = draw.normal(B, S, D)
        changed = np.where(pad[:, :, None], draw.normal(B, S, D), x)  # (B, S, 1) over (B, S, D)
        case = _case(draw, ATTENTION, _heads(2, causal=causal), _attend(x, pad=pad), _attend(changed, pad=pad))
        unmoved = same_output(0, 1, "at a real position when only padded positions change", ~pad)
        yield Trial(case, OUTPUTS, (unmoved,))


@check("p3.mha.grad")
def attention_gradients(draw: Draw) -> Iterator[Trial]:
    """Gradients of attention reach x and all four projections."""
    for n_head, causal in ((1, True), (2, True), (4, False)):
        call = _attend(draw.normal(B, S, D), draw.normal(B, S, D))
        yield Trial(_case(draw, ATTENTION, _heads(n_head, causal=causal), call), GRADIENTS)


@check("p3.mha.dropout")
def attention_dropout(draw: Draw) -> Iterator[Trial]:
    """Attention applies dropout in training, to its weights or to its output."""
    x = draw.normal(B, S, D)
    train, evaluate = Call({"x": Input(x)}, Mode.TRAIN), Call({"x": Input(x)})
    yield from _dropping(_case(draw, ATTENTION, _heads(2, p=0.5), train, evaluate), "mha.no_dropout")
    yield Trial(_case(draw, ATTENTION, _heads(2, p=0.0), train), OUTPUTS)
    yield from _still(_case(draw, ATTENTION, _heads(2, p=0.5), evaluate, evaluate))


def _dropping(case: Case, misconception: str = "") -> Iterator[Trial]:
    """A call in training and one in evaluation, which differ. Only the first is compared: the other is `_still`'s."""
    yield Trial(case, ("0.out",), (other_output(0, 1, WITHOUT, misconception),))


def _still(case: Case) -> Iterator[Trial]:
    """Two calls in evaluation, which do not. First the property: it can name the Dropout that drops there too."""
    yield Trial(case, NOTHING, (same_output(0, 1, "in evaluation", misconception="dropout.in_evaluation"),))
    yield Trial(case, OUTPUTS)


@check("p3.ffn")
def feed_forward(draw: Draw) -> Iterator[Trial]:
    """The feed-forward network is Linear, GELU (tanh form), Linear, both with bias."""
    for middle in (12, 32):
        arguments: dict[str, Json] = {"n_embd": D, "middle_dim": middle, "p_dropout": 0.0}
        call = Call({"x": Input(draw.normal(B, S, D))}, cotangent=draw.normal(B, S, D))
        yield Trial(_case(draw, FEED_FORWARD, arguments, call), EVERYTHING)
    yield Trial(_where_gelus_differ(draw), EVERYTHING)
    default = Call({"x": Input(draw.normal(B, S, D))}, cotangent=draw.normal(B, S, D))
    yield Trial(_case(draw, FEED_FORWARD, {"n_embd": D, "p_dropout": 0.0}, default, own=True), EVERYTHING)
    no_bias: dict[str, Json] = {"n_embd": D, "middle_dim": 12, "p_dropout": 0.0, "bias": False}
    yield Trial(_case(draw, FEED_FORWARD, no_bias, default), EVERYTHING)
    dropping: dict[str, Json] = {"n_embd": D, "middle_dim": 12, "p_dropout": 0.5}
    x = {"x": Input(draw.normal(B, S, D))}
    yield from _dropping(_case(draw, FEED_FORWARD, dropping, Call(x, Mode.TRAIN), Call(x)))


def _where_gelus_differ(draw: Draw) -> Case:
    """A network whose hidden values lie round -2.2, where GELU's tanh form and its erf form are furthest apart."""
    arguments: dict[str, Json] = {"n_embd": D, "middle_dim": 16, "p_dropout": 0.0}
    call = Call({"x": Input(draw.normal(B, S, D, scale=0.3))}, cotangent=draw.normal(B, S, D))
    case = _case(draw, FEED_FORWARD, arguments, call)
    biases = {"linear_in.bias": -2.2 + draw.normal(16, scale=0.3), "linear_out.bias": draw.normal(D, scale=0.02)}
    return replace(case, parameters={**(case.parameters or {}), **biases})


@check("p3.layer")
def transformer_layer(draw: Draw) -> Iterator[Trial]:
    """The layer is Pre-LN: x + attention(ln_1(x)), then x + ff(ln_2(x))."""
    for n_head, causal, own in ((2, True, False), (4, False, False), (1, True, True)):
        arguments: dict[str, Json] = {"n_embd": D, "n_head": n_head, "p_dropout": 0.0, "causal": causal}
        call = _attend(draw.normal(B, S, D, scale=2.0), draw.normal(B, S, D))
        yield Trial(_case(draw, LAYER, arguments, call, own=own), EVERYTHING, (input_kept(0, "x"),))
    handed_on: dict[str, Json] = {"n_embd": D, "n_head": 2, "p_dropout": 0.0, "causal": False}
    pad = np.arange(S) >= np.array([[3], [S]])  # (B, S): the end of the first sequence
    call = _attend(draw.normal(B, S, D), draw.normal(B, S, D), pad)
    yield Trial(_case(draw, LAYER, handed_on | {"ln_eps": 0.1, "bias": False}, call), EVERYTHING)


def _lm(n_layer: int = 2, *, p: float = 0.0, n_head: int = 2) -> dict[str, Json]:
    sizes: dict[str, Json] = {"n_vocab": V, "n_embd": D, "n_head": n_head, "n_positions": POSITIONS}
    return sizes | {"p_dropout": p, "n_layer": n_layer}


def _read(ids: FloatArray, cotangent: FloatArray | None = None, mode: Mode = Mode.EVAL) -> Call:
    return Call({"idx": Input(ids, Role.CONSTANT)}, mode, cotangent)


@check("p3.lm.forward")
def lm_forward(draw: Draw) -> Iterator[Trial]:
    """DecoderLM adds positions, runs its layers, normalises once more and projects to the vocabulary."""
    for n_layer, length, own in ((2, 5, False), (1, POSITIONS, False), (4, 1, False), (2, 4, True)):
        ids, position = draw.ids(V, B, length), length - 1
        changed = ids.copy()
        changed[:, position] = other(draw, ids[:, position], V)
        case = _case(draw, LM, _lm(n_layer), _read(ids), _read(changed), own=own)
        yield Trial(case, OUTPUTS, (unchanged_before(position), changed_from(position)))
    handed_on = _lm(1) | {"ln_eps": 0.1, "bias": False}
    yield Trial(_case(draw, LM, handed_on, _read(draw.ids(V, B, S))), OUTPUTS)


def _silent(case: Case) -> Case:
    """The case with layers that add nothing, whatever they drop: all that their last maps give is 0."""
    last = ("attention.out_projection.", "ff.linear_out.")
    given = {n: v * 0 if any(part in n for part in last) else v for n, v in (case.parameters or {}).items()}
    return replace(case, parameters=given)


@check("p3.lm.dropout")
def lm_dropout(draw: Draw) -> Iterator[Trial]:
    """DecoderLM applies dropout after the embeddings, in training only."""
    ids = draw.ids(V, B, S)
    train, evaluate = _read(ids, mode=Mode.TRAIN), _read(ids)
    yield from _dropping(_case(draw, LM, _lm(1, p=0.5), train, evaluate), "lm.no_dropout")
    yield from _dropping(_silent(_case(draw, LM, _lm(1, p=0.5), train, evaluate)), "lm.no_dropout")
    yield Trial(_case(draw, LM, _lm(1), train), OUTPUTS)
    yield from _still(_case(draw, LM, _lm(1, p=0.5), evaluate, evaluate))


@check("p3.lm.grad")
def lm_gradients(draw: Draw) -> Iterator[Trial]:
    """Every parameter of DecoderLM is registered and receives its gradient."""
    for n_layer, n_head in ((2, 2), (1, 4)):
        call = _read(draw.ids(V, B, S), draw.normal(B, S, V))
        yield Trial(_case(draw, LM, _lm(n_layer, n_head=n_head), call, call), GRADIENTS)


@check("p3.lm.limit")
def lm_limit(draw: Draw) -> Iterator[Trial]:
    """DecoderLM accepts n_positions tokens and refuses one more with an error."""
    calls = (_read(draw.ids(V, B, POSITIONS)), _read(draw.ids(V, B, POSITIONS + 1)))
    full = succeeds(0, f"a sequence of n_positions = {POSITIONS} tokens")
    yield Trial(_case(draw, LM, _lm(1), *calls), OUTPUTS, (full,), refused=(1,), unrefused="lm.no_limit")
