"""The primitive operations that do not work element by element, each with its backward rule beside it.

In each rule `grad` is dL/d(result).
"""
# ruff: noqa: D102  # each operation's docstring says what its rules are about

from __future__ import annotations

from typing import Any

from .autodiff import Operation, Step
from .backend import Array
from .shapes import Shape, reduced_shape, unbroadcast


class Sum(Operation):
    """The sum over one dim, which is kept with size 1; over everything, shape (1,), when dim is None."""

    in_order = True

    @staticmethod
    def forward(ctx: Step, a: Array, dim: int | None) -> Array:
        ctx.save_for_backward(a.shape)
        return a.sum().reshape(1) if dim is None else a.sum(axis=dim, keepdims=True)  # (1,) or (..., 1, ...)

    @staticmethod
    def backward(ctx: Step, grad: Array) -> Any:
        (shape,) = ctx.saved
        return ctx.xp.broadcast_to(grad, shape), None

    @classmethod
    def rowwise_shape(cls, *inputs: Any) -> Shape | None:
        return reduced_shape(*inputs)


class Max(Operation):
    """The largest over one dim, kept with size 1, or over everything. Equal largest values share the gradient."""

    in_order = True

    @staticmethod
    def forward(ctx: Step, a: Array, dim: int | None) -> Array:
        result = a.max().reshape(1) if dim is None else a.max(axis=dim, keepdims=True)  # (1,) or (..., 1, ...)
        ctx.save_for_backward(a, result, dim)
        return result

    @staticmethod
    def backward(ctx: Step, grad: Array) -> Any:
        a, result, dim = ctx.saved
        largest = (a == result).astype(a.dtype)
        largest *= grad / largest.sum(axis=dim, keepdims=dim is not None)
        return largest, None

    @classmethod
    def rowwise_shape(cls, *inputs: Any) -> Shape | None:
        return reduced_shape(*inputs)


class MatMul(Operation):
    """a @ b, over leading dims that broadcast: (..., n, k) @ (..., k, m) -> (..., n, m)."""

    @staticmethod
    def forward(ctx: Step, a: Array, b: Array) -> Array:
        ctx.save_for_backward(a, b)
        return times_matrix(ctx.xp, a, b) if b.ndim == 2 else a @ b  # noqa: PLR2004  # (..., n, m)

    @staticmethod
    def backward(ctx: Step, grad: Array) -> Any:
        a, b = ctx.saved
        needs_a, needs_b = ctx.needs_input_grad
        if b.ndim == 2:  # noqa: PLR2004  # as in forward
            return (
                times_matrix(ctx.xp, grad, b.T) if needs_a else None,  # (..., n, m) @ (m, k) -> (..., n, k)
                as_rows(a).T @ as_rows(grad) if needs_b else None,  # (k, rows) @ (rows, m) -> (k, m)
            )
        return (
            unbroadcast(grad @ b.swapaxes(-1, -2), a.shape) if needs_a else None,  # (..., n, m) @ (..., m, k)
            unbroadcast(a.swapaxes(-1, -2) @ grad, b.shape) if needs_b else None,  # (..., k, n) @ (..., n, m)
        )


def as_rows(a: Array) -> Array:
    """All rows of a stack of matrices as one matrix."""
    return a.reshape(-1, a.shape[-1])  # (..., n, k) -> (rows, k)


def times_matrix(xp: Any, a: Array, matrix: Array) -> Array:
    """a @ matrix for a stack of matrices a: one large product is faster than many small ones."""
    result = xp.empty((*a.shape[:-1], matrix.shape[-1]), dtype=a.dtype)
    xp.matmul(as_rows(a), matrix, out=as_rows(result))  # (rows, k) @ (k, m) -> (rows, m)
    return result  # (..., n, m)


class View(Operation):
    """The same elements, in the same order, under another shape."""

    @staticmethod
    def forward(ctx: Step, a: Array, shape: Shape) -> Array:
        ctx.save_for_backward(a.shape)
        return a.reshape(shape)  # (*shape)

    @staticmethod
    def backward(ctx: Step, grad: Array) -> Any:
        (shape,) = ctx.saved
        return grad.reshape(shape), None  # (*shape of a)


class Permute(Operation):
    """The dims in another order: only the strides change, nothing is copied."""

    @staticmethod
    def forward(ctx: Step, a: Array, order: Shape) -> Array:
        ctx.save_for_backward(order)
        return a.transpose(order)  # (a.shape[order[0]], a.shape[order[1]], ...)

    @staticmethod
    def backward(ctx: Step, grad: Array) -> Any:
        (order,) = ctx.saved
        inverse = tuple(sorted(range(len(order)), key=order.__getitem__))
        return grad.transpose(inverse), None  # (*shape of a)


class Contiguous(Operation):
    """The elements laid out in the order of the dims; copied only where they are not."""

    @staticmethod
    def forward(ctx: Step, a: Array) -> Array:
        return ctx.xp.ascontiguousarray(a)

    @staticmethod
    def backward(ctx: Step, grad: Array) -> Any:  # noqa: ARG004  # the rules' common signature
        return grad


class Index(Operation):
    """a[key], with key as NumPy's: integers, slices, arrays of integers. The gradient goes back where it was picked."""

    @staticmethod
    def forward(ctx: Step, a: Array, key: Any) -> Array:
        result = a[key]
        ctx.save_for_backward(a.shape, key, result.shape)
        return result if result.ndim else result.reshape(1)  # (1,)

    @staticmethod
    def backward(ctx: Step, grad: Array) -> Any:
        shape, key, picked = ctx.saved
        result = ctx.xp.zeros(shape, dtype=grad.dtype)
        ctx.xp.add.at(result, key, grad.reshape(picked))  # adds up where a row was picked twice
        return result, None


class Pick(Operation):
    """From each row along the last dim, the element whose number `ids` (..., 1) says: (..., n) -> (..., 1)."""

    in_order = True

    @staticmethod
    def forward(ctx: Step, a: Array, ids: Array) -> Array:
        places = ids.astype("int64")
        ctx.save_for_backward(a.shape, places)
        return ctx.xp.take_along_axis(a, places, axis=-1)

    @staticmethod
    def backward(ctx: Step, grad: Array) -> Any:
        shape, places = ctx.saved
        result = ctx.xp.zeros(shape, dtype=grad.dtype)
        rows = as_rows(result)  # (..., n) -> (rows, n)
        rows[ctx.xp.arange(len(rows)), places.reshape(-1)] = grad.reshape(-1)  # (rows,)
        return result, None

    @classmethod
    def rowwise_shape(cls, *inputs: Any) -> Shape | None:
        return inputs[1].shape if inputs[1].dims > 1 else None
