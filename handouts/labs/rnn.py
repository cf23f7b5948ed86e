"""A recurrent network, to compare with: each step waits for the one before it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assignment.framework import Module, Parameter, Tensor, TensorBackend, default_backend, tensor

Array: TypeAlias = npt.NDArray[Any]


class RNN(Module):
    """h_t = tanh(x_t W + h_(t-1) U), from h_0 = 0.

    Shapes: x (S, D) -> the last state (1, D).

    Args:
        size: D.
        gain: factor on the initial U.
        backend: where the parameters live; None: the default backend.

    Attributes:
        input_weights: W (D, D), initially uniform in [-1/sqrt(D), 1/sqrt(D)] as in torch.nn.RNN.
        state_weights: U (D, D), the same, times `gain`.

    Source: Elman (1990), "Finding Structure in Time"; lecture 6, section 1.2.
    """

    def __init__(self, size: int, gain: float = 1.0, backend: TensorBackend | None = None) -> None:
        super().__init__()
        backend = backend or default_backend()
        bound = size**-0.5
        draw = backend.generator.uniform
        self.input_weights = Parameter(tensor(draw(-bound, bound, (size, size)), backend))
        self.state_weights = Parameter(tensor(gain * draw(-bound, bound, (size, size)), backend))

    def forward(self, x: Tensor) -> Tensor:
        """Read x (S, D) word by word; return the last state (1, D)."""
        seen = x @ self.input_weights.value  # (S, D) @ (D, D) -> (S, D): this part needs no waiting
        state = seen[:1].tanh()  # (1, D)
        for place in range(1, x.shape[0]):
            state = (seen[place : place + 1] + state @ self.state_weights.value).tanh()  # (1, D) @ (D, D) -> (1, D)
        return state


def gradients_by_place(last: Callable[[Tensor], Tensor], x: Array, upstream: Array) -> Array:
    """Measure how much of the gradient of the last output arrives at each input: lengths (S,).

    Args:
        last: maps x (S, D) to the last output, (1, D).
        x: (S, D).
        upstream: the gradient of the last output, (1, D).
    """
    inputs = tensor(x, requires_grad=True)
    last(inputs).backward(upstream)
    if inputs.grad is None:
        raise RuntimeError("no gradient reached the inputs; the function cut the history")
    lengths: Array = np.linalg.norm(inputs.grad.to_numpy(), axis=1)  # (S, D) -> (S,)
    return lengths
