"""Large expressions, computed a few rows at a time: the one optimisation here that puts work off.

The framework is complete without this file. With it, operations on large tensors wait until somebody looks at the
elements. By then a whole expression is known, such as a GELU, a layer norm or a softmax, and it is computed in blocks
of rows (of the first dim) that stay in the processor's cache. Only the inputs of the expression are kept for backward,
which computes each block again and goes back through it in the ordinary way. Measured on the full training
step of tests/benchmarks in float32 (AVX2, a busy machine): a quarter less memory, and 2 to 20 % less time.

An operation can wait if each row of its result needs only the same row of its arguments (`Function.rowwise_shape`): all
that work element by element, and reductions over any dim but the first. Everything else sees finished arrays.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from . import autodiff
from .autodiff import Function, Step, run_backward
from .backend import Array, TensorBackend
from .elementwise import Detach, Elementwise
from .shapes import Shape, viewed_shape, whole_numbers
from .tensor import Tensor

LARGE = 1 << 21
"""Elements from which it pays to wait: 8 MiB of float32, of which a few no longer fit in the cache."""

BLOCK = 1 << 17
"""Elements in a block: 512 KiB of float32."""

LONGEST = 64
"""Operations in one expression; a longer one is computed in parts."""


class Expression:
    """An operation that waits.

    Attributes:
        function: the operation.
        arguments: expressions that wait too, tensors that do not, and whatever is no tensor.
        shape: of the result.
        backend: of the result.
        length: how many operations it takes, at most.
        user: the (id of the) expression that it was last computed for, on the way and without being kept.
    """

    def __init__(
        self, function: type[Function], arguments: tuple[Any, ...], shape: Shape, backend: TensorBackend
    ) -> None:
        self.function = function
        self.arguments = arguments
        self.shape = shape
        self.backend = backend
        self.length: int = 1 + sum(part.length for part in arguments if isinstance(part, Expression))
        self.user: int | None = None
        self.result: Tensor | None = None

    def finished(self) -> Tensor:
        """The result, computed when first asked for and then kept, with its place in the history."""
        if self.result is None:
            program = Program(self)
            if program.lines == 1:  # nothing to gain
                self.result = program.run(program.leaves)
            else:
                self.result = Blocks.compute((program, *program.leaves))
            self.arguments = ()
        return self.result


class Deferred(Tensor):
    """A tensor whose elements are computed when somebody looks at them."""

    def __init__(self, expression: Expression, requires_grad: bool) -> None:
        self.expression = expression
        self.backend = expression.backend
        self.requires_grad = requires_grad
        self.grad = None

    @functools.cached_property
    def array(self) -> Array:  # computed when first asked for, then an attribute like any other
        """The elements."""
        return self.expression.finished().array

    @functools.cached_property
    def step(self) -> Step | None:  # type: ignore[override]  # as for `array`
        """How it was computed."""
        return self.expression.finished().step

    @property
    def shape(self) -> Shape:
        """The size of each dim."""
        return self.expression.shape

    @property
    def is_waiting(self) -> bool:
        """Whether the elements are still to be computed."""
        return self.expression.result is None

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    def is_contiguous(self) -> bool:
        """Always: every operation that can wait leaves its result in order."""
        return True

    def detach(self) -> Tensor:
        """The same elements without history, which may wait as well."""
        if not self.is_waiting:
            return super().detach()
        return Deferred(Expression(Detach, (self.expression,), self.shape, self.backend), requires_grad=False)

    def view(self, *shape: int | Sequence[int]) -> Tensor:
        """The same elements under another shape.

        One operation that waits, viewed as a matrix of the same rows, waits as that matrix: in the loss of
        `logits.view(rows, classes)` the bias is then added block by block, and the logits are never in memory as such.
        """
        sizes = viewed_shape(self.shape, whole_numbers(shape))
        function, arguments = self.expression.function, self.expression.arguments
        simple = issubclass(function, Elementwise) and not any(isinstance(part, Expression) for part in arguments)
        matrix = len(sizes) == 2 and sizes[-1] == self.shape[-1]  # noqa: PLR2004  # rows and columns
        fits = [part.shape in {self.shape, self.shape[-1:]} for part in arguments if isinstance(part, Tensor)]
        if not (self.is_waiting and simple and matrix and all(fits)):
            return super().view(sizes)
        viewed = tuple(
            part.contiguous().view(sizes) if isinstance(part, Tensor) and part.shape == self.shape else part
            for part in arguments
        )  # (..., classes) -> (rows, classes)
        return Deferred(Expression(function, viewed, sizes, self.backend), self.requires_grad)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Ask for this tensor's gradient (or no longer); returns itself."""
        self.step = self.expression.finished().step  # before the answer to "does it have one" changes
        return super().requires_grad_(requires_grad)


