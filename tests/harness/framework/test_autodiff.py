"""Gradients flow back once, add up, and free the graph; a student may add a Function."""

import gc
import weakref

import numpy as np
import pytest

from assignment.framework import Function, default_backend, gradcheck, ones, tensor


def test_gradients_of_leaves_add_up_over_backward_passes():
    x = tensor([1.0, 2.0], requires_grad=True)
    for _ in range(3):
        (x * x).sum().backward()
    assert x.grad.to_numpy().tolist() == [6.0, 12.0]
    x.zero_grad_()
    assert x.grad is None


def test_a_second_forward_and_backward_gives_the_same_gradients():
    x, gradients = tensor([0.3, -2.0], requires_grad=True), []
    for _ in range(2):
        x.zero_grad_()
        (x.tanh() * x).sum().backward()
        gradients.append(x.grad.to_numpy())
    np.testing.assert_array_equal(*gradients)


def test_a_second_backward_through_one_graph_is_refused():
    middle = tensor([1.0], requires_grad=True) * 2
    (middle * 3).backward()
    with pytest.raises(RuntimeError, match="compute the output again"):
        (middle * 4).backward()


def test_a_tensor_used_many_times_gets_the_sum():
    x = tensor([3.0], requires_grad=True)
    y = x
    for _ in range(4):
        y = y + x * y  # x (1 + x)^4
    y.backward()
    assert x.grad.item() == 4**4 + 3 * 4 * 4**3


def test_a_shared_gradient_array_is_not_changed_under_the_other_user():
    x = tensor([1.0, 1.0], requires_grad=True)
    y = tensor([1.0, 1.0], requires_grad=True)
    total = x + y  # one gradient array goes to both
    seed = np.array([1.0, 10.0])
    (total + x * 5).backward(seed)
    assert x.grad.to_numpy().tolist() == [6.0, 60.0]
    assert y.grad.to_numpy().tolist() == [1.0, 10.0]
    (x + y).backward(seed)
    assert seed.tolist() == [1.0, 10.0]


def test_a_very_deep_graph_needs_no_recursion():
    x = tensor([1.0], requires_grad=True)
    y = x
    for _ in range(20_000):
        y = y + 1
    y.backward()
    assert x.grad.item() == 1


def test_backward_frees_the_arrays_that_it_has_used():
    x = ones((3, 3), requires_grad=True)
    middle = x @ x
    kept = weakref.ref(middle.array)
    loss = (middle @ middle).sum()
    del middle
    gc.collect()
    assert kept() is not None
    loss.backward()
    assert kept() is None


def test_only_what_requires_a_gradient_gets_one():
    x, constant = tensor([1.0], requires_grad=True), tensor([2.0])
    (x * constant + x.detach() * 5).backward()
    assert (x.grad.item(), constant.grad) == (2.0, None)


def test_the_gradient_of_the_output_may_be_a_tensor_or_an_array_of_its_shape():
    for weights in (tensor([1.0, 2.0]), np.array([1, 2]), [1, 2]):
        x = tensor([5.0, 6.0], requires_grad=True)
        (x * 3).backward(weights)
        assert x.grad.to_numpy().tolist() == [3.0, 6.0]


def test_backward_on_a_leaf_is_its_own_gradient():
    x = tensor([5.0], requires_grad=True)
    x.backward()
    assert x.grad.item() == 1


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        (lambda x: (x * 2).backward(), ValueError, r"backward on shape \(2,\) without grad"),
        (
            lambda x: (x * 2).backward(np.ones(3)),
            ValueError,
            r"grad of shape \(3,\); expected this tensor's shape \(2,\)",
        ),
        (lambda x: x.detach().sum().backward(), RuntimeError, "requires_grad=True"),
    ],
)
def test_backward_errors_say_what_to_do(wrong, error, says):
    with pytest.raises(error, match=says):
        wrong(tensor([1.0, 2.0], requires_grad=True))


class Cube(Function):
    """x ** 3 times a number, as a student would write it."""

    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x, factor)
        return factor * x * x * x

    @staticmethod
    def backward(ctx, grad_output):
        x, factor = ctx.saved
        return grad_output * factor * 3 * x * x, None


def test_a_function_of_ones_own_has_its_gradient():
    x = tensor([1.0, 2.0], requires_grad=True)
    y = Cube.apply(x, 2.0)
    assert y.to_numpy().tolist() == [2.0, 16.0]
    gradcheck(lambda x: Cube.apply(x, 2.0), x)


def test_an_own_function_may_return_arrays_that_it_keeps():
    kept = ones((2,)).array

    class Kept(Function):
        @staticmethod
        def forward(ctx, x):  # noqa: ARG004  # the contract
            return x.copy()

        @staticmethod
        def backward(ctx, grad_output):  # noqa: ARG004  # the contract
            return kept

    x = tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    (Kept.apply(y) + Kept.apply(y) + y).sum().backward()
    assert x.grad.to_numpy().tolist() == [3.0, 3.0]
    assert (kept == 1).all()


def test_an_own_function_may_give_no_gradient_to_something_computed():
    class Constant(Function):
        @staticmethod
        def forward(ctx, x):  # noqa: ARG004  # the contract
            return x.copy()

        @staticmethod
        def backward(ctx, grad_output):  # noqa: ARG004  # the contract
            return None

    x = tensor([1.0, 2.0], requires_grad=True)
    (Constant.apply(x * 3) + x).sum().backward()
    assert x.grad.to_numpy().tolist() == [1.0, 1.0]


def test_an_own_function_with_mistakes_is_told():
    class NoArray(Function):
        @staticmethod
        def forward(ctx, x):  # noqa: ARG004  # the contract
            return 5.0

    class TooMany(Cube):
        @staticmethod
        def backward(ctx, grad_output):  # noqa: ARG004  # the contract
            return grad_output, None, None

    class WrongShape(Cube):
        @staticmethod
        def backward(ctx, grad_output):  # noqa: ARG004  # the contract
            return grad_output.sum(keepdims=True), None

    x = tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(TypeError, match=r"NoArray\.forward returned float; expected an array"):
        NoArray.apply(x)
    with pytest.raises(RuntimeError, match="returned 3 gradients for 2 arguments"):
        TooMany.apply(x, 1.0).sum().backward()
    with pytest.raises(RuntimeError, match=r"gradient of shape \(1,\) arrived for a value of shape \(2,\)"):
        WrongShape.apply(x, 1.0).sum().backward()
    with pytest.raises(TypeError, match="expected at least one Tensor"):
        Cube.apply(1.0, 2.0)


def test_the_default_backend_is_one_and_float64():
    assert default_backend() is default_backend()
    assert default_backend().dtype == "float64"
