"""Counts the FLOPs of the framework's matrix products while they happen."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from assignment.framework.autodiff import observers


@dataclass
class Count:
    """What was counted.

    Attributes:
        flops: of all matrix products.
        products: how many there were.
    """

    flops: int = 0
    products: int = 0


@contextmanager
def counted_flops() -> Iterator[Count]:
    """Count every product (..., p, q) @ (..., q, r) within: 2 p q r for each pair of matrices."""
    count = Count()

    def observe(name: str, inputs: tuple[tuple[int, ...], ...], output: tuple[int, ...]) -> None:
        if name == "MatMul":
            count.flops += 2 * inputs[0][-1] * math.prod(output)
            count.products += 1

    observers.append(observe)
    try:
        yield count
    finally:
        observers.remove(observe)
