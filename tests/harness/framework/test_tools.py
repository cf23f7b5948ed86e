"""The two tools: a wrong gradient is found, and shapes are shown as they flow."""

import pytest

from assignment.framework import Function, GradientError, gradcheck, tensor, trace_shapes


class WrongSquare(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved
        return grad_output * x  # the factor 2 is missing


def test_gradcheck_passes_right_gradients():
    gradcheck(lambda x, y: (x @ y).tanh() / 2, tensor([[0.1, 0.2]]), tensor([[0.3], [0.4]]))


def test_gradcheck_names_the_element_and_both_values():
    with pytest.raises(GradientError, match=r"input 0, element \(0,\): backward gives .*, the slope is"):
        gradcheck(WrongSquare.apply, tensor([3.0, 4.0]))


def test_gradcheck_says_when_the_history_is_cut():
    with pytest.raises(GradientError, match="the history is cut"):
        gradcheck(lambda x, y: x.detach() * y, tensor([3.0]), tensor([2.0]))


def test_shapes_are_shown_within_the_context_only():
    lines = []
    x, y = tensor([[1.0, 2.0]]), tensor([[1.0], [2.0]])
    with trace_shapes(lines.append):
        (x @ y).sum()
    x + 1
    assert lines == ["MatMul (1, 2) (2, 1) -> (1, 1)", "Sum (1, 1) -> (1,)"]
