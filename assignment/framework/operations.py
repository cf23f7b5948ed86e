"""The primitive operations, each with its backward rule beside it. Everything else is composed of these in `tensor.py`.

In each rule `grad` is dL/d(result). An operation on two arrays broadcasts as NumPy does; backward then sums the
gradient over what was broadcast (`unbroadcast`). An argument that is a plain number has no gradient.
"""
# ruff: noqa: D102  # each operation's docstring says what both of its rules are about

from __future__ import annotations

from itertools import zip_longest
from typing import Any

from .autodiff import Function, Step
from .backend import Array

Shape = tuple[int, ...]


class Operation(Function):
    """A primitive: its backward rule returns only new arrays, views, or `grad` itself."""

    gradients_are_new = True


def shape_of(argument: Any) -> Shape | None:
    """The shape of an array, None for a plain number."""
    return getattr(argument, "shape", None)


def broadcast_shape(*shapes: Shape) -> Shape:
    """The shape of a result of arrays of these shapes."""
    return tuple(max(sizes) if 0 not in sizes else 0 for sizes in zip_longest(*map(reversed, shapes), fillvalue=1))[
        ::-1
    ]


def reduced_shape(a: Any, dim: int | None) -> Shape | None:
    """The shape of a reduction over `dim`, None when it goes across rows."""
    return (*a.shape[:dim], 1, *a.shape[dim + 1 :]) if dim else None


def unbroadcast(grad: Array, shape: Shape | None) -> Array | None:
    """`grad` summed to the shape of an argument that was broadcast: the gradients of a copied value add up."""
    if shape is None or grad.shape == shape:
        return None if shape is None else grad
    extra = grad.ndim - len(shape)
    if extra:
        grad = grad.sum(axis=tuple(range(extra)))  # as many dims as `shape`
    stretched = tuple(axis for axis, size in enumerate(shape) if size == 1 and grad.shape[axis] != 1)
    return grad.sum(axis=stretched, keepdims=True) if stretched else grad


class Elementwise(Operation):
    """A primitive that works element by element, on numbers and on arrays that broadcast."""

    @classmethod
    def rowwise_shape(cls, *inputs: Any) -> Shape | None:
        return broadcast_shape(*[value.shape for value in inputs if shape_of(value) is not None])


class Add(Elementwise):
    """a + b."""

    @staticmethod
    def forward(ctx: Step, a: Array, b: Array) -> Array:
        ctx.save_for_backward(shape_of(a), shape_of(b))
        return a + b

    @staticmethod
    def backward(ctx: Step, grad: Array) -> Any:
        a_shape, b_shape = ctx.saved
        return unbroadcast(grad, a_shape), unbroadcast(grad, b_shape)


class Sub(Elementwise):
    """a - b."""

    @staticmethod
    def forward(ctx: Step, a: Array, b: Array) -> Array:
        ctx.save_for_backward(shape_of(a), shape_of(b))
        return a - b

    @staticmethod
    def backward(ctx: Step, grad: Array) -> Any:
        a_shape, b_shape = ctx.saved
        needs_a, needs_b = ctx.needs_input_grad
        return unbroadcast(grad, a_shape) if needs_a else None, -unbroadcast(grad, b_shape) if needs_b else None


class Mul(Elementwise):
    """a * b."""

    @staticmethod
    def forward(ctx: Step, a: Array, b: Array) -> Array:
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx: Step, grad: Array) -> Any:
        a, b = ctx.saved
        needs_a, needs_b = ctx.needs_input_grad
        return (
            unbroadcast(grad * b, shape_of(a)) if needs_a else None,
            unbroadcast(grad * a, shape_of(b)) if needs_b else None,
        )


class Div(Elementwise):
    """a / b. With q = a / b, dq/db is -q / b."""

    @staticmethod
    def forward(ctx: Step, a: Array, b: Array) -> Array:
        result = a / b
        ctx.save_for_backward(shape_of(a), b, result)
        return result

    @staticmethod
    def backward(ctx: Step, grad: Array) -> Any:
        a_shape, b, result = ctx.saved
        needs_a, needs_b = ctx.needs_input_grad
        return (
            unbroadcast(grad / b, a_shape) if needs_a else None,
            unbroadcast(grad * result, shape_of(b)) / -b if needs_b else None,
        )