def postpone(function: type[Function], inputs: tuple[Any, ...], backend: TensorBackend) -> Tensor | None:
    """The operation as a tensor that waits; None where it is small or needs other rows: it is then computed at once."""
    for value in inputs:
        if isinstance(value, Tensor) and (value.is_waiting or value.size >= LARGE):
            break
    else:
        return None
    shape = function.rowwise_shape(*inputs)
    if shape is None or shape[0] == 1 or not backend.on_cpu:
        return None
    arguments = tuple(
        value.expression if isinstance(value, Deferred) and value.is_waiting and has_rows(value.shape, shape) else value
        for value in inputs
    )
    expression = Expression(function, arguments, shape, backend)
    if expression.length > LONGEST:
        expression = Expression(function, inputs, shape, backend)
    return Deferred(expression, requires_grad=any(value.requires_grad for value in inputs if isinstance(value, Tensor)))


def has_rows(shape: Shape, whole: Shape) -> bool:
    """Whether an argument of this shape has a row for each row of the whole; if not, it is the same for all rows."""
    return len(shape) == len(whole) and shape[0] == whole[0]


class Place(int):
    """The number of an entry of a program, where it stands among arguments."""


class Line(NamedTuple):
    """One operation of a program."""

    function: type[Function]
    arguments: tuple[Any, ...]


class Program:
    """An expression as entries to go through once: a `Place` among the leaves, or a line whose arguments came before.

    Attributes:
        entries: in the order of computation; the last one is the result.
        leaves: the tensors that it starts from, each once.
        shape: of the result.
        backend: of the result.
        lines: how many operations there are.
        rows: how many rows make a block.
    """

    def __init__(self, expression: Expression) -> None:
        self.entries: list[Place | Line] = []
        self.leaves: list[Tensor] = []
        self.shape = expression.shape
        self.backend = expression.backend
        self.places: dict[int, Place] = {}
        self.widest = 1
        self.enter(expression)
        self.lines = len(self.entries) - len(self.leaves)
        self.rows = max(1, BLOCK * self.shape[0] // self.widest)

    def argument(self, part: Any, user: Expression) -> Any:
        """An argument as it stands in a line: the place of an expression or a tensor, anything else as it is."""
        if isinstance(part, Expression) and id(part) not in self.places:
            if part.result is not None or part.user not in {None, id(user)}:  # others use it too: now it is kept
                part = part.finished()
            else:
                part.user = id(user)
        if not isinstance(part, Expression | Tensor):
            return part
        return self.places[id(part)] if id(part) in self.places else self.enter(part)

    def enter(self, part: Expression | Tensor) -> Place:
        """Add an entry, after those that it needs."""
        if has_rows(part.shape, self.shape):
            self.widest = max(self.widest, math.prod(part.shape))
        if isinstance(part, Tensor):
            entry: Place | Line = Place(len(self.leaves))
            self.leaves.append(part)
        else:
            entry = Line(part.function, tuple(self.argument(value, part) for value in part.arguments))
        self.entries.append(entry)
        self.places[id(part)] = Place(len(self.entries) - 1)
        return self.places[id(part)]

    def blocks(self) -> list[slice]:
        """The rows of each block."""
        return [slice(start, start + self.rows) for start in range(0, self.shape[0], self.rows)]

    def run(self, leaves: list[Tensor]) -> Tensor:
        """The result from these leaves, or from the same rows of all of them."""
        values: list[Tensor] = []
        for entry in self.entries:
            if isinstance(entry, Place):
                values.append(leaves[entry])
            else:
                arguments = tuple(values[part] if isinstance(part, Place) else part for part in entry.arguments)
                values.append(entry.function.compute(arguments))
        return values[-1]


class Blocks(Function):
    """A program as one operation on its leaves."""

    gradients_are_new = True

    @staticmethod
    def forward(ctx: Step, program: Program, *leaves: Array) -> Array:
        """Run it on each block."""
        ctx.save_for_backward(program, leaves)
        backend = program.backend
        result = backend.xp.empty(program.shape, dtype=backend.dtype)
        split = [has_rows(leaf.shape, program.shape) for leaf in leaves]
        for rows in program.blocks():
            parts = [Tensor(leaf[rows] if cut else leaf, backend) for leaf, cut in zip(leaves, split, strict=True)]
            result[rows] = program.run(parts).array
        return result

    @staticmethod
    def backward(ctx: Step, grad_output: Array) -> Any:
        """Run it again on each block, and back through it. Leaves that are the same for all rows collect gradients."""
        program, leaves = ctx.saved
        backend = program.backend
        needs = ctx.needs_input_grad[1:]
        split = [has_rows(leaf.shape, program.shape) for leaf in leaves]
        whole = [Tensor(leaf, backend, needed) for leaf, needed in zip(leaves, needs, strict=True)]
        gradients: list[Array | None] = [None] * len(leaves)
        for rows in program.blocks():
            parts = [
                Tensor(leaf.array[rows], backend, leaf.requires_grad) if cut else leaf
                for leaf, cut in zip(whole, split, strict=True)
            ]
            run_backward(program.run(parts), grad_output[rows])
            for number, (part, cut) in enumerate(zip(parts, split, strict=True)):
                if part.grad is not None and not cut:
                    gradients[number] = part.grad.array
                elif part.grad is not None:
                    whole_gradient = gradients[number]
                    if whole_gradient is None:
                        whole_gradient = gradients[number] = backend.xp.empty(leaves[number].shape, backend.dtype)
                    whole_gradient[rows] = part.grad.array
        return None, *gradients


autodiff.postponers.append(postpone)
