"""What lab 03 shows, as the lecture states it: the exact numbers, and agreement with torch in outputs and gradients."""

import math

import numpy as np
import pytest
import torch

from assignment.framework import TensorBackend, randn, tensor
from handouts.labs import loss_by_hand, torch_twins
from handouts.labs.beside_torch import compare
from handouts.labs.counting import Operation, matmul_flops, operations
from handouts.labs.course import modules_basic, nn, transformer
from handouts.labs.cross_attention import CrossAttention
from handouts.labs.gelu import tanh_gelu
from handouts.labs.loss_by_hand import loss_gradient, naive_logsumexp
from handouts.labs.masks import recorded_masks
from handouts.labs.post_ln import PostLNLayer
from handouts.labs.torch_classifier import copied_layer

B, S, D, H, P = 2, 5, 12, 3, 0.1
ROUNDING = 1e-14


@pytest.fixture
def backend():
    return TensorBackend(seed=7)


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def test_logsumexp_of_1000_999_998_is_the_lectures_number_and_the_formula_gives_infinity():
    z = tensor([[1000.0, 999.0, 998.0]])
    assert nn.logsumexp(z, 1).item() == pytest.approx(1000.407606, abs=5e-7)
    with np.errstate(over="ignore"):
        assert naive_logsumexp(z, 1).item() == math.inf


def test_the_formula_and_logsumexp_agree_for_small_numbers():
    z = tensor([[1.0, 0.0, -1.0]])
    by_hand = math.log(math.e + 1 + 1 / math.e)
    assert naive_logsumexp(z, 1).item() == pytest.approx(by_hand, abs=1e-15)
    assert nn.logsumexp(z, 1).item() == pytest.approx(by_hand, abs=1e-15)


def test_the_gradient_of_the_loss_is_the_one_derived_on_paper_and_torchs(rng):
    values, labels = rng.standard_normal((4, 6)) * 3, np.array([5, 0, 3, 3])
    theirs = torch.tensor(values, requires_grad=True)
    torch.nn.functional.cross_entropy(theirs, torch.from_numpy(labels), reduction="sum").backward()
    assert np.abs(loss_gradient(values, labels) - theirs.grad.numpy()).max() < 1e-15
    ours = tensor(values, requires_grad=True)
    nn.softmax_loss(ours, tensor(labels)).sum().backward()
    assert np.abs(ours.grad.to_numpy() - theirs.grad.numpy()).max() < 1e-15


def test_both_forms_of_gelu_are_torchs_tanh_form():
    x = np.linspace(-8, 8, 161)
    expected = torch.nn.functional.gelu(torch.from_numpy(x), approximate="tanh").numpy()
    assert np.abs(tanh_gelu(tensor(x)).to_numpy() - expected).max() < ROUNDING
    assert np.abs(nn.GELU(tensor(x)).to_numpy() - expected).max() < ROUNDING


def test_dropout_keeps_nine_tenths_and_the_mean(backend):
    out = modules_basic.Dropout(0.1)(tensor(np.ones(100_000), backend)).to_numpy()
    assert abs((out != 0).mean() - 0.9) < 0.006  # six standard deviations
    assert abs(out.mean() - 1) < 0.0065


def test_shapes_inside_attention_are_the_lectures(backend):
    attention = transformer.MultiHeadAttention(D, H, p_dropout=0.0, backend=backend)
    q, k_transposed, v = attention.project_to_query_key_value(randn((B, S, D), backend))
    assert (q.shape, k_transposed.shape, v.shape) == ((2, 3, 5, 4), (2, 3, 4, 5), (2, 3, 5, 4))
    assert attention.self_attention(q, k_transposed, v).shape == (2, 5, 12)


def test_view_of_a_permuted_tensor_says_what_to_do(backend):
    swapped = randn((B, H, S, 4), backend).permute(0, 2, 1, 3)  # (B, h, S, Dh) -> (B, S, h, Dh)
    with pytest.raises(ValueError, match="contiguous"):
        swapped.view(B, S, D)  # (B, S, h, Dh) -> (B, S, D)
    assert swapped.contiguous().view(B, S, D).shape == (B, S, D)  # (B, S, h, Dh) -> (B, S, D)