class Power(Elementwise):
    """a ** n for a number n. Whole powers are products: NumPy's own power is up to a hundred times slower."""

    @staticmethod
    def forward(ctx: Step, a: Array, n: float) -> Array:
        ctx.save_for_backward(a, n)
        return power(ctx.xp, a, n)

    @staticmethod
    def backward(ctx: Step, grad: Array) -> Any:
        a, n = ctx.saved
        slope = power(ctx.xp, a, n - 1)
        slope *= n
        slope *= grad
        return slope, None


def power(xp: Any, a: Array, n: float) -> Array:
    """The power a ** n as a new array, by products where n is whole and by roots where it is half."""
    if n < 0:
        result = power(xp, a, -n)
        return xp.divide(1, result, out=result)
    if n == 0.5:  # noqa: PLR2004  # the square root
        return xp.sqrt(a)
    if n != int(n):
        return xp.power(a, n)
    if n == 0:
        return xp.ones_like(a)
    result = a.copy() if n == 1 else a * a
    for place, bit in enumerate(f"{int(n):b}"[1:]):  # from the left: each digit doubles the power, a 1 adds one more a
        if place:
            result *= result
        if bit == "1":
            result *= a
    return result


class Exp(Elementwise):
    """e ** a."""

    @staticmethod
    def forward(ctx: Step, a: Array) -> Array:
        result = ctx.xp.exp(a)
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx: Step, grad: Array) -> Any:
        (result,) = ctx.saved
        return grad * result


class Log(Elementwise):
    """The natural logarithm of a."""

    @staticmethod
    def forward(ctx: Step, a: Array) -> Array:
        ctx.save_for_backward(a)
        return ctx.xp.log(a)

    @staticmethod
    def backward(ctx: Step, grad: Array) -> Any:
        (a,) = ctx.saved
        return grad / a


class Tanh(Elementwise):
    """The hyperbolic tangent of a, t; its slope is 1 - t * t."""

    @staticmethod
    def forward(ctx: Step, a: Array) -> Array:
        result = ctx.xp.tanh(a)
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx: Step, grad: Array) -> Any:
        (result,) = ctx.saved
        slope = result * result
        ctx.xp.subtract(1, slope, out=slope)
        slope *= grad
        return slope


class Sigmoid(Elementwise):
    """s = 1 / (1 + e**-a); its slope is s * (1 - s). The exponent is capped where e**-a would overflow and s be 0."""

    @staticmethod
    def forward(ctx: Step, a: Array) -> Array:
        xp, cap = ctx.xp, 88 if a.dtype.itemsize == 4 else 709  # noqa: PLR2004  # log of the largest float32, float64
        result = xp.negative(a)
        xp.minimum(result, cap, out=result)
        xp.exp(result, out=result)
        result += 1
        xp.divide(1, result, out=result)
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx: Step, grad: Array) -> Any:
        (result,) = ctx.saved
        slope = 1 - result
        slope *= result
        slope *= grad
        return slope


class ReLU(Elementwise):
    """max(a, 0); its gradient at 0 is 0."""

    @staticmethod
    def forward(ctx: Step, a: Array) -> Array:
        ctx.save_for_backward(a)
        return ctx.xp.maximum(a, 0)

    @staticmethod
    def backward(ctx: Step, grad: Array) -> Any:
        (a,) = ctx.saved
        return grad * (a > 0)


class Sum(Operation):
    """The sum over one dim, which is kept with size 1; over everything, shape (1,), when dim is None."""

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


class Detach(Elementwise):
    """The same elements, a constant for the gradient."""

    @staticmethod
    def forward(ctx: Step, a: Array) -> Array:  # noqa: ARG004  # the rules' common signature
        return a

    @staticmethod
    def backward(ctx: Step, grad: Array) -> Any:  # noqa: ARG004  # the rules' common signature
        return None


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

    @staticmethod
    def forward(ctx: Step, a: Array, ids: Array) -> Array:
        places = ids.astype("int64")
        ctx.save_for_backward(a.shape, places)
        return ctx.xp.take_along_axis(a, places, axis=-1)

    @staticmethod
    def backward(ctx: Step, grad: Array) -> Any:
        shape, places = ctx.saved
        result = ctx.xp.zeros(shape, dtype=grad.dtype)
        ctx.xp.put_along_axis(result, places, grad, axis=-1)
        return result, None

    @classmethod
    def rowwise_shape(cls, *inputs: Any) -> Shape | None:
        return inputs[1].shape if inputs[1].dims > 1 else None
