"""Reverse-mode automatic differentiation: operations that remember, and the walk back over what they remember.

An operation is a `Function` subclass with two static methods on plain arrays. Applying it to tensors computes its value
and leaves a `Step` on the result: the function, its inputs and what it saved. `run_backward` visits the steps in
reverse order, each once, when everything that was computed from its result has already been visited.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from .backend import Array, TensorBackend, common_backend, is_array

if TYPE_CHECKING:
    from .tensor import Tensor

Observer = Callable[[str, "tuple[tuple[int, ...], ...]", "tuple[int, ...]"], None]

observers: list[Observer] = []
"""Called after each operation with its name, the shapes of its tensors and of its result; see `tools.trace_shapes`."""

postponers: list[Callable[[type[Function], tuple[Any, ...], TensorBackend], Tensor | None]] = []
"""Asked before an operation is computed whether it may wait; see `blocks`. With none, everything is computed at once."""


class Step:
    """One applied operation, the `ctx` of its rules: what backward needs to know.

    Attributes:
        function: the operation.
        shape: of the result.
        sources: for each argument, where its gradient goes: the step that computed it, the leaf tensor that it is, or
            None where there is no gradient. The arrays of the arguments are kept only where a rule saves them.
        saved: what `save_for_backward` was given.
        xp: the array module.
        pending: the gradient of the result, while it is being collected.
        pending_is_ours: whether nobody else can see the array `pending`, so that it may be added to in place.
        released: whether backward has been here and let go of everything.
    """

    def __init__(self, function: type[Function], sources: tuple[Step | Tensor | None, ...], xp: Any) -> None:
        self.function = function
        self.shape: tuple[int, ...] = ()
        self.sources = sources
        self.saved: tuple[Any, ...] = ()
        self.xp = xp
        self.pending: Array | None = None
        self.pending_is_ours = False
        self.released = False

    @property
    def needs_input_grad(self) -> tuple[bool, ...]:
        """For each argument, whether anyone wants its gradient."""
        return tuple([source is not None for source in self.sources])

    def save_for_backward(self, *values: Any) -> None:
        """Keep values, usually arrays, until the backward rule reads them from `ctx.saved`."""
        self.saved = values

    def release(self) -> None:
        """Let go of everything saved, so that memory falls as backward goes."""
        self.sources = self.saved = ()
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
    def apply(cls, *inputs: Any) -> Tensor:
        """The operation's value as a tensor that knows where it came from.

        Raises:
            TypeError: no tensor among the arguments, or `forward` returned no array.
        """
        inputs, backend = on_one_backend(cls, inputs)
        if observers:
            result = cls.compute(inputs)
            shapes = tuple(value.shape for value in inputs if is_tensor(value))
            for observer in tuple(observers):
                observer(cls.__name__, shapes, result.shape)
            return result
        for postpone in postponers:
            waiting = postpone(cls, inputs, backend)
            if waiting is not None:
                return waiting
        return cls.compute(inputs)

    @classmethod
    def compute(cls, inputs: tuple[Any, ...]) -> Tensor:
        """The operation's value, at once, for inputs on one backend."""
        tensor = next(value for value in inputs if is_tensor(value))
        step = Step(cls, tuple([source_of(value) for value in inputs]), tensor.backend.xp)
        array = cls.forward(step, *[value.array if is_tensor(value) else value for value in inputs])
        if not is_array(array):
            raise TypeError(f"{cls.__name__}.forward returned {type(array).__name__}; expected an array")
        return tensor.wrap(array, tensor.backend, step)  # type: ignore[no-any-return]  # is_tensor says that it is one

    @classmethod
    def rowwise_shape(cls, *inputs: Any) -> tuple[int, ...] | None:  # noqa: ARG003  # for those that override it
        """The result's shape if each of its rows needs only that row of the inputs; None: not so, or not known."""
        return None


class Convert(Function):
    """A tensor on another backend; the gradient goes back to the first."""

    @staticmethod
    def forward(ctx: Step, a: Array, source: Any, target: Any) -> Array:
        """The array on the target backend."""
        ctx.save_for_backward(source)
        return target.convert(a)

    @staticmethod
    def backward(ctx: Step, grad_output: Array) -> Any:
        """The gradient on the source backend."""
        (source,) = ctx.saved
        return source.convert(grad_output), None, None

    @classmethod
    def apply(cls, *inputs: Any) -> Tensor:
        """`Convert.apply(tensor, source, target)`."""
        tensor, source, target = inputs
        step = Step(cls, (source_of(tensor), None, None), target.xp)
        return tensor.wrap(cls.forward(step, tensor.array, source, target), target, step)  # type: ignore[no-any-return]  # is_tensor


def is_tensor(value: object) -> bool:
    """Whether `value` is a tensor: by its mark and not by its class, which is on the floor above."""
    return getattr(value, "is_framework_tensor", False)


def source_of(value: Any) -> Step | Tensor | None:
    """Where a gradient for this argument goes: see `Step.sources`."""
    if not is_tensor(value) or not value.requires_grad:
        return None
    return value if value.step is None else value.step  # type: ignore[no-any-return]  # is_tensor says that it is one


def on_one_backend(function: type[Function], inputs: tuple[Any, ...]) -> tuple[tuple[Any, ...], TensorBackend]:
    """The inputs with all tensors on one backend, and that backend."""
    tensors = [value for value in inputs if is_tensor(value)]
    if not tensors:
        kinds = ", ".join(type(value).__name__ for value in inputs)
        raise TypeError(
            f"{function.__name__} was applied to ({kinds}); expected at least one Tensor: wrap with tensor(...)"
        )
    backend: TensorBackend = tensors[0].backend
    if all(other.backend is backend for other in tensors):
        return inputs, backend
    for other in tensors:
        backend = common_backend(backend, other.backend)
    moved = tuple(
        Convert.apply(value, value.backend, backend) if is_tensor(value) and value.backend is not backend else value
        for value in inputs
    )
    return moved, backend


def run_backward(root: Tensor, gradient: Array) -> None:
    """Add dL/d(leaf) to `.grad` of every leaf that `root` was computed from, given dL/d(root); frees the graph.

    Raises:
        RuntimeError: backward has already been through this graph, or a rule returned a wrong number of gradients.
    """
    source = source_of(root)
    if source is None:
        return
    order = backward_order(source)
    deposit(source, gradient, ours=False)
    for step in order:
        grad_output = step.pending
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


def backward_order(root: Step | Tensor) -> list[Step]:
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


def deposit(source: Step | Tensor, gradient: Array, *, ours: bool) -> None:
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
