"""The primitive operations that work element by element, each with its backward rule beside it.

In each rule `grad` is dL/d(result). Two arrays broadcast as in NumPy; backward then sums the gradient over what was
broadcast (`unbroadcast`). An argument that is a plain number has no gradient. A rule computes into the first new array
that it makes (`slope *= grad`), which saves memory and time; the formula is in the docstring.
"""
# ruff: noqa: D102  # each operation's docstring says what its rules are about

from __future__ import annotations

from typing import Any

from .autodiff import Operation, Step
from .backend import Array
from .shapes import Shape, broadcast_shape, shape_of, unbroadcast


class Elementwise(Operation):
    """A primitive that works element by element, on numbers and on arrays that broadcast."""

    in_order = True

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
        slope = a * n if n == 2 else n * power(ctx.xp, a, n - 1)  # noqa: PLR2004  # the square: one product less
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


class Detach(Elementwise):
    """The same elements without history: `Tensor.detach` as an operation, for expressions that wait (`blocks`)."""

    @classmethod
    def compute(cls, inputs: tuple[Any, ...]) -> Any:
        return inputs[0].detach()
