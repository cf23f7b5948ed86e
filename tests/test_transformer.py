"""Problem 3: `MultiHeadAttention`, `FeedForward`, `TransformerLayer` and `DecoderLM` of `transformer.py`.

`fixture(name)` reads `tests/fixtures/<name>.npz`: parameters and inputs, and what they must give. `load_into` puts the
parameters into your module. Dropout is off (p_dropout=0) wherever numbers are compared.
"""

import numpy as np
import package_under_test as hw3
import pytest
from comparing import assert_close, assert_parameter_gradients, assert_same
from fixture_files import fixture
from hints import told

from assignment.framework import TensorBackend, tensor_from_numpy

BACKEND = TensorBackend(seed=3)


@pytest.mark.points("p3.mha.heads")
@pytest.mark.parametrize("shape", [(2, 5, 8), (3, 4, 8), (1, 1, 8)])
def test_attention_returns_the_shape_of_its_input(shape):
    attention = hw3.transformer.MultiHeadAttention(n_embd=8, n_head=2, p_dropout=0.0, backend=BACKEND)
    assert attention(tensor_from_numpy(np.ones(shape), backend=BACKEND)).shape == shape


@pytest.mark.points("p3.mha.heads")
def test_attention_has_four_projections():
    attention = hw3.transformer.MultiHeadAttention(n_embd=8, n_head=2, p_dropout=0.0, backend=BACKEND)
    shapes = {name: parameter.value.shape for name, parameter in attention.named_parameters()}
    for projection in ("q_projection", "k_projection", "v_projection", "out_projection"):
        assert shapes.get(f"{projection}.weights") == (8, 8)
        assert shapes.get(f"{projection}.bias") == (8,)


@pytest.mark.points("p3.mha.heads")
@pytest.mark.parametrize(
    ("name", "n_head"), [("attention_1_head", 1), ("attention_2_heads", 2), ("attention_4_heads", 4)]
)
def test_attention_splits_into_heads_attends_in_each_and_merges_them(name, n_head):
    saved = fixture(name)
    attention = hw3.transformer.MultiHeadAttention(
        n_embd=8, n_head=n_head, causal=True, p_dropout=0.0, bias=True, backend=BACKEND
    )
    saved.load_into(attention)
    x = tensor_from_numpy(saved.inputs["x"], backend=BACKEND)  # (2, 5, 8)
    assert_close(attention(x), saved.out, "the output")


@pytest.mark.points("p3.mha.heads")
def test_attention_without_bias():
    saved = fixture("attention_without_bias")
    attention = hw3.transformer.MultiHeadAttention(
        n_embd=6, n_head=2, causal=True, p_dropout=0.0, bias=False, backend=BACKEND
    )
    saved.load_into(attention)
    x = tensor_from_numpy(saved.inputs["x"], backend=BACKEND)  # (3, 4, 6)
    assert_close(attention(x), saved.out, "the output")


@pytest.mark.points("p3.mha.heads")
def test_attention_of_a_single_token_is_its_projected_value():
    saved = fixture("attention_1_token")
    attention = hw3.transformer.MultiHeadAttention(
        n_embd=8, n_head=2, causal=True, p_dropout=0.0, bias=True, backend=BACKEND
    )
    saved.load_into(attention)
    x = tensor_from_numpy(saved.inputs["x"], backend=BACKEND)  # (2, 1, 8)
    assert_close(attention(x), saved.out, "the output")


@pytest.mark.points("p3.mha.scale")
@pytest.mark.parametrize(
    ("name", "n_embd", "n_head"), [("attention_head_size_4", 4, 1), ("attention_head_size_16", 32, 2)]
)
def test_attention_scores_are_divided_by_the_square_root_of_the_head_size(name, n_embd, n_head):
    saved = fixture(name)
    attention = hw3.transformer.MultiHeadAttention(
        n_embd=n_embd, n_head=n_head, causal=True, p_dropout=0.0, bias=True, backend=BACKEND
    )
    saved.load_into(attention)
    x = tensor_from_numpy(saved.inputs["x"], backend=BACKEND)  # (2, 6, n_embd)
    assert_close(attention(x), saved.out, "the output")


@pytest.mark.points("p3.mha.causal")
@pytest.mark.parametrize("position", [1, 2, 4])
def test_changing_a_token_changes_its_output_and_all_later_ones_but_none_before(position):
    saved = fixture("attention_2_heads")
    attention = hw3.transformer.MultiHeadAttention(
        n_embd=8, n_head=2, causal=True, p_dropout=0.0, bias=True, backend=BACKEND
    )
    saved.load_into(attention)
    changed = saved.inputs["x"].copy()
    changed[:, position] += 1.0
    before = attention(tensor_from_numpy(saved.inputs["x"], backend=BACKEND)).to_numpy()  # (2, 5, 8)
    after = attention(tensor_from_numpy(changed, backend=BACKEND)).to_numpy()
    assert_close(before, saved.out, "the output")
    assert_same(after[:, :position], before[:, :position], f"the output before position {position}")
    for later in range(position, 5):
        assert (after[:, later] != before[:, later]).any(), f"position {later} does not see position {position}"


@pytest.mark.points("p3.ffn")
@pytest.mark.parametrize("shape", [(2, 5, 8), (1, 1, 8)])
def test_feed_forward_returns_the_shape_of_its_input(shape):
    feed_forward = hw3.transformer.FeedForward(n_embd=8, p_dropout=0.0, backend=BACKEND)
    assert feed_forward(tensor_from_numpy(np.ones(shape), backend=BACKEND)).shape == shape


