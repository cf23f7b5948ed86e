"""Reverse-mode automatic differentiation: operations that remember, and the walk back over what they remember.

An operation is a `Function` subclass with two static methods on plain arrays. Applying it to tensors computes its value
and leaves a `Step` on the result: the function, where the gradients of its inputs go, and what it saved. `run_backward`
visits the steps in reverse order, each once, when everything computed from its result has already been visited.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from .backend import Array, TensorBackend, common_backend, is_array

if TYPE_CHECKING:
    from .tensor import Tensor

Observer = Callable[[str, "tuple[tuple[int, ...], ...]", "tuple[int, ...]"], None]

observers: list[Observer] = []
"""Called after each operation with its name, the shapes of its tensors and of its result; see `tools.trace_shapes`."""

postponers: list[Callable[[type[Function], tuple[Any, ...], TensorBackend], Tensor | None]] = []
"""Asked before an operation is computed whether it can wait; see `blocks`. With none, all is computed at once."""


class Node:
    """What this file needs to know of a tensor; see `tensor.Tensor`, the only kind."""

    array: Array
    backend: TensorBackend
    requires_grad: bool
    grad: Any
    step: Step | None

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each dim."""
        return self.array.shape  # type: ignore[no-any-return]  # arrays have no static type

    def source(self) -> Step | Node | None:
        """Where this tensor's gradient goes: to the step that computed it, to itself if it is a leaf, or nowhere."""
        return (self.step or self) if self.requires_grad else None

    @staticmethod
    def wrap(array: Array, backend: TensorBackend, step: Step | None) -> Any:
        """An array as a tensor; with the step that computed it if anyone wants a gradient."""
        raise NotImplementedError


class Step:
    """One applied operation, the `ctx` of its rules: what backward needs to know.

    Attributes:
        function: the operation.
        sources: for each argument, where its gradient goes (`Node.source`). The argument itself is not kept: only what
            a rule saves.
        xp: the array module.
        shape: of the result.
        saved: what `save_for_backward` was given.
        pending: the gradient of the result, while it is being collected.
        pending_is_ours: whether nobody else can see the array `pending`, so that it may be added to in place.
        released: whether backward has been here and let go of everything.
    """

    shape: tuple[int, ...] = ()
    saved: tuple[Any, ...] = ()
    pending: Array | None = None
    pending_is_ours: bool = False
    released: bool = False

    def __init__(self, function: type[Function], sources: list[Step | Node | None], xp: Any) -> None:
        self.function = function
        self.sources = sources
        self.xp = xp

    @property
    def needs_input_grad(self) -> list[bool]:
        """For each argument, whether anyone wants its gradient."""
        return [source is not None for source in self.sources]

    def save_for_backward(self, *values: Any) -> None:
        """Keep values, usually arrays, until the backward rule reads them from `ctx.saved`."""
        self.saved = values

    def release(self) -> None:
        """Let go of everything, so that memory falls as backward goes."""
        self.sources = []
        self.saved = ()
        self.pending = None
        self.released = True


class Function:
    """An operation with its gradient. Subclass it and write both rules; `apply` it to tensors.

    Both rules work on plain arrays. `forward(ctx, *arguments)` gets each tensor as its array and every other argument
    as it is, and returns an array. `backward(ctx, grad_output)` gets dL/d(result) and returns dL/d(argument): one
    array, or a tuple with one entry for each argument, None where there is no gradient.
    """

    gradients_are_new: ClassVar[bool] = False
    """Promise that `backward` returns no array that it or anyone keeps; the sum of gradients then needs no copy."""

    in_order: ClassVar[bool] = False
    """Whether the result's elements lie in memory in the order of its dims, whatever the order of the inputs'."""

    @staticmethod
    def forward(ctx: Step, *arguments: Any) -> Array:
        """The value of the operation."""
        raise NotImplementedError(
            f"a Function needs a static forward(ctx, ...), called with {len(arguments)} arguments"
        )

    @staticmethod
    def backward(ctx: Step, grad_output: Array) -> Any:
        """The gradient for each argument, from the gradient of the value."""
        raise NotImplementedError(f"{ctx.function.__name__} needs a static backward(ctx, grad_output)")

    @classmethod
    def rowwise_shape(cls, *inputs: Any) -> tuple[int, ...] | None:  # noqa: ARG003  # for those that override it
        """The result's shape if each of its rows needs only that row of the inputs; None: not so, or not known."""
        return None

    @classmethod
    def apply(cls, *inputs: Any) -> Tensor:
        """The operation's value as a tensor that knows where it came from.

        Raises:
            TypeError: no tensor among the arguments, tensors that cannot meet, or `forward` returned no array.
        """
        backends = [value.backend for value in inputs if isinstance(value, Node)]
        if not backends or backends.count(backends[0]) != len(backends):
            inputs = on_one_backend(cls, inputs, backends)
        if observers:
            return observed(cls, inputs)
        for postpone in postponers:
            waiting = postpone(cls, inputs, backends[0])
            if waiting is not None:
                return waiting
        return cls.compute(inputs)

    @classmethod
    def compute(cls, inputs: tuple[Any, ...]) -> Tensor:
        """The operation's value, at once, for inputs on one backend."""
        arrays, sources, some, wanted = [], [], None, False
        for value in inputs:
            if isinstance(value, Node):
                some = value
                wanted = wanted or value.requires_grad
                arrays.append(value.array)
                sources.append(value.source())
            else:
                arrays.append(value)
                sources.append(None)
        assert some is not None  # `apply` has seen to it
        step = Step(cls, sources, some.backend.xp)
        try:
            array = cls.forward(step, *arrays)
        except ValueError:
            cls.rowwise_shape(*inputs)  # says it better, where shapes do not fit together
            raise
        if not is_array(array):
            raise TypeError(f"{cls.__name__}.forward returned {type(array).__name__}; expected an array")
        if cls.in_order and not array.flags.c_contiguous:
            array = step.xp.ascontiguousarray(array)
        return some.wrap(array, some.backend, step if wanted else None)  # type: ignore[no-any-return]  # Node.wrap is Tensor.wrap


