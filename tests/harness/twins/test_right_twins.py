"""The right twins against torch's own functions and modules."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from grader.case import Answer, Call, Case, Input, Mode, Role, Status
from grader.errors import UsageError
from grader.twins import run

NOBODY = Answer(Status.OK)
B, S, D, H = 2, 5, 6, 3


def array(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


def attention_values():
    names = [f"{letter}_projection" for letter in ("q", "k", "v", "out")]
    values = {f"{name}.weights": array(10 + i, D, D) for i, name in enumerate(names)}
    return values | {f"{name}.bias": array(20 + i, D) for i, name in enumerate(names)}


def torch_attention():
    """torch's own attention with the same values; it keeps q, k and v in one matrix, transposed."""
    values = {name: torch.tensor(value) for name, value in attention_values().items()}
    module = nn.MultiheadAttention(D, H, batch_first=True, dtype=torch.float64)
    inner = [f"{letter}_projection" for letter in "qkv"]
    state = {
        "in_proj_weight": torch.cat([values[f"{name}.weights"].T for name in inner]),
        "in_proj_bias": torch.cat([values[f"{name}.bias"] for name in inner]),
        "out_proj.weight": values["out_projection.weights"].T,
        "out_proj.bias": values["out_projection.bias"],
    }
    module.load_state_dict(state)
    return module


def close(actual, expected):
    assert actual.dtype == np.float64
    assert actual.shape == tuple(expected.shape)
    assert abs(actual - expected.detach().numpy()).max() <= 1e-13 * float(expected.detach().abs().max())


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_logsumexp_and_its_gradient_are_torchs(dim):
    z, cotangent = array(1, 3, 4) * 500, np.ones((3, 4)).sum(dim, keepdims=True)
    call = Call({"input": Input(z), "dim": Input(dim, Role.PLAIN)}, cotangent=cotangent)
    result = run(Case("nn.logsumexp", (call,)), NOBODY)
    leaf = torch.tensor(z, requires_grad=True)
    expected = torch.logsumexp(leaf, dim, keepdim=True)
    expected.backward(torch.tensor(cotangent))
    close(result["0.out"], expected)
    close(result["0.grad.input"], leaf.grad)


def test_dim_may_be_given_by_name():
    z = array(1, 3, 4)
    result = run(Case("nn.logsumexp", (Call({"input": Input(z)}, keywords={"dim": 1}),)), NOBODY)
    close(result["0.out"], torch.logsumexp(torch.tensor(z), 1, keepdim=True))


def test_softmax_loss_is_the_cross_entropy():
    logits, target = array(1, 5, 4) * 400, np.array([0.0, 3, 1, 1, 2])
    call = Call({"logits": Input(logits), "target": Input(target, Role.CONSTANT)}, cotangent=np.ones(5))
    result = run(Case("nn.softmax_loss", (call,)), NOBODY)
    leaf = torch.tensor(logits, requires_grad=True)
    expected = functional.cross_entropy(leaf, torch.tensor(target).long(), reduction="none")
    expected.sum().backward()
    close(result["0.out"], expected)
    close(result["0.grad.logits"], leaf.grad)


def test_layer_norm_is_torchs():
    x, values = array(1, B, S, D) * 1e-2, {"weights": array(2, D), "bias": array(3, D)}
    case = Case("modules_basic.LayerNorm1d", (Call({"x": Input(x)}),), {"dim": D, "eps": 1e-3}, values)
    weights, bias = (torch.tensor(values[name]) for name in ("weights", "bias"))
    close(run(case, NOBODY)["0.out"], functional.layer_norm(torch.tensor(x), (D,), weights, bias, 1e-3))


def test_linear_is_a_product_with_the_untransposed_weights():
    x, values = array(1, 7, 4), {"weights": array(2, 4, 3), "bias": array(3, 3)}
    case = Case("modules_basic.Linear", (Call({"x": Input(x)}),), {"in_size": 4, "out_size": 3, "bias": True}, values)
    close(run(case, NOBODY)["0.out"], torch.tensor(x @ values["weights"] + values["bias"]))


@pytest.mark.parametrize("causal", [True, False])
def test_attention_and_its_gradient_are_torchs(causal):
    x = array(1, B, S, D)
    pad = np.zeros((B, S))
    pad[1, -2:] = 1
    arguments = {"n_embd": D, "n_head": H, "causal": causal, "p_dropout": 0.5}
    call = Call({"x": Input(x), "pad_mask": Input(pad, Role.CONSTANT)}, cotangent=array(9, B, S, D))
    result = run(Case("transformer.MultiHeadAttention", (call,), arguments, attention_values()), NOBODY)
    leaf = torch.tensor(x, requires_grad=True)
    future = torch.ones(S, S).triu(1).bool() if causal else None
    expected, _ = torch_attention()(
        leaf, leaf, leaf, attn_mask=future, key_padding_mask=torch.tensor(pad).bool(), need_weights=False
    )
    expected.backward(torch.tensor(call.cotangent))
    close(result["0.out"], expected)
    close(result["0.grad.x"], leaf.grad)