@pytest.mark.parametrize("n_head", [1, 2, 3, 4, 6, 12])
def test_parameters_and_flops_do_not_depend_on_the_number_of_heads(n_head, backend):
    layer = transformer.TransformerLayer(D, n_head, p_dropout=0.0, backend=backend)
    x = randn((B, S, D), backend)
    assert sum(parameter.value.size for parameter in layer.parameters()) == 12 * 144 + 13 * 12
    assert matmul_flops(operations(lambda: layer(x))) == 36_960  # 2 (24 * 5 * 144 + 4 * 25 * 12)


@pytest.mark.parametrize(("p_dropout", "all_in_all"), [(0.0, 60), (0.1, 64)])
def test_a_pre_ln_layer_takes_no_more_than_68_operations_eight_of_them_matmuls(p_dropout, all_in_all, backend):
    layer = transformer.TransformerLayer(D, H, p_dropout, backend=backend)
    done = operations(lambda: layer(randn((B, S, D), backend)))
    assert sum(one.touches_elements for one in done) == all_in_all <= 68
    assert sum(one.kind == "matmul" for one in done) == 8


def test_what_an_operation_computes_and_moves():
    product = Operation("MatMul", ((2, 5, 3), (3, 4)), (2, 5, 4))
    assert (product.flops, product.moved) == (2 * 2 * 5 * 3 * 4, 30 + 12 + 40)
    total = Operation("Sum", ((2, 5),), (2, 1))
    assert (total.kind, total.flops, total.moved) == ("reduction", 10, 12)
    view = Operation("View", ((2, 6),), (2, 2, 3))
    assert (view.touches_elements, view.flops, view.moved) == (False, 0, 0)


def test_the_operations_of_a_call_are_listed_and_none_after_it():
    a, b = tensor(np.ones((2, 3))), tensor(np.ones((3, 4)))
    done = operations(lambda: (a @ b).sum(1))
    a.exp()
    assert done == [Operation("MatMul", ((2, 3), (3, 4)), (2, 4)), Operation("Sum", ((2, 4),), (2, 1))]
    assert operations(lambda: tensor([1.0, 2.0]).exp()) == [Operation("Exp", ((2,),), (2,))]


def pairs(backend):
    return {
        "attention": (transformer.MultiHeadAttention(D, H, True, P, backend=backend), torch_twins.Attention(D, H)),
        "ff": (transformer.FeedForward(D, p_dropout=P, backend=backend), torch_twins.FeedForward(D)),
        "pre": (transformer.TransformerLayer(D, H, P, backend=backend), torch_twins.PreLNLayer(D, H)),
        "post": (PostLNLayer(D, H, P, backend=backend), torch_twins.PostLNLayer(D, H)),
    }


@pytest.mark.parametrize(("name", "gradients"), [("attention", 9), ("ff", 5), ("pre", 17), ("post", 17)])
def test_outputs_and_all_gradients_agree_with_torch_with_dropout_on(name, gradients, backend, rng):
    ours, twin = pairs(backend)[name]
    difference = compare(ours, twin, rng.standard_normal((B, S, D)), P, rng)
    assert difference.largest < ROUNDING
    assert len(difference.gradients) == gradients


def test_the_language_model_agrees_with_torch_with_dropout_on(backend, rng):
    ours = transformer.DecoderLM(20, D, H, 8, P, backend=backend, n_layer=2)
    difference = compare(ours, torch_twins.DecoderLM(20, D, H, 8, 2), rng.integers(20, size=(B, S)), P, rng)
    assert difference.largest < ROUNDING
    assert len(difference.gradients) == 2 + 2 * 16 + 2 + 2


@pytest.mark.parametrize(("kind", "norm_first"), [(transformer.TransformerLayer, True), (PostLNLayer, False)])
def test_both_layers_agree_with_pytorchs_own_encoder_layer(kind, norm_first, backend, rng):
    ours = kind(D, H, 0.0, backend=backend)
    x = rng.standard_normal((B, S, D))
    mask = torch.nn.Transformer.generate_square_subsequent_mask(S, dtype=torch.float64)
    state = {f"layer.{name}": torch.from_numpy(value) for name, value in ours.state().items()}
    layer = copied_layer(state, "layer", D, H)
    layer.norm_first = norm_first
    theirs = layer(torch.from_numpy(x), src_mask=mask, is_causal=True)
    assert np.abs(ours(tensor(x)).to_numpy() - theirs.detach().numpy()).max() < ROUNDING