@pytest.mark.points("p3.ffn")
@pytest.mark.parametrize(("name", "n_embd", "middle_dim"), [("feed_forward_12", 8, 12), ("feed_forward_20", 4, 20)])
def test_feed_forward_is_linear_gelu_linear(name, n_embd, middle_dim):
    saved = fixture(name)
    feed_forward = hw3.transformer.FeedForward(
        n_embd=n_embd, middle_dim=middle_dim, p_dropout=0.0, bias=True, backend=BACKEND
    )
    saved.load_into(feed_forward)
    x = tensor_from_numpy(saved.inputs["x"], backend=BACKEND, requires_grad=True)  # (B, S, n_embd)
    y = feed_forward(x)
    assert_close(y, saved.out, "the output")
    y.backward(saved.cotangent)
    assert_close(x.grad, saved.gradients["x"], "the gradient of x")
    assert_parameter_gradients(feed_forward, saved)


@pytest.mark.points("p3.layer")
@pytest.mark.parametrize("shape", [(2, 5, 8), (1, 1, 8)])
def test_a_layer_returns_the_shape_of_its_input(shape):
    layer = hw3.transformer.TransformerLayer(n_embd=8, n_head=2, p_dropout=0.0, backend=BACKEND)
    assert layer(tensor_from_numpy(np.ones(shape), backend=BACKEND)).shape == shape


@pytest.mark.points("p3.layer")
@pytest.mark.parametrize(("name", "n_head", "causal"), [("layer_causal", 2, True), ("layer_not_causal", 4, False)])
def test_a_layer_adds_attention_then_feed_forward_each_of_the_normalised_input(name, n_head, causal):
    saved = fixture(name)
    layer = hw3.transformer.TransformerLayer(
        n_embd=8, n_head=n_head, p_dropout=0.0, ln_eps=1e-5, bias=True, backend=BACKEND, causal=causal
    )
    saved.load_into(layer)
    x = tensor_from_numpy(saved.inputs["x"], backend=BACKEND)  # (2, S, 8)
    assert_close(layer(x), saved.out, "the output")


@pytest.mark.points("p3.layer")
@pytest.mark.parametrize(("name", "n_head", "causal"), [("layer_causal", 2, True), ("layer_not_causal", 4, False)])
def test_gradients_of_a_layer_reach_x_and_every_parameter(name, n_head, causal):
    saved = fixture(name)
    layer = hw3.transformer.TransformerLayer(
        n_embd=8, n_head=n_head, p_dropout=0.0, ln_eps=1e-5, bias=True, backend=BACKEND, causal=causal
    )
    saved.load_into(layer)
    x = tensor_from_numpy(saved.inputs["x"], backend=BACKEND, requires_grad=True)
    layer(x).backward(saved.cotangent)
    assert_close(x.grad, saved.gradients["x"], "the gradient of x")
    assert_parameter_gradients(layer, saved)


def language_model(n_layer):
    return hw3.transformer.DecoderLM(
        n_vocab=11, n_embd=8, n_head=2, n_positions=7, p_dropout=0.0, backend=BACKEND, n_layer=n_layer
    )


@pytest.mark.points("p3.lm.forward")
@pytest.mark.parametrize("n_layer", [1, 4])
def test_a_language_model_returns_a_logit_for_every_word_of_the_vocabulary(n_layer):
    idx = tensor_from_numpy(np.array([[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]]), backend=BACKEND)  # (2, 5)
    assert language_model(n_layer)(idx).shape == (2, 5, 11)


@pytest.mark.points("p3.lm.forward")
@pytest.mark.parametrize(("name", "n_layer"), [("decoder_lm_1_layer", 1), ("decoder_lm_2_layers", 2)])
def test_a_language_model_adds_positions_runs_its_layers_normalises_and_projects(name, n_layer):
    saved = fixture(name)
    model = language_model(n_layer)
    saved.load_into(model)
    idx = tensor_from_numpy(saved.inputs["idx"], backend=BACKEND)  # (2, S)
    assert_close(model(idx), saved.out, "the logits")


@pytest.mark.points("p3.lm.forward")
def test_a_word_changes_the_logits_from_its_position_on_and_none_before():
    saved = fixture("decoder_lm_2_layers")
    model = language_model(n_layer=2)
    saved.load_into(model)
    changed = saved.inputs["idx"].copy()
    changed[:, 3] = (changed[:, 3] + 1) % 11
    before = model(tensor_from_numpy(saved.inputs["idx"], backend=BACKEND)).to_numpy()  # (2, 5, 11)
    after = model(tensor_from_numpy(changed, backend=BACKEND)).to_numpy()
    assert_same(after[:, :3], before[:, :3], "the logits before position 3")
    for later in (3, 4):
        assert (after[:, later] != before[:, later]).any(), f"position {later} does not see position 3"


@pytest.mark.points("p3.lm.forward")
def test_the_same_word_at_two_positions_gets_different_logits():
    logits = language_model(n_layer=1)(tensor_from_numpy(np.full((1, 4), 5), backend=BACKEND)).to_numpy()
    assert (logits[0, 0] != logits[0, 1]).any(), "the logits do not depend on the position"


@pytest.mark.points("p3.lm.limit")
def test_a_language_model_accepts_n_positions_words_and_refuses_one_more():
    model = language_model(n_layer=1)
    assert model(tensor_from_numpy(np.ones((1, 7)), backend=BACKEND)).shape == (1, 7, 11)
    with pytest.raises(Exception) as refusal:  # noqa: PT011, PT012 - which error, and its words, are yours
        model(tensor_from_numpy(np.ones((1, 8)), backend=BACKEND))
        pytest.fail(f"8 words were accepted, n_positions is 7{told('lm.no_limit')}")
    assert not refusal.errisinstance(NotImplementedError)
