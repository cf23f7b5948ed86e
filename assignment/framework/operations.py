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
        return unbroadcast(grad, a_shape) if needs_a else None, unbroadcast(-grad, b_shape) if needs_b else None


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
    """a / b."""

    @staticmethod
    def forward(ctx: Step, a: Array, b: Array) -> Array:
        ctx.save_for_backward(a, b)
        return a / b

    @staticmethod
    def backward(ctx: Step, grad: Array) -> Any:
        a, b = ctx.saved
        needs_a, needs_b = ctx.needs_input_grad
        grad = grad / b
        return (
            unbroadcast(grad, shape_of(a)) if needs_a else None,
            unbroadcast(-grad * (a / b), shape_of(b)) if needs_b else None,
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
        return grad * (n * power(ctx.xp, a, n - 1)), None


def power(xp: Any, a: Array, n: float) -> Array:
    """The power a ** n, by products where n is whole and by roots where it is half."""
    if n < 0:
        return 1 / power(xp, a, -n)
    if n == 0.5:  # noqa: PLR2004  # the square root
        return xp.sqrt(a)
    if n != int(n):
        return xp.power(a, n)
    result, square, n = xp.ones_like(a) if n == 0 else None, a, int(n)
    while n:
        if n & 1:
            result = square if result is None else result * square
        n >>= 1
        square = square * square if n else square
    return result.copy() if result is a else result


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
    """The hyperbolic tangent of a."""

    @staticmethod
    def forward(ctx: Step, a: Array) -> Array:
        result = ctx.xp.tanh(a)
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx: Step, grad: Array) -> Any:
        (result,) = ctx.saved
        return grad * (1 - result * result)


class Sigmoid(Elementwise):
    """1 / (1 + e**-a). The exponent is capped where e**-a would overflow and the result is 0 in any case."""

    @staticmethod
    def forward(ctx: Step, a: Array) -> Array:
        cap = 88 if a.dtype.itemsize == 4 else 709  # noqa: PLR2004  # log of the largest float32, float64
        result = 1 / (1 + ctx.xp.exp(ctx.xp.minimum(-a, cap)))
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx: Step, grad: Array) -> Any:
        (result,) = ctx.saved
        return grad * result * (1 - result)


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
        return largest * (grad / largest.sum(axis=dim, keepdims=dim is not None)), None

    @classmethod
    def rowwise_shape(cls, *inputs: Any) -> Shape | None:
        return reduced_shape(*inputs)


class MatMul(Operation):
    """a @ b, over leading dims that broadcast: (..., n, k) @ (..., k, m) -> (..., n, m)."""

    @staticmethod
    def forward(ctx: Step, a: Array, b: Array) -> Array:
        ctx.save_for_backward(a, b)
        if b.ndim == 2:  # noqa: PLR2004  # one matrix for every row of a: one large product, not many small ones
            return (a.reshape(-1, a.shape[-1]) @ b).reshape(
                *a.shape[:-1], b.shape[-1]
            )  # (rows, k) @ (k, m) -> (..., n, m)
        return a @ b  # (..., n, m)

    @staticmethod
    def backward(ctx: Step, grad: Array) -> Any:
        a, b = ctx.saved
        needs_a, needs_b = ctx.needs_input_grad
        if b.ndim == 2:  # noqa: PLR2004  # as in forward
            rows = grad.reshape(-1, grad.shape[-1])  # (rows, m)
            return (
                (rows @ b.T).reshape(a.shape) if needs_a else None,  # (rows, m) @ (m, k) -> (..., n, k)
                a.reshape(-1, a.shape[-1]).T @ rows if needs_b else None,  # (k, rows) @ (rows, m) -> (k, m)
            )
        return (
            unbroadcast(grad @ b.swapaxes(-1, -2), a.shape) if needs_a else None,  # (..., n, m) @ (..., m, k)
            unbroadcast(a.swapaxes(-1, -2) @ grad, b.shape) if needs_b else None,  # (..., k, n) @ (..., n, m)
        )


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