def test_the_layer_is_torchs_pre_norm_encoder_layer():
    values = {f"attention.{name}": value for name, value in attention_values().items()}
    shapes = {"ff.linear_in.weights": (D, 4 * D), "ff.linear_in.bias": (4 * D,), "ff.linear_out.weights": (4 * D, D)}
    shapes |= dict.fromkeys(("ff.linear_out.bias", "ln_1.weights", "ln_1.bias", "ln_2.weights", "ln_2.bias"), (D,))
    values |= {name: array(30 + i, *shape) for i, (name, shape) in enumerate(shapes.items())}
    layer = nn.TransformerEncoderLayer(
        D, H, 4 * D, 0.0, lambda x: functional.gelu(x, approximate="tanh"), 1e-5, batch_first=True, norm_first=True,
        dtype=torch.float64,
    )  # fmt: skip
    state = {f"self_attn.{name}": value for name, value in torch_attention().state_dict().items()}
    for theirs, ours in [
        ("linear1", "ff.linear_in"),
        ("linear2", "ff.linear_out"),
        ("norm1", "ln_1"),
        ("norm2", "ln_2"),
    ]:
        state[f"{theirs}.weight"] = torch.tensor(values[f"{ours}.weights"].T)
        state[f"{theirs}.bias"] = torch.tensor(values[f"{ours}.bias"])
    layer.load_state_dict(state)
    x = array(1, B, S, D)
    arguments = {"n_embd": D, "n_head": H, "p_dropout": 0.0}
    case = Case("transformer.TransformerLayer", (Call({"x": Input(x)}),), arguments, values)
    close(run(case, NOBODY)["0.out"], layer(torch.tensor(x), src_mask=torch.ones(S, S).triu(1).bool()))


def test_the_loss_is_the_weighted_mean_of_cross_entropies():
    rng = np.random.default_rng(0)
    table, weights = array(1, 5, 5), rng.random((2, 3))
    batch = np.stack([rng.integers(0, 5, (2, 3)), rng.integers(0, 5, (2, 3)), weights])
    inputs = {"batch": Input(batch, Role.BATCH), "model": Input(table, Role.TABLE_MODEL)}
    result = run(Case("translation.loss_fn", (Call(inputs, cotangent=np.ones(1)),)), NOBODY)
    leaf = torch.tensor(table, requires_grad=True)
    ids, labels = torch.tensor(batch[:2]).long().flatten(1)
    losses = functional.cross_entropy(leaf[ids], labels, reduction="none") * torch.tensor(weights).flatten()
    expected = losses.sum() / weights.sum()
    expected.backward()
    close(result["0.out"], expected[None])
    close(result["0.grad.model"], leaf.grad)


def test_an_unknown_target_is_a_usage_error():
    with pytest.raises(UsageError, match=r"'nn\.gelu' has no twin"):
        run(Case("nn.gelu"), NOBODY)


@pytest.mark.parametrize(("length", "arrays"), [(4, ["1.out"]), (3, ["0.out", "1.out"])])
def test_a_call_that_a_right_submission_refuses_has_no_arrays(length, arrays):
    arguments = {"n_vocab": 4, "n_embd": 2, "n_head": 1, "n_positions": 3, "n_layer": 0}
    values = {"token_embeddings.weights": array(1, 4, 2), "position_embeddings.weights": array(2, 3, 2)}
    values |= {"ln.weights": array(3, 2), "ln.bias": array(4, 2), "lm_head.weights": array(5, 2, 4)}
    values |= {"lm_head.bias": array(6, 4)}
    calls = tuple(Call({"idx": Input(np.zeros((1, size)), Role.CONSTANT)}) for size in (length, 2))
    result = run(Case("transformer.DecoderLM", calls, arguments, values), NOBODY)
    assert sorted(result) == arrays
    assert all(np.isfinite(value).all() for value in result.values())


def test_heads_that_do_not_divide_the_width_and_calls_of_methods_have_no_arrays():
    call = Call({"x": Input(array(1, B, S, D))})
    assert run(Case("transformer.MultiHeadAttention", (call,), {"n_embd": D, "n_head": 4}, {}), NOBODY) == {}
    method = Call({"seq_len": Input(4, Role.PLAIN)}, method="create_causal_mask")
    case = Case("transformer.MultiHeadAttention", (method,), {"n_embd": D, "n_head": H}, attention_values())
    assert run(case, NOBODY) == {}


def test_a_second_call_starts_with_no_gradient():
    call = Call({"x": Input(array(1, 3, 2))}, cotangent=array(2, 3, 2), mode=Mode.TRAIN)
    case = Case("modules_basic.LayerNorm1d", (call, call), {"dim": 2}, {"weights": array(3, 2), "bias": array(4, 2)})
    result = run(case, NOBODY)
    for name in ("out", "grad.x", "grad.param.weights", "grad.param.bias"):
        assert (result[f"0.{name}"] == result[f"1.{name}"]).all()


def test_a_float32_case_is_computed_in_float64_on_its_inputs():
    x = array(1, 4, 3).astype(np.float32)
    case = Case("nn.logsumexp", (Call({"input": Input(x), "dim": Input(1, Role.PLAIN)}),), dtype="float32")
    close(run(case, NOBODY)["0.out"], torch.logsumexp(torch.tensor(x, dtype=torch.float64), 1, keepdim=True))