def test_the_twins_see_a_gelu_of_the_other_form(backend, rng, monkeypatch):
    gelu = torch.nn.functional.gelu
    monkeypatch.setattr(torch_twins.functional, "gelu", lambda x, approximate: gelu(x))  # noqa: ARG005  # erf, whatever is asked
    ours, twin = pairs(backend)["ff"]
    assert compare(ours, twin, rng.standard_normal((B, S, D)), P, rng).largest > 1e-6


def test_the_twins_see_dropout_that_drops_other_entries(backend, rng, monkeypatch):
    monkeypatch.setattr(torch_twins.Twin, "use_masks", lambda self, masks: None)  # noqa: ARG005  # nothing is dropped
    ours, twin = pairs(backend)["ff"]
    assert compare(ours, twin, rng.standard_normal((B, S, D)), P, rng).largest > 1e-3


def test_a_wrong_formula_for_the_loss_does_not_pass_for_its_gradient(rng, monkeypatch):
    monkeypatch.setattr(loss_by_hand.np, "eye", lambda n: np.zeros((n, n)))  # the gradient without its second term
    values, labels = rng.standard_normal((4, 6)), np.array([5, 0, 3, 3])
    logits = tensor(values, requires_grad=True)
    nn.softmax_loss(logits, tensor(labels)).sum().backward()
    assert np.abs(logits.grad.to_numpy() - loss_gradient(values, labels)).max() == pytest.approx(1)


def test_a_mask_is_recorded_at_every_dropout_and_hooks_are_taken_off_again(backend):
    layer = transformer.TransformerLayer(D, H, 0.5, backend=backend)
    x = randn((B, S, D), backend)
    with recorded_masks(layer, 0.5) as masks:
        layer(x)
    assert {name: mask.shape for name, mask in masks.items()} == {
        "attention.dropout": (B, H, S, S),
        "ff.dropout": (B, S, D),
    }
    assert set(np.unique(masks["ff.dropout"])) == {0.0, 2.0}
    before = masks["ff.dropout"]
    layer(x)
    assert masks["ff.dropout"] is before


def test_cross_attention_is_torchs_with_queries_of_the_target_and_keys_of_the_source(backend, rng):
    ours = CrossAttention(D, H, backend)
    theirs = torch.nn.MultiheadAttention(D, H, batch_first=True, dtype=torch.float64)
    state = ours.state()
    names = ("q_projection", "k_projection", "v_projection")
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.from_numpy(np.concatenate([state[f"{name}.weights"].T for name in names])))
        theirs.in_proj_bias.copy_(torch.from_numpy(np.concatenate([state[f"{name}.bias"] for name in names])))
        theirs.out_proj.weight.copy_(torch.from_numpy(state["out_projection.weights"].T))
        theirs.out_proj.bias.copy_(torch.from_numpy(state["out_projection.bias"]))
    target, source = rng.standard_normal((B, 4, D)), rng.standard_normal((B, 6, D))
    padding = np.array([[0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1]])
    memory = torch.from_numpy(source)
    expected, weights = theirs(
        torch.from_numpy(target), memory, memory, key_padding_mask=torch.from_numpy(padding == 1)
    )
    out = ours(tensor(target), tensor(source), tensor(padding))
    assert np.abs(out.to_numpy() - expected.detach().numpy()).max() < ROUNDING
    assert np.abs(ours.weights.to_numpy().mean(axis=1) - weights.detach().numpy()).max() < ROUNDING


def test_cross_attention_gives_padding_exactly_no_weight_and_hides_no_future(backend):
    cross = CrossAttention(D, H, backend)
    padding = tensor([[0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1]], backend)
    assert cross(randn((B, 4, D), backend), randn((B, 6, D), backend), padding).shape == (2, 4, 12)
    weights = cross.weights.to_numpy()
    assert weights.shape == (2, 3, 4, 6)
    assert (weights[1, :, :, 4:] == 0).all()
    assert (weights[0] > 0).all()
