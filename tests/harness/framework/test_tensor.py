"""The tensor's own rules: scalars, comparisons, layout, indexing, and errors that say what to do."""

import numpy as np
import pytest

from assignment.framework import Tensor, TensorBackend, ones, rand, randn, tensor, tensor_from_numpy, zeros

SCALARS = [2, 2.0, True, *(kind(2) for kind in (np.int8, np.uint16, np.int64, np.float16, np.float32, np.float64))]
WHOLE = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize("scalar", [*SCALARS, np.array(2.0), np.float32([2])], ids=repr)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_any_kind_of_number_stands_on_either_side_and_keeps_the_dtype(scalar, dtype):
    x = tensor([1.0, 4.0], TensorBackend(dtype=dtype), requires_grad=True)
    value = float(np.ravel(scalar)[0])
    array = np.array([1.0, 4.0])
    pairs = [
        (scalar + x, value + array),
        (x + scalar, array + value),
        (scalar - x, value - array),
        (x - scalar, array - value),
        (scalar * x, value * array),
        (x * scalar, array * value),
        (scalar / x, value / array),
        (x / scalar, array / value),
        (x**scalar, array**value),
        (scalar**x, value**array),
        (scalar == x, value == array),
        (scalar < x, value < array),
        (x <= scalar, array <= value),
    ]
    for ours, expected in pairs:
        assert isinstance(ours, Tensor)
        assert ours.to_numpy().dtype == dtype
        np.testing.assert_allclose(ours.to_numpy(), expected, rtol=1e-6)


def test_an_array_on_the_left_becomes_a_tensor():
    result = np.array([1.0, 2.0]) * tensor([3.0, 4.0])
    assert isinstance(result, Tensor)
    assert result.to_numpy().tolist() == [3.0, 8.0]


