"""Problem 2: `Linear`, `Embedding`, `Dropout` and `LayerNorm1d` of `modules_basic.py`.

`fixture(name)` reads `tests/fixtures/<name>.npz`: parameters and inputs, and what they must give. `load_into` puts the
parameters into your module.
"""

import numpy as np
import package_under_test as hw3
import pytest
from comparing import assert_can_learn, assert_close, assert_parameter_gradients, assert_same
from fixture_files import fixture

from assignment.framework import TensorBackend, tensor_from_numpy

BACKEND = TensorBackend(seed=2)


@pytest.mark.points("p2.linear.forward")
def test_linear_has_weights_in_by_out_and_a_bias():
    linear = hw3.modules_basic.Linear(in_size=5, out_size=3, bias=True, backend=BACKEND)
    assert linear.weights.value.shape == (5, 3)
    assert linear.bias.value.shape == (3,)


@pytest.mark.points("p2.linear.forward")
def test_linear_maps_5_features_to_3():
    linear = hw3.modules_basic.Linear(in_size=5, out_size=3, bias=True, backend=BACKEND)
    assert linear(tensor_from_numpy(np.ones((4, 5)), backend=BACKEND)).shape == (4, 3)


@pytest.mark.points("p2.linear.forward")
def test_linear_computes_x_times_weights_plus_bias():
    saved = fixture("linear")
    linear = hw3.modules_basic.Linear(in_size=5, out_size=3, bias=True, backend=BACKEND)
    saved.load_into(linear)
    x = tensor_from_numpy(saved.inputs["x"], backend=BACKEND)
    assert_close(linear(x), saved.out, "the output")


@pytest.mark.points("p2.linear.forward")
def test_linear_without_bias_computes_x_times_weights():
    saved = fixture("linear_without_bias")
    linear = hw3.modules_basic.Linear(in_size=3, out_size=4, bias=False, backend=BACKEND)
    saved.load_into(linear)
    x = tensor_from_numpy(saved.inputs["x"], backend=BACKEND)
    assert_close(linear(x), saved.out, "the output")


@pytest.mark.points("p2.linear.forward")
def test_gradients_of_linear_reach_x_weights_and_bias():
    saved = fixture("linear")
    linear = hw3.modules_basic.Linear(in_size=5, out_size=3, bias=True, backend=BACKEND)
    saved.load_into(linear)
    x = tensor_from_numpy(saved.inputs["x"], backend=BACKEND, requires_grad=True)
    linear(x).backward(saved.cotangent)
    assert_close(x.grad, saved.gradients["x"], "the gradient of x")
    assert_parameter_gradients(linear, saved)


@pytest.mark.points("p2.embedding.forward")
def test_embedding_has_one_row_for_each_id():
    embedding = hw3.modules_basic.Embedding(num_embeddings=7, embedding_dim=4, backend=BACKEND)
    assert embedding.weights.value.shape == (7, 4)


@pytest.mark.points("p2.embedding.forward")
@pytest.mark.parametrize("name", ["embedding_3_sequences", "embedding_1_sequence"])
def test_embedding_looks_rows_up(name):
    saved = fixture(name)
    embedding = hw3.modules_basic.Embedding(num_embeddings=7, embedding_dim=4, backend=BACKEND)
    saved.load_into(embedding)
    ids = tensor_from_numpy(saved.inputs["ids"], backend=BACKEND)  # (B, S)
    assert_close(embedding(ids), saved.out, "the output")  # (B, S, 4)


@pytest.mark.points("p2.embedding.forward")
@pytest.mark.parametrize("name", ["embedding_3_sequences", "embedding_1_sequence"])
def test_gradients_of_an_id_that_stands_twice_add_up(name):
    saved = fixture(name)
    embedding = hw3.modules_basic.Embedding(num_embeddings=7, embedding_dim=4, backend=BACKEND)
    saved.load_into(embedding)
    rows = embedding(tensor_from_numpy(saved.inputs["ids"], backend=BACKEND))
    assert_can_learn(rows, shows="embedding.gradient_cut")
    rows.backward(saved.cotangent)
    assert_parameter_gradients(embedding, saved)


@pytest.mark.points("p2.dropout.eval")
@pytest.mark.parametrize("shape", [(6,), (3, 4), (2, 3, 4)])
def test_dropout_returns_its_input_in_evaluation(shape):
    dropout = hw3.modules_basic.Dropout(p_dropout=0.5)
    dropout.eval()
    x = np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)
    y = dropout(tensor_from_numpy(x, backend=BACKEND))
    assert_same(y, x, "the output", shows="dropout.in_evaluation")


@pytest.mark.points("p2.dropout.eval")
def test_dropout_with_p_0_returns_its_input_in_training():
    dropout = hw3.modules_basic.Dropout(p_dropout=0.0)
    dropout.train()
    x = np.arange(1.0, 13.0).reshape(3, 4)
    assert_same(dropout(tensor_from_numpy(x, backend=BACKEND)), x, "the output")


@pytest.mark.points("p2.layernorm.forward")
def test_layer_norm_starts_with_weights_1_and_bias_0():
    norm = hw3.modules_basic.LayerNorm1d(dim=4, eps=1e-5, backend=BACKEND)
    assert_same(norm.weights.value, np.ones(4), "weights")
    assert_same(norm.bias.value, np.zeros(4), "bias")


@pytest.mark.points("p2.layernorm.forward")
def test_layer_norm_gives_each_row_mean_0_and_variance_1():
    norm = hw3.modules_basic.LayerNorm1d(dim=3, eps=1e-5, backend=BACKEND)
    x = tensor_from_numpy(np.array([[1.0, 2.0, 6.0], [-4.0, 0.0, 1.0]]), backend=BACKEND)
    y = norm(x)
    assert_close(y.mean(1), [[0.0], [0.0]], "the mean of each row", tolerance=1e-12)
    assert_close(y.var(1), [[1.0], [1.0]], "the biased variance of each row", tolerance=1e-5)


@pytest.mark.points("p2.layernorm.forward")
@pytest.mark.parametrize(("name", "dim"), [("layer_norm_4", 4), ("layer_norm_6", 6)])
def test_layer_norm_normalises_rows_then_applies_weights_and_bias(name, dim):
    saved = fixture(name)
    norm = hw3.modules_basic.LayerNorm1d(dim=dim, eps=1e-5, backend=BACKEND)
    saved.load_into(norm)
    x = tensor_from_numpy(saved.inputs["x"], backend=BACKEND)
    assert_close(norm(x), saved.out, "the output")
