"""Problem 1: `logsumexp` and `softmax_loss` of `nn.py`.

`fixture(name)` reads `tests/fixtures/<name>.npz`: the inputs, and the outputs and gradients that they must give.
"""

import numpy as np
import package_under_test as hw3
import pytest
from comparing import assert_close
from fixture_files import fixture

from assignment.framework import gradcheck, tensor, tensor_from_numpy, zeros

LOGSUMEXP = [("logsumexp_dim_0", 0), ("logsumexp_dim_1", 1), ("logsumexp_last_dim", -1)]
SOFTMAX_LOSS = ["softmax_loss_4_examples", "softmax_loss_1_example"]


@pytest.mark.points("p1.lse.value")
@pytest.mark.parametrize(("dim", "shape"), [(0, (1, 3, 4)), (1, (2, 1, 4)), (2, (2, 3, 1)), (-1, (2, 3, 1))])
def test_logsumexp_keeps_the_dimension_with_size_1(dim, shape):
    assert hw3.nn.logsumexp(zeros((2, 3, 4)), dim).shape == shape


@pytest.mark.points("p1.lse.value")
def test_logsumexp_of_zeros_is_the_logarithm_of_their_number():
    assert_close(hw3.nn.logsumexp(zeros((2, 5)), 1), [[np.log(5)], [np.log(5)]], "logsumexp")


@pytest.mark.points("p1.lse.value")
@pytest.mark.parametrize(("name", "dim"), LOGSUMEXP)
def test_logsumexp_has_the_right_values(name, dim):
    saved = fixture(name)
    x = tensor_from_numpy(saved.inputs["x"])
    assert_close(hw3.nn.logsumexp(x, dim), saved.out, "logsumexp")


@pytest.mark.points("p1.lse.stable")
def test_logsumexp_of_1000_999_998_is_finite():
    x = tensor([[1000.0, 999.0, 998.0]])
    assert_close(hw3.nn.logsumexp(x, 1), [[1000.407606]], "logsumexp", tolerance=1e-9)


@pytest.mark.points("p1.lse.stable")
def test_logsumexp_of_large_numbers_has_the_right_values():
    saved = fixture("logsumexp_of_large_numbers")
    x = tensor_from_numpy(saved.inputs["x"])  # a row about 1000, a row about -1000
    assert_close(hw3.nn.logsumexp(x, 1), saved.out, "logsumexp")


@pytest.mark.points("p1.lse.stable")
@pytest.mark.parametrize("shift", [1000.0, -1000.0])
@pytest.mark.parametrize(("name", "dim"), LOGSUMEXP)
def test_adding_a_large_number_to_every_entry_adds_it_to_logsumexp(name, dim, shift):
    saved = fixture(name)
    x = tensor_from_numpy(saved.inputs["x"] + shift)
    assert_close(hw3.nn.logsumexp(x, dim), saved.out + shift, "logsumexp")


@pytest.mark.points("p1.lse.stable")
def test_logsumexp_is_finite_where_rows_are_far_apart():
    x = tensor([[1000.0, 1000.0], [-1000.0, -1000.0]])
    assert_close(hw3.nn.logsumexp(x, 1), [[1000 + np.log(2)], [-1000 + np.log(2)]], "logsumexp")


@pytest.mark.points("p1.lse.grad")
@pytest.mark.parametrize(("name", "dim"), LOGSUMEXP)
def test_the_gradient_of_logsumexp_is_the_softmax(name, dim):
    saved = fixture(name)
    x = tensor_from_numpy(saved.inputs["x"], requires_grad=True)
    hw3.nn.logsumexp(x, dim).backward(saved.cotangent)
    assert_close(x.grad, saved.gradients["x"], "the gradient of x")


@pytest.mark.points("p1.lse.grad")
def test_the_gradient_of_logsumexp_is_its_slope():
    gradcheck(lambda x: hw3.nn.logsumexp(x, 1), tensor([[0.5, -1.0, 2.0], [1.0, 1.5, -0.5]]))


@pytest.mark.points("p1.loss.value")
def test_softmax_loss_returns_one_loss_for_each_example():
    assert hw3.nn.softmax_loss(zeros((4, 6)), tensor([0, 5, 2, 2])).shape == (4,)


@pytest.mark.points("p1.loss.value")
def test_softmax_loss_of_equal_logits_is_the_logarithm_of_the_number_of_classes():
    losses = hw3.nn.softmax_loss(zeros((2, 6)), tensor([0, 5]))
    assert_close(losses, [np.log(6), np.log(6)], "softmax_loss")


@pytest.mark.points("p1.loss.value")
@pytest.mark.parametrize("name", SOFTMAX_LOSS)
def test_softmax_loss_has_the_right_values(name):
    saved = fixture(name)
    logits, target = tensor_from_numpy(saved.inputs["logits"]), tensor_from_numpy(saved.inputs["target"])
    assert_close(hw3.nn.softmax_loss(logits, target), saved.out, "softmax_loss")


@pytest.mark.points("p1.loss.grad")
@pytest.mark.parametrize("name", SOFTMAX_LOSS)
def test_the_gradient_of_softmax_loss_is_softmax_minus_one_hot(name):
    saved = fixture(name)
    logits = tensor_from_numpy(saved.inputs["logits"], requires_grad=True)
    target = tensor_from_numpy(saved.inputs["target"])
    hw3.nn.softmax_loss(logits, target).backward(saved.cotangent)
    assert_close(logits.grad, saved.gradients["logits"], "the gradient of the logits")
