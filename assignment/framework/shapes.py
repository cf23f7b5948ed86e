"""The arithmetic of shapes: broadcasting and its reverse, reducing, viewing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, TypeAlias

from .backend import Array

Shape: TypeAlias = tuple[int, ...]


def shape_of(argument: Any) -> Shape | None:
    """The shape of an array, None for a plain number."""
    return getattr(argument, "shape", None)


def broadcast_shape(*shapes: Shape) -> Shape:
    """The shape of a result of arrays of these shapes.

    Raises:
        ValueError: they do not broadcast.
    """
    result = []
    for sizes in zip_longest(*map(reversed, shapes), fillvalue=1):
        size = next((size for size in sizes if size != 1), 1)
        if any(other not in {1, size} for other in sizes):
            raise ValueError(
                f"shapes {' and '.join(map(str, shapes))} do not fit together; from the last dim on, sizes must be "
                "equal or 1: use view to insert dims of size 1"
            )
        result.append(size)
    return tuple(reversed(result))


def unbroadcast(grad: Array, shape: Shape | None) -> Array:
    """`grad` summed to the shape of an argument that was broadcast: the gradients of a copied value add up."""
    if shape is None or grad.shape == shape:
        return None if shape is None else grad
    extra = grad.ndim - len(shape)
    if extra:
        grad = grad.sum(axis=tuple(range(extra)))  # as many dims as `shape`
    stretched = tuple(axis for axis, size in enumerate(shape) if size == 1 and grad.shape[axis] != 1)
    return grad.sum(axis=stretched, keepdims=True) if stretched else grad


def reduced_shape(a: Any, dim: int | None) -> Shape | None:
    """The shape of a reduction over `dim`, None when it goes across rows (of the first dim)."""
    axis = 0 if dim is None else dim % a.dims
    return (*a.shape[:axis], 1, *a.shape[axis + 1 :]) if axis else None


def viewed_shape(shape: Shape, sizes: Shape) -> Shape:
    """The sizes that were asked for, with the one that was left out as -1.

    Raises:
        ValueError: they have another number of elements than `shape`.
    """
    size, known = math.prod(shape), math.prod(size for size in sizes if size != -1)
    if sizes.count(-1) == 1 and known and size % known == 0:
        sizes = tuple(size // known if one == -1 else one for one in sizes)
    if min(sizes, default=0) < 0 or math.prod(sizes) != size:
        raise ValueError(f"view of a tensor of shape {shape} ({size} elements) as {sizes}; sizes must multiply up")
    return sizes


def whole_numbers(values: Sequence[Any]) -> Shape:
    """Sizes or dims given as arguments or as one sequence, as a tuple of ints."""
    if len(values) == 1 and isinstance(values[0], Sequence):
        values = values[0]
    return tuple(int(value) for value in values)
