"""The tensor: an array, its gradient, and the step that computed it; operators apply `elementwise` and `operations`."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, TypeAlias

from . import elementwise
from . import operations as ops
from .autodiff import Node, Step, run_backward
from .backend import Array, Scalar, TensorBackend, is_array, is_scalar, to_host
from .shapes import Shape, broadcast_shape, viewed_shape, whole_numbers

Operand: TypeAlias = "Tensor | Scalar"


class Tensor(Node):
    """An array that remembers how it was computed.

    Make one with the functions in `creation`. No operation changes an existing tensor:
    `x += y` makes a new one and calls it x.

    Attributes:
        array: the elements, an array of `backend.xp`.
        backend: where it lives and of which dtype it is.
        requires_grad: whether `backward` is to find its gradient.
        grad: dL/d(self) after `backward`, for a leaf that requires it.
        step: how it was computed; None for a leaf.
    """

    __array_ufunc__ = None  # a NumPy number or array on the left hands the operator over to us
    __array_priority__ = 1000

    def __init__(
        self, array: Array, backend: TensorBackend, requires_grad: bool = False, step: Step | None = None
    ) -> None:
        self.array = array
        self.backend = backend
        self.requires_grad = requires_grad
        self.grad: Tensor | None = None
        self.step = step

    @staticmethod
    def wrap(array: Array, backend: TensorBackend, step: Step | None) -> Tensor:
        """The result of an operation, with the step that computed it where a gradient is wanted."""
        if step is None:
            return Tensor(array, backend)
        step.shape = array.shape
        return Tensor(array, backend, requires_grad=True, step=step)

    # What it is

    @property
    def shape(self) -> Shape:
        """The size of each dim."""
        return tuple(self.array.shape)

    @property
    def dims(self) -> int:
        """The number of dims."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.array.size  # type: ignore[no-any-return]  # arrays have no static type

    @property
    def dtype(self) -> Any:
        """The type of the elements."""
        return self.backend.dtype

    @property
    def is_waiting(self) -> bool:
        """Whether the elements are still to be computed; see `blocks`."""
        return False

    def is_leaf(self) -> bool:
        """Whether it was given and not computed."""
        return self.step is None

    def is_contiguous(self) -> bool:
        """Whether the elements lie in memory in the order of the dims."""
        return bool(self.array.flags.c_contiguous)

    def to_numpy(self) -> Any:
        """The elements as a NumPy array; without a copy when they are on the CPU."""
        return to_host(self.array)

    def item(self) -> float:
        """The one element as a Python number.

        Raises:
            ValueError: there is not exactly one element.
        """
        if self.size != 1:
            raise ValueError(
                f"item() of a tensor of shape {self.shape}; expected one element: index or reduce it first"
            )
        return float(self.array.reshape(-1)[0])  # (1,)

    def detach(self) -> Tensor:
        """The same elements without history: a constant in every gradient."""
        return Tensor(self.array, self.backend)

    def __float__(self) -> float:
        return self.item()

    def __int__(self) -> int:
        return int(self.item())

    def __bool__(self) -> bool:
        return bool(self.item())

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        history = (
            f", from {self.step.function.__name__}" if self.step else ", requires_grad" if self.requires_grad else ""
        )
        return f"Tensor({self.array}, shape {self.shape}{history})"

    # Gradients

    def backward(self, grad: Any = None) -> None:
        """Add dL/d(leaf) to `.grad` of every leaf behind this tensor, and free the graph.

        Args:
            grad: dL/d(self), a tensor or an array of this tensor's shape; None: 1, for a single element.

        Raises:
            ValueError: `grad` has another shape, or is missing where it is needed.
            RuntimeError: there is nothing to find a gradient of, or the graph has been used before.
        """
        if not self.requires_grad:
            raise RuntimeError(
                "backward on a tensor that nothing requiring a gradient went into; make an input with "
                "requires_grad=True, and look for a step that leaves tensors, such as to_numpy() or item()"
            )
        if grad is None and self.size != 1:
            raise ValueError(
                f"backward on shape {self.shape} without grad; reduce it first (.sum(), .mean()) or pass grad"
            )
        given = self.backend.xp.ones(self.shape) if grad is None else grad.array if isinstance(grad, Tensor) else grad
        array = self.backend.convert(given)
        if array.shape != self.shape:
            raise ValueError(f"backward got grad of shape {array.shape}; expected this tensor's shape {self.shape}")
        run_backward(self, array)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Ask for this tensor's gradient (or no longer); returns itself."""
        self.requires_grad = requires_grad
        return self

    def zero_grad_(self) -> None:
        """Forget the gradient."""
        self.grad = None

    # Arithmetic: self and other broadcast as in NumPy

    def __add__(self, other: Operand) -> Tensor:
        return elementwise.Add.apply(self, self.operand(other))

    def __sub__(self, other: Operand) -> Tensor:
        return elementwise.Sub.apply(self, self.operand(other))

    def __mul__(self, other: Operand) -> Tensor:
        return elementwise.Mul.apply(self, self.operand(other))

    def __truediv__(self, other: Operand) -> Tensor:
        return elementwise.Div.apply(self, self.operand(other))

    def __pow__(self, other: Operand) -> Tensor:
        """Any power of a number; a power of a tensor is exp(log(self) * other) and needs a positive base."""
        exponent = self.operand(other)
        return elementwise.Power.apply(self, exponent) if is_scalar(exponent) else (self.log() * exponent).exp()

    def __matmul__(self, other: Tensor) -> Tensor:
        return matmul(self, other)

    def __neg__(self) -> Tensor:
        return self * -1

    def __radd__(self, other: Operand) -> Tensor:
        return self + other

    def __rsub__(self, other: Operand) -> Tensor:
        return elementwise.Sub.apply(self.operand(other), self)

    def __rmul__(self, other: Operand) -> Tensor:
        return self * other

    def __rtruediv__(self, other: Operand) -> Tensor:
        return elementwise.Div.apply(self.operand(other), self)

    def __rpow__(self, other: Operand) -> Tensor:
        base = self.operand(other)
        return (self * math.log(base)).exp() if is_scalar(base) else base**self

    def operand(self, other: Any) -> Any:
        """What an operator got on its other side, as a tensor or a Python float.

        Raises:
            TypeError: it is neither a tensor, a number nor an array.
        """
        if isinstance(other, Tensor):
            return other
        if is_scalar(other):
            return float(other)
        if is_array(other):
            return Tensor(self.backend.array(other), self.backend)
        raise TypeError(
            f"an operator between a Tensor and {type(other).__name__}; expected a Tensor, a number or an array"
        )

    # Comparisons: 1.0 where true and 0.0 elsewhere, without history

    def __lt__(self, other: Operand) -> Tensor:
        return self.compare(operator.lt, other)

    def __le__(self, other: Operand) -> Tensor:
        return self.compare(operator.le, other)

    def __gt__(self, other: Operand) -> Tensor:
        return self.compare(operator.gt, other)

    def __ge__(self, other: Operand) -> Tensor:
        return self.compare(operator.ge, other)

    def __eq__(self, other: Operand) -> Tensor:  # type: ignore[override]  # elementwise, as in NumPy and torch
        return self.compare(operator.eq, other)

    def __ne__(self, other: Operand) -> Tensor:  # type: ignore[override]  # elementwise, as in NumPy and torch
        return self.compare(operator.ne, other)

    __hash__ = object.__hash__  # two tensors are one key only when they are one object

    def compare(self, relation: Any, other: Operand) -> Tensor:
        """1.0 where the relation holds."""
        value = self.operand(other)
        array = relation(self.array, value.array if isinstance(value, Tensor) else value)
        return Tensor(array.astype(self.dtype), self.backend)

    # Element by element

    def exp(self) -> Tensor:
        """The exponential of each element."""
        return elementwise.Exp.apply(self)

    def log(self) -> Tensor:
        """The natural logarithm of each element."""
        return elementwise.Log.apply(self)

    def tanh(self) -> Tensor:
        """The hyperbolic tangent of each element."""
        return elementwise.Tanh.apply(self)

    def sigmoid(self) -> Tensor:
        """1 / (1 + exp(-x)) of each element."""
        return elementwise.Sigmoid.apply(self)

    def relu(self) -> Tensor:
        """max(x, 0) of each element."""
        return elementwise.ReLU.apply(self)

    def sqrt(self) -> Tensor:
        """The square root of each element."""
        return self**0.5

    # Reductions: over one dim, which is kept with size 1, or over everything, to shape (1,)

    def sum(self, dim: Any = None) -> Tensor:
        """The sum."""
        return ops.Sum.apply(self, self.axis(dim))

    def mean(self, dim: Any = None) -> Tensor:
        """The mean."""
        axis = self.axis(dim)
        return self.sum(axis) * (1 / (self.size if axis is None else self.shape[axis]))

    def var(self, dim: Any = None) -> Tensor:
        """The biased variance: the mean squared distance from the mean."""
        return ((self - self.mean(dim)) ** 2).mean(dim)

    def max(self, dim: Any = None) -> Tensor:
        """The largest; its gradient goes to where it was found, in equal shares where that is several places."""
        return ops.Max.apply(self, self.axis(dim))

    def argmax(self, dim: Any = None) -> Tensor:
        """The index of the (first) largest, a tensor without history."""
        axis = self.axis(dim)
        index = self.backend.xp.argmax(self.array, axis=axis)
        index = index.reshape(1) if axis is None else self.backend.xp.expand_dims(index, axis)  # (1,) or (..., 1, ...)
        return Tensor(index.astype(self.dtype), self.backend)

    def axis(self, dim: Any) -> int | None:
        """A dim, given as any kind of whole number, counted from the front; None stays None.

        Raises:
            IndexError: the tensor has no such dim.
        """
        if dim is None:
            return None
        axis = int(dim)
        if axis != float(dim) or not -self.dims <= axis < self.dims:
            raise IndexError(f"dim {dim} of a tensor of shape {self.shape}; expected {-self.dims} to {self.dims - 1}")
        return axis % self.dims

    # Shape and layout

    def view(self, *shape: int | Sequence[int]) -> Tensor:
        """The same elements under another shape, without a copy; one size may be -1.

        Raises:
            ValueError: the elements are not contiguous, or the shape has another number of them.
        """
        sizes = viewed_shape(self.shape, whole_numbers(shape))
        if not self.is_contiguous():
            raise ValueError(
                f"view of a tensor of shape {self.shape} whose elements are not in order in memory (after permute, "
                "or of a slice); call .contiguous() first"
            )
        return ops.View.apply(self, sizes)

    def permute(self, *order: int | Sequence[int]) -> Tensor:
        """The dims in another order, without a copy: `x.permute(0, 2, 1)` swaps the last two of three.

        Raises:
            ValueError: `order` does not name every dim once.
        """
        dims = whole_numbers(order)
        axes = tuple(dim + self.dims if dim < 0 else dim for dim in dims)
        if sorted(axes) != list(range(self.dims)):
            raise ValueError(f"permute{dims} of a tensor of shape {self.shape}; name each of its {self.dims} dims once")
        return ops.Permute.apply(self, axes)

    def contiguous(self) -> Tensor:
        """The same tensor with its elements in order in memory: itself where they are, a copy where not."""
        return self if self.is_contiguous() else ops.Contiguous.apply(self)

    def __getitem__(self, key: Any) -> Tensor:
        """Elements by integers, slices, lists, arrays or tensors of integers, as in NumPy."""
        parts = tuple(self.index_of(part) for part in key) if isinstance(key, tuple) else self.index_of(key)
        try:
            return ops.Index.apply(self, parts)
        except IndexError as error:
            raise IndexError(f"index {key} of a tensor of shape {self.shape}: {error}") from None

    def index_of(self, part: Any) -> Any:
        """One part of an index: a tensor's elements as whole numbers, arrays where this tensor is, others as they are.

        Raises:
            IndexError: a tensor's elements are not whole numbers.
        """
        if not isinstance(part, Tensor):
            return self.backend.brought(part) if is_array(part) else part
        index = part.array.astype("int64")
        if not (index == part.array).all():
            raise IndexError("a tensor used as an index has elements that are not whole numbers")
        return self.backend.brought(index)

    def __setitem__(self, key: Any, value: Any) -> None:
        raise TypeError(
            f"writing to a part of a tensor of shape {self.shape}: tensors do not change, gradients would be wrong; "
            "build the array first and call tensor_from_numpy, or combine tensors with masks of 0 and 1"
        )


def matmul(a: Tensor, b: Tensor) -> Tensor:
    """The product a @ b of the last two dims; leading dims broadcast: (..., n, k) @ (..., k, m) -> (..., n, m).

    Raises:
        TypeError: one of them is no tensor.
        ValueError: a tensor of one dim, or shapes that do not fit.
    """
    if is_array(b):
        b = a.operand(b)
    if not isinstance(b, Tensor):
        raise TypeError(f"Tensor @ {type(b).__name__}; expected a Tensor")
    least = 2
    if a.dims < least or b.dims < least:
        raise ValueError(f"{a.shape} @ {b.shape}; both need two dims or more: use view to add one")
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(f"{a.shape} @ {b.shape}; the last dim of the left must equal the second last of the right")
    try:
        return ops.MatMul.apply(a, b)
    except ValueError:
        broadcast_shape(a.shape[:-2], b.shape[:-2])  # says which shapes do not fit
        raise
