"""What a module asks of the machine: its operations, the floating-point operations in them, the numbers they move."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

from assignment.framework.autodiff import observers

KINDS = {
    "MatMul": "matmul",
    "Sum": "reduction",
    "Max": "reduction",
    "Contiguous": "copy",
    "Index": "copy",
    "Pick": "copy",
    "View": "shape only",
    "Permute": "shape only",
}
"""What kind of work an operation is, by its name; any other works element by element."""


class Operation(NamedTuple):
    """One operation of the framework.

    Attributes:
        name: such as "MatMul".
        inputs: the shapes of its tensors.
        output: the shape of its result.
    """

    name: str
    inputs: tuple[tuple[int, ...], ...]
    output: tuple[int, ...]

    @property
    def kind(self) -> str:
        """One of "matmul", "reduction", "copy", "shape only", "elementwise"."""
        return KINDS.get(self.name, "elementwise")

    @property
    def touches_elements(self) -> bool:
        """Whether it reads and writes numbers: `view` and `permute` only describe the same memory anew."""
        return self.kind != "shape only"

    @property
    def flops(self) -> int:
        """Floating-point operations: 2 n k m of a product of matrices, and one for each element of anything else."""
        if self.kind == "matmul":
            return 2 * math.prod(self.output) * self.inputs[0][-1]
        if self.kind in {"copy", "shape only"}:
            return 0
        return max(map(math.prod, (*self.inputs, self.output)))

    @property
    def moved(self) -> int:
        """Numbers read from and written to memory."""
        return sum(map(math.prod, (*self.inputs, self.output))) if self.touches_elements else 0


def operations(call: Callable[[], object]) -> list[Operation]:
    """Run `call` and list the operations in it, as the framework tells its observers.

    Comparisons and random numbers have no gradient, so the framework does not count them among its operations.
    """
    done: list[Operation] = []

    def observer(name: str, inputs: tuple[tuple[int, ...], ...], output: tuple[int, ...]) -> None:
        done.append(Operation(name, inputs, output))

    observers.append(observer)
    try:
        call()
    finally:
        observers.remove(observer)
    return done


def matmul_flops(done: Iterable[Operation]) -> int:
    """Count the floating-point operations of the products of matrices alone."""
    return sum(operation.flops for operation in done if operation.kind == "matmul")
