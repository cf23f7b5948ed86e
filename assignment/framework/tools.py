"""Two tools for whoever writes modules: is the gradient right, and which shapes flow where."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .autodiff import observers
from .backend import TensorBackend
from .creation import tensor
from .tensor import Tensor


class GradientError(AssertionError):
    """A gradient differs from the slope that was measured."""


def gradcheck(function: Callable[..., Tensor], *inputs: Tensor, step: float = 1e-6, tolerance: float = 1e-5) -> None:
    """Compare the gradients of `function` with central differences, (f(x+h) - f(x-h)) / 2h, for every element.

    The output is weighted with fixed random numbers and summed. Inputs are copied and should be float64.

    Args:
        function: of the inputs, returns a tensor of any shape; it must give the same output each time.
        inputs: small tensors; all are checked.
        step: h.
        tolerance: allowed difference, relative to the slope where that is above 1.

    Raises:
        GradientError: naming the input, the element, both values.
    """
    copies = [tensor(value, value.backend, requires_grad=True) for value in inputs]
    output = function(*copies)
    weights = tensor(TensorBackend(seed=0).generator.standard_normal(output.shape), output.backend)
    (output * weights).sum().backward()

    def loss(values: list[Tensor]) -> float:
        return (function(*values) * weights).sum().item()

    for index, copy in enumerate(copies):
        for place in itertools.product(*map(range, copy.shape)):
            losses = []
            for sign in (1, -1):
                moved = copy.array.copy()
                moved[place] += sign * step
                losses.append(loss([*copies[:index], Tensor(moved, copy.backend), *copies[index + 1 :]]))
            slope = (losses[0] - losses[1]) / (2 * step)
            found = 0.0 if copy.grad is None else float(copy.grad.array[place])
            if not abs(found - slope) <= tolerance * max(1.0, abs(slope)):
                raise GradientError(
                    f"input {index}, element {place}: backward gives {found:.8g}, the slope is {slope:.8g}"
                    + ("; no gradient arrived at all: the history is cut" if copy.grad is None else "")
                )


@contextmanager
def trace_shapes(show: Callable[[str], object] = print) -> Iterator[None]:
    """Print one line for each operation within: `MatMul (2, 3) (3, 4) -> (2, 4)`."""

    def observer(name: str, inputs: tuple[tuple[int, ...], ...], output: tuple[int, ...]) -> None:
        show(f"{name} {' '.join(map(str, inputs))} -> {output}")

    observers.append(observer)
    try:
        yield
    finally:
        observers.remove(observer)