class Operation(Function):
    """A primitive: its backward rule returns only new arrays, views, or `grad` itself."""

    gradients_are_new = True


def observed(function: type[Function], inputs: tuple[Any, ...]) -> Tensor:
    """The operation's value, told to the observers."""
    result = function.compute(inputs)
    shapes = tuple(value.shape for value in inputs if isinstance(value, Node))
    for observer in tuple(observers):
        observer(function.__name__, shapes, result.shape)
    return result


class Convert(Function):
    """A tensor on another backend; the gradient goes back to the first."""

    @staticmethod
    def forward(ctx: Step, *arguments: Any) -> Array:
        """The array on the target backend."""
        a, source, target = arguments
        ctx.save_for_backward(source)
        return target.convert(a)

    @staticmethod
    def backward(ctx: Step, grad_output: Array) -> Any:
        """The gradient on the source backend."""
        (source,) = ctx.saved
        return source.convert(grad_output), None, None


def on_one_backend(function: type[Function], inputs: tuple[Any, ...], backends: list[TensorBackend]) -> tuple[Any, ...]:
    """The inputs with all tensors on one backend, which becomes the first of the backends.

    Raises:
        TypeError: there is no tensor, or they are on different devices.
    """
    if not backends:
        kinds = ", ".join(type(value).__name__ for value in inputs)
        raise TypeError(
            f"{function.__name__} was applied to ({kinds}); expected at least one Tensor: wrap with tensor(...)"
        )
    target = functools.reduce(common_backend, backends)
    backends[0] = target
    return tuple(
        converted(value, target) if isinstance(value, Node) and value.backend is not target else value
        for value in inputs
    )


def converted(tensor: Node, target: TensorBackend) -> Any:
    """The tensor on another backend, with its history."""
    step = Step(Convert, [tensor.source(), None, None], target.xp)
    array = Convert.forward(step, tensor.array, tensor.backend, target)
    return tensor.wrap(array, target, step if tensor.requires_grad else None)


def run_backward(root: Node, gradient: Array) -> None:
    """Add dL/d(leaf) to `.grad` of every leaf that `root` was computed from, given dL/d(root); frees the graph.

    Raises:
        RuntimeError: backward has already been through this graph, or a rule returned a wrong number of gradients.
    """
    source = root.source()
    if source is None:
        return
    order = backward_order(source)
    deposit(source, gradient, ours=False)
    for step in order:
        grad_output = step.pending
        if grad_output is None:  # those who used the result gave it no gradient
            step.release()
            continue
        gradients = step.function.backward(step, grad_output)
        if not isinstance(gradients, tuple):
            gradients = (gradients,)
        if len(gradients) != len(step.sources):
            raise RuntimeError(
                f"{step.function.__name__}.backward returned {len(gradients)} gradients for {len(step.sources)} "
                "arguments; return one for each, None where there is no gradient"
            )
        for source, part in zip(step.sources, gradients, strict=True):
            if source is not None and part is not None:
                ours = step.function.gradients_are_new and part is not grad_output and part.base is None
                deposit(source, part, ours=ours)
        step.release()


def backward_order(root: Step | Node) -> list[Step]:
    """The steps behind `root`, each after every step that used its result: a depth-first search without recursion."""
    order: list[Step] = []
    seen: set[int] = set()
    stack: list[tuple[Step, bool]] = [(root, False)] if isinstance(root, Step) else []
    while stack:
        step, sources_done = stack.pop()
        if sources_done:
            order.append(step)
        elif id(step) not in seen:
            seen.add(id(step))
            if step.released:
                raise RuntimeError(
                    "backward went through this graph before and freed it; compute the output again before a second "
                    "backward, or add the losses and call backward once"
                )
            stack.append((step, True))
            stack.extend((source, False) for source in step.sources if isinstance(source, Step))
    order.reverse()
    return order


def deposit(source: Step | Node, gradient: Array, *, ours: bool) -> None:
    """Add a gradient to what has been collected there; in place where the array is nobody else's.

    Raises:
        RuntimeError: the gradient has another shape than the value.
    """
    if gradient.shape != source.shape:
        raise RuntimeError(f"a gradient of shape {gradient.shape} arrived for a value of shape {source.shape}")
    if not isinstance(source, Step):
        if source.grad is None:
            source.grad = source.wrap(gradient if ours else gradient.copy(), source.backend, None)
        else:
            source.grad.array += gradient
    elif source.pending is None:
        source.pending, source.pending_is_ours = gradient, ours
    elif source.pending_is_ours:
        source.pending += gradient
    elif ours:
        gradient += source.pending
        source.pending, source.pending_is_ours = gradient, True
    else:
        source.pending, source.pending_is_ours = source.pending + gradient, True
