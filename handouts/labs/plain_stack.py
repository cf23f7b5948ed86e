"""Many layers of `Linear` and ReLU on top of each other, joined in three ways: what depth does to a gradient."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assignment.framework import Module, Tensor, TensorBackend, tensor
from handouts.labs.course import modules_basic

Array: TypeAlias = npt.NDArray[Any]

PLAIN, RESIDUAL, NORMED = KINDS = ("plain", "residual", "residual + LayerNorm")
"""Block: relu(linear(x)); x + relu(linear(x)); x + relu(linear(norm(x)))."""

PLAIN_GAIN = 6**-0.5
"""What a plain layer does to the length of a gradient, expected.

`Linear` begins with weights uniform in +-1/sqrt(n), of variance 1/(3n). Its transpose makes of a squared length its
n/(3n) = 1/3, and the ReLU, which is shut for half of the entries, lets half of that pass: 1/6.
"""


class Stack(Module):
    """`depth` blocks of one kind, each as wide as its input.

    Shapes: x (B, width) -> (B, width).

    Args:
        kind: one of `KINDS`.
        depth: number of blocks.
        width: size of the vectors.
        backend: where the parameters live, and what their random numbers come from.

    Raises:
        ValueError: `kind` is none of the three.
    """

    def __init__(self, kind: str, depth: int, width: int, backend: TensorBackend) -> None:
        super().__init__()
        if kind not in KINDS:
            raise ValueError(f"kind {kind!r}; expected one of {', '.join(KINDS)}")
        self.kind, self.depth = kind, depth
        for number in range(depth):
            setattr(self, f"linear_{number}", modules_basic.Linear(width, width, backend=backend))
            setattr(self, f"norm_{number}", modules_basic.LayerNorm1d(width, backend=backend))

    def forward(self, x: Tensor) -> Tensor:
        """Run the blocks."""
        for number in range(self.depth):
            inside = getattr(self, f"norm_{number}")(x) if self.kind == NORMED else x
            outside = getattr(self, f"linear_{number}")(inside).relu()  # (B, width)
            x = outside if self.kind == PLAIN else x + outside
        return x


def gain_and_size(kind: str, depth: int, width: int, seed: int) -> tuple[float, float]:
    """Send random vectors forward through a new stack, and a random gradient back.

    Returns:
        The gradient's length at the input over that at the output, and the standard deviation of the output.
    """
    backend = TensorBackend(np, "float64", seed)
    numbers = np.random.default_rng([seed, depth])
    x = tensor(numbers.standard_normal((32, width)), backend, requires_grad=True)
    gradient = numbers.standard_normal((32, width))
    output = Stack(kind, depth, width, backend)(x)
    output.backward(gradient)
    assert x.grad is not None  # it was asked for
    back = np.linalg.norm(x.grad.to_numpy()) / np.linalg.norm(gradient)
    return float(back), float(output.to_numpy().std())
