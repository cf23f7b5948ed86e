"""The solution against the twins in float64: outputs and every gradient, dropout on, masks passed across."""

from __future__ import annotations

import importlib
from collections import Counter

import numpy as np
import pytest

from assignment.framework import Module, TensorBackend, tensor
from grader.case import Answer, Call, Case, Input, Mode, Role, Status
from grader.twins import run

ULP = 1e-13
B, S, D, V = 3, 6, 8, 11


def array(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


def ids(seed, *shape, below=V):
    return np.random.default_rng(seed).integers(0, below, shape).astype(float)


def pad_mask():
    """One sequence whole, one with one padded position at the end, one with two."""
    return (np.arange(S) >= S - np.arange(B)[:, None]).astype(float)


def solution_answer(case: Case) -> Answer:
    """Run a case on the solution, as the worker does on a submission."""
    backend = TensorBackend(seed=case.seed)
    file, name = case.target.split(".")
    target = getattr(importlib.import_module(f"solution.{file}"), name)
    arrays: dict[str, np.ndarray] = {}
    module = target
    if case.target.startswith(("modules_basic.", "transformer.")):
        module = target(**case.arguments) if name == "Dropout" else target(**case.arguments, backend=backend)
        if case.parameters is not None:
            module.load_state(case.parameters)
        arrays |= {f"param.{name}": value for name, value in module.state().items()}
    for number, call in enumerate(case.calls):
        arrays |= {f"{number}.{name}": value for name, value in one_call(module, call, backend, case.masks).items()}
    return Answer(Status.OK, arrays=arrays)


def one_call(module, call: Call, backend: TensorBackend, masks: bool) -> dict[str, np.ndarray]:
    inputs = {name: as_argument(given, backend) for name, given in call.inputs.items()}
    arrays: dict[str, np.ndarray] = {}
    removers = []
    if isinstance(module, Module):
        module.zero_grad()
        (module.train if call.mode is Mode.TRAIN else module.eval)()
        if masks and call.mode is Mode.TRAIN:
            removers = [
                record(arrays, path, part) for path, part in module.named_modules() if hasattr(part, "p_dropout")
            ]
    out = module(*inputs.values(), **call.keywords)
    for remove in removers:
        remove()
    arrays["out"] = out.to_numpy()
    if call.cotangent is not None:
        out.backward(call.cotangent)
        variables = {name: inputs[name] for name, given in call.inputs.items() if given.role is Role.VARIABLE}
        arrays |= {f"grad.{name}": value.grad.to_numpy() for name, value in variables.items()}
        if isinstance(module, Module):
            arrays |= {f"grad.param.{name}": value.grad.to_numpy() for name, value in module.named_parameters()}
    return arrays


def as_argument(given: Input, backend: TensorBackend):
    if given.role is Role.PLAIN:
        return given.value
    return tensor(given.value, backend=backend, requires_grad=given.role is Role.VARIABLE)


def record(arrays, path, dropout):
    uses = Counter()

    def hook(_module, inputs, output):
        x, y = inputs[0].to_numpy(), output.to_numpy()
        arrays[f"mask.{path}.{uses[path]}"] = np.divide(y, x, out=np.zeros_like(y), where=x != 0)
        uses[path] += 1

    return dropout.register_forward_hook(hook)


def assert_parity(case: Case) -> None:
    answer = solution_answer(case)
    expected = run(case, answer)
    assert expected.keys() >= {f"{number}.out" for number in range(len(case.calls))}
    gradients = [abs(value).max() for name, value in expected.items() if ".grad.param." in name]
    for name, value in expected.items():
        assert answer.arrays[name].shape == value.shape, name
        scale = max(gradients) if name.endswith("k_projection.bias") else abs(value).max()
        assert scale > 0, f"{name}: nothing to compare"
        assert abs(answer.arrays[name] - value).max() <= ULP * scale, name


def calls(inputs, cotangent, p_dropout):
    """Evaluation, then training twice."""
    modes = [Mode.EVAL] + [Mode.TRAIN] * (2 if p_dropout else 1)
    return tuple(Call(inputs, mode=mode, cotangent=cotangent) for mode in modes)


def parameters(target, arguments, seed=5):
    """Seeded values of every parameter: no weight of 1 and no bias of 0."""
    module = getattr(importlib.import_module(f"solution.{target.split('.')[0]}"), target.split(".")[1])(**arguments)
    rng = np.random.default_rng(seed)
    return {name: rng.normal(scale=0.7, size=value.shape) for name, value in module.state().items()}


def module_case(target, arguments, inputs, out_shape, p_dropout=0.0, own=False):
    return Case(
        target,
        calls(inputs, array(3, *out_shape), p_dropout),
        arguments,
        None if own else parameters(target, arguments),
        seed=17,
        masks=p_dropout > 0,
    )


@pytest.mark.parametrize("dim", [0, 1, 2, -1])
def test_logsumexp_and_its_gradient_equal_the_twins_along_any_dimension(dim):
    x = array(1, 3, 4, 5) * 300
    shape = np.sum(x, axis=dim, keepdims=True).shape
    call = Call({"input": Input(x), "dim": Input(dim, Role.PLAIN)}, cotangent=array(2, *shape))
    assert_parity(Case("nn.logsumexp", (call,)))


def test_softmax_loss_and_its_gradient_equal_the_twins():
    inputs = {"logits": Input(array(1, 7, V) * 50), "target": Input(ids(2, 7), Role.CONSTANT)}
    assert_parity(Case("nn.softmax_loss", (Call(inputs, cotangent=array(3, 7)),)))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(4, D), (B, S, D)])
