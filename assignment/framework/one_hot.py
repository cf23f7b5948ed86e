"""One-hot rows that are remembered as their ids, so that a product with a matrix is a look-up."""

from __future__ import annotations

import functools
import math
from typing import Any

from . import operations as ops
from .autodiff import Step
from .backend import Array, common_backend
from .elementwise import Mul
from .shapes import Shape
from .tensor import Operand, Tensor


class OneHot(Tensor):
    """A tensor whose last dim is 1.0 at an id and 0.0 elsewhere, built only when somebody looks at its elements.

    `one_hot(ids) @ W` picks rows of W, and its gradient adds rows up: for 5,120 words out of 10,000 the dense product
    takes some hundred times as long.
    """

    def __init__(self, ids: Array, num_classes: int, like: Tensor) -> None:
        self.ids = ids
        self.num_classes = num_classes
        self.backend = like.backend
        self.requires_grad = False
        self.grad = None
        self.step = None

    @functools.cached_property
    def array(self) -> Array:  # computed when first asked for, then an attribute like any other
        """The dense form."""
        xp = self.backend.xp
        return (self.ids[..., None] == xp.arange(self.num_classes)).astype(self.dtype)  # (*ids, num_classes)

    @property
    def shape(self) -> Shape:
        """The shape of the ids, and the number of classes."""
        return (*self.ids.shape, self.num_classes)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    def __matmul__(self, other: Tensor) -> Tensor:
        matrix = 2
        if isinstance(other, Tensor) and other.dims == matrix and other.shape[0] == self.num_classes:
            target = other.backend
            if common_backend(self.backend, target).xp is target.xp:
                return ops.Index.apply(other, target.brought(self.ids))  # (*ids, columns of other)
        return super().__matmul__(other)

    def __mul__(self, other: Operand) -> Tensor:
        if isinstance(other, Tensor) and other.shape == self.shape and other.backend is self.backend:
            return Masked(self, other)
        return super().__mul__(other)

    def __rmul__(self, other: Operand) -> Tensor:
        return self * other


class Masked(Tensor):
    """One-hot rows times numbers: its sum over the last dim picks a number from each row; else an ordinary product."""

    def __init__(self, rows: OneHot, numbers: Tensor) -> None:
        self.rows = rows
        self.numbers = numbers
        self.backend = numbers.backend
        self.requires_grad = numbers.requires_grad
        self.grad = None

    @functools.cached_property
    def product(self) -> Tensor:
        """The ordinary product."""
        return Mul.apply(self.rows, self.numbers)

    @functools.cached_property
    def array(self) -> Array:  # computed when first asked for, then an attribute like any other
        """The elements of the ordinary product."""
        return self.product.array

    @functools.cached_property
    def step(self) -> Step | None:  # type: ignore[override]  # as for `array`
        """How the ordinary product was computed."""
        return self.product.step

    @property
    def shape(self) -> Shape:
        """The shape of both factors."""
        return self.rows.shape

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.rows.size

    def sum(self, dim: Any = None) -> Tensor:
        """The sum; over the last dim, it is picked and not added up."""
        if self.axis(dim) == self.dims - 1:
            ids = Tensor(self.rows.ids[..., None].astype(self.dtype), self.backend)  # (..., 1)
            return ops.Pick.apply(self.numbers, ids)
        return super().sum(dim)


def one_hot(ids: Tensor, num_classes: int) -> Tensor:
    """Rows that are 1.0 at each id: (...) -> (..., num_classes).

    Raises:
        ValueError: an id is no whole number from 0 to num_classes - 1.
    """
    whole = ids.array.astype("int64")
    if whole.size and not ((whole == ids.array).all() and whole.min() >= 0 and whole.max() < num_classes):
        raise ValueError(
            f"one_hot got ids from {ids.array.min():g} to {ids.array.max():g}; expected whole numbers from 0 to "
            f"{num_classes - 1}"
        )
    return OneHot(whole, num_classes, ids)