def test_comparisons_are_ones_and_zeros_without_history():
    x, y = tensor([1.0, 2.0, 3.0], requires_grad=True), tensor([3.0, 2.0, 1.0])
    results = {"<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y, "==": x == y, "!=": x != y}
    assert {name: result.to_numpy().tolist() for name, result in results.items()} == {
        "<": [1, 0, 0],
        "<=": [1, 1, 0],
        ">": [0, 0, 1],
        ">=": [0, 1, 1],
        "==": [0, 1, 0],
        "!=": [1, 0, 1],
    }
    assert not any(result.requires_grad for result in results.values())


@pytest.mark.usefixtures("on_cpu")
def test_permute_shares_memory_and_contiguous_copies_only_when_needed():
    x = tensor(WHOLE)
    turned = x.permute(0, 2, 1)
    assert np.shares_memory(x.to_numpy(), turned.to_numpy())
    assert turned.to_numpy().strides == (96, 8, 32)
    assert not np.shares_memory(turned.contiguous().to_numpy(), x.to_numpy())
    assert x.contiguous() is x


@pytest.mark.usefixtures("on_cpu")
def test_view_shares_memory_and_finds_the_size_that_is_left_out():
    x = tensor(WHOLE)
    assert x.view(6, -1).shape == (6, 4)
    assert x.view((4, 6)).shape == (4, 6)
    assert np.shares_memory(x.view(24).to_numpy(), x.to_numpy())


@pytest.mark.parametrize("make", [lambda x: x.permute(2, 0, 1), lambda x: x[:, 1:, ::2]], ids=["permute", "slice"])
def test_view_of_elements_out_of_order_says_to_call_contiguous(make):
    out_of_order = make(tensor(WHOLE))
    with pytest.raises(ValueError, match=r"call \.contiguous\(\) first"):
        out_of_order.view(-1)


@pytest.mark.parametrize(
    "operate", [lambda x: x + 1, lambda x: x * x, lambda x: x.exp(), lambda x: x.sum(1), lambda x: x.max(2)]
)
def test_the_result_of_an_operation_is_in_order_even_where_its_input_is_not(operate):
    x = tensor(WHOLE)
    turned = operate(x.permute(2, 0, 1))
    assert turned.is_contiguous()
    np.testing.assert_array_equal(
        turned.view(-1).to_numpy(), operate(x.permute(2, 0, 1).contiguous()).to_numpy().ravel()
    )


def test_view_then_permute_then_backward_brings_each_gradient_home():
    x = tensor(WHOLE, requires_grad=True)
    weights = np.arange(100.0, 124.0).reshape(4, 3, 2)
    x.view(2, 3, 4).permute(2, 1, 0).backward(weights)
    np.testing.assert_array_equal(x.grad.to_numpy(), weights.transpose(2, 1, 0))


def test_in_place_forms_make_a_new_tensor_and_keep_the_history():
    x = tensor([1.0, 2.0], requires_grad=True)
    y = before = x * 3
    y += 1
    y *= x
    y -= 2
    y /= 2
    assert before.to_numpy().tolist() == [3.0, 6.0]
    y.sum().backward()
    np.testing.assert_allclose(x.grad.to_numpy(), (6 * x.to_numpy() + 1) / 2)


def test_a_tensor_says_what_it_is():
    x = tensor([[1.0, 2.0, 3.0]], TensorBackend(dtype="float32"))
    assert (x.shape, x.dims, x.size, x.dtype, x.requires_grad, x.grad) == ((1, 3), 2, 3, "float32", False, None)
    assert len(x) == 1
    assert "shape (1, 3)" in repr(x)
    assert tensor(5).shape == (1,)


def test_one_element_is_a_python_number():
    x = tensor([[2.5]])
    assert (x.item(), float(x), int(x), bool(x), bool(x < 2)) == (2.5, 2.5, 2, True, False)
    with pytest.raises(ValueError, match=r"shape \(2,\); expected one element"):
        tensor([1.0, 2.0]).item()


def test_tensors_are_copies_of_what_they_are_made_of():
    array = np.zeros(2)
    x, y = tensor(array), tensor_from_numpy(array, requires_grad=True)
    array[0] = 1
    assert (x.to_numpy().tolist(), y.to_numpy().tolist(), y.requires_grad) == ([0, 0], [0, 0], True)


def test_a_tensor_made_of_a_permuted_array_is_contiguous():
    assert tensor(WHOLE.transpose(2, 1, 0)).view(-1).to_numpy().tolist() == WHOLE.transpose(2, 1, 0).ravel().tolist()


def test_filled_and_random_tensors_have_the_shape_and_the_range():
    backend = TensorBackend(dtype="float32", seed=3)
    assert zeros((2, 3), backend).to_numpy().tolist() == [[0] * 3] * 2
    assert ones([2], backend, requires_grad=True).requires_grad
    uniform, normal = rand((10_000,), backend).to_numpy(), randn((10_000,), backend).to_numpy()
    assert uniform.min() >= 0
    assert uniform.max() < 1
    assert abs(uniform.mean() - 0.5) < 0.02
    assert abs(normal.mean()) < 0.05
    assert abs(normal.std() - 1) < 0.05
    assert (rand((3,), TensorBackend(seed=3)) == rand((3,), TensorBackend(seed=3))).sum().item() == 3


def test_argmax_is_the_index_of_the_first_largest_and_keeps_the_dim():
    x = tensor([[1.0, 5.0, 5.0], [7.0, 0.0, 1.0]])
    assert x.argmax(dim=-1).to_numpy().tolist() == [[1], [0]]
    assert x.argmax(0).to_numpy().tolist() == [[1, 0, 0]]
    assert x.argmax().item() == 3


def test_a_tensor_of_whole_numbers_is_an_index():
    x = tensor(WHOLE, requires_grad=True)
    np.testing.assert_array_equal(x[tensor([1, 1, 0])].to_numpy(), WHOLE[[1, 1, 0]])
    np.testing.assert_array_equal(x[0, tensor([2, 0])].to_numpy(), WHOLE[0, [2, 0]])


def test_a_dim_may_be_any_kind_of_whole_number():
    x = tensor(WHOLE)
    assert x.sum(np.int64(1)).shape == x.sum(tensor([1])).shape == x.sum(1.0).shape == (2, 1, 4)


def test_tensors_are_keys_by_identity():
    x, y = tensor([1.0]), tensor([1.0])
    assert {x: "x", y: "y"} == {x: "x", y: "y"}
    assert len({x, y}) == 2


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        (lambda x: x.sum(3), IndexError, r"dim 3 of a tensor of shape \(2, 3, 4\); expected -3 to 2"),
        (lambda x: x.max(-4), IndexError, "dim -4"),
        (lambda x: x.view(5, 5), ValueError, r"\(24 elements\) as \(5, 5\)"),
        (lambda x: x.view(-1, 5), ValueError, "sizes must multiply up"),
        (lambda x: x.view(-1, -1), ValueError, "sizes must multiply up"),
        (lambda x: x.permute(0, 1), ValueError, "name each of its 3 dims once"),
        (lambda x: x.permute(0, 1, 1), ValueError, "name each of its 3 dims once"),
        (lambda x: x + "1", TypeError, "expected a Tensor, a number or an array"),
        (lambda x: x @ 2, TypeError, "Tensor @ int; expected a Tensor"),
        (lambda x: x @ x, ValueError, "last dim of the left must equal the second last of the right"),
        (lambda x: x @ tensor([1.0, 2.0, 3.0, 4.0]), ValueError, "both need two dims or more"),
        (lambda x: x + tensor(np.ones((5, 4))), ValueError, r"\(2, 3, 4\).*\(5, 4\)"),
        (lambda x: x[2], IndexError, r"index 2 of a tensor of shape \(2, 3, 4\)"),
        (lambda x: x[tensor([0.5])], IndexError, "not whole numbers"),
        (lambda x: x.__setitem__(0, 1.0), TypeError, "tensors do not change"),
    ],
)
def test_errors_say_what_arrived_and_what_was_expected(wrong, error, says):
    with pytest.raises(error, match=says):
        wrong(tensor(WHOLE))