def test_linear_equals_the_twin_on_any_leading_shape(shape, bias):
    arguments = {"in_size": D, "out_size": 5, "bias": bias}
    assert_parity(module_case("modules_basic.Linear", arguments, {"x": Input(array(1, *shape))}, (*shape[:-1], 5)))


def test_embedding_adds_up_the_gradient_of_a_repeated_id():
    inputs = {"x": Input(ids(1, B, 20, below=4), Role.CONSTANT)}
    assert_parity(module_case("modules_basic.Embedding", {"num_embeddings": 4, "embedding_dim": D}, inputs, (B, 20, D)))


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_layer_norm_equals_the_twin_where_eps_matters_and_where_not(scale):
    arguments = {"dim": D, "eps": 1e-5}
    x = array(1, B, S, D) * scale
    assert_parity(module_case("modules_basic.LayerNorm1d", arguments, {"x": Input(x)}, (B, S, D)))


def test_dropout_equals_the_twin_with_the_same_mask():
    assert_parity(
        module_case("modules_basic.Dropout", {"p_dropout": 0.4}, {"x": Input(array(1, B, S, D))}, (B, S, D), 0.4)
    )


@pytest.mark.parametrize("p_dropout", [0.0, 0.3])
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("n_head", [1, 2, 4])
def test_attention_equals_the_twin(n_head, causal, padded, p_dropout):
    arguments = {"n_embd": D, "n_head": n_head, "causal": causal, "p_dropout": p_dropout}
    inputs = {"x": Input(array(1, B, S, D))}
    if padded:
        inputs["pad_mask"] = Input(pad_mask(), Role.CONSTANT)
    assert_parity(module_case("transformer.MultiHeadAttention", arguments, inputs, (B, S, D), p_dropout))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("p_dropout", [0.0, 0.3])
@pytest.mark.parametrize("middle_dim", [None, 20])
def test_feed_forward_equals_the_twin(middle_dim, p_dropout, bias):
    arguments = {"n_embd": D, "middle_dim": middle_dim, "p_dropout": p_dropout, "bias": bias}
    assert_parity(
        module_case("transformer.FeedForward", arguments, {"x": Input(array(1, B, S, D))}, (B, S, D), p_dropout)
    )


@pytest.mark.parametrize("p_dropout", [0.0, 0.3])
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("causal", [True, False])
def test_a_pre_ln_layer_equals_the_twin(causal, padded, p_dropout):
    arguments = {"n_embd": D, "n_head": 2, "causal": causal, "p_dropout": p_dropout}
    inputs = {"x": Input(array(1, B, S, D))}
    if padded:
        inputs["pad_mask"] = Input(pad_mask(), Role.CONSTANT)
    assert_parity(module_case("transformer.TransformerLayer", arguments, inputs, (B, S, D), p_dropout))


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("p_dropout", [0.0, 0.3])
@pytest.mark.parametrize("n_head", [1, 2, 4])
def test_the_language_model_equals_the_twin(n_head, p_dropout, own):
    arguments = {
        "n_vocab": V, "n_embd": D, "n_head": n_head, "n_positions": S + 2, "p_dropout": p_dropout, "n_layer": 3,
    }  # fmt: skip
    inputs = {"idx": Input(ids(1, B, S), Role.CONSTANT)}
    assert_parity(module_case("transformer.DecoderLM", arguments, inputs, (B, S, V), p_dropout, own=own))


def test_attention_weights_above_the_diagonal_are_exactly_zero():
    """With values that are 1e300 in the future only, anything but an exact 0 would show."""
    attention = importlib.import_module("solution.transformer").MultiHeadAttention(D, 2, p_dropout=0.0)
    q, k_transposed = tensor(array(1, 1, 2, S, 4)), tensor(array(2, 1, 2, 4, S))
    v = np.zeros((1, 2, S, 4))
    v[:, :, 3:] = 1e300
    out = attention.self_attention(q, k_transposed, tensor(v)).to_numpy()
    assert (out[:, :3] == 0).all()
    assert (out[:, 3:] != 0).all()


def test_the_language_model_takes_n_positions_tokens_and_refuses_one_more():
    model = importlib.import_module("solution.transformer").DecoderLM(V, D, 2, n_positions=S, n_layer=1)
    assert model(tensor(ids(1, 1, S))).shape == (1, S, V)
    with pytest.raises(ValueError, match=r"7 tokens arrived.*n_positions=6"):
        model(tensor(ids(1, 1, S + 1)))


def test_heads_that_do_not_divide_the_width_are_refused():
    with pytest.raises(ValueError, match=r"n_embd 8 .* 3 heads"):
        importlib.import_module("solution.transformer").MultiHeadAttention(D, 3)
