"""Modules: things with parameters that are called, and that may contain one another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .tensor import Tensor

ForwardHook = Callable[["Module", tuple[Any, ...], Any], Any]


class Parameter:
    """A tensor that is learned.

    Attributes:
        value: the tensor; it always requires a gradient and has no history, whatever is assigned.
        name: for people.
    """

    def __init__(self, value: Tensor, name: str | None = None) -> None:
        self.name = name
        self.value = value

    @property
    def value(self) -> Tensor:
        """The tensor, as it is used in `forward`."""
        return self._value

    @value.setter
    def value(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"a Parameter got {type(value).__name__}; expected a Tensor: wrap with tensor(...)")
        self._value = Tensor(value.array, value.backend, requires_grad=True)

    @property
    def grad(self) -> Tensor | None:
        """The gradient that the last backward passes left."""
        return self._value.grad

    def update(self, value: Tensor) -> None:
        """Take another value, as an optimiser does; the gradient is forgotten."""
        self.value = value

    def zero_grad_(self) -> None:
        """Forget the gradient."""
        self._value.zero_grad_()

    def __repr__(self) -> str:
        return f"Parameter({self.name or ''} {self._value.shape})"


class Module:
    """Something with parameters that is called: write `__init__`, first in it `super().__init__()`, and `forward`.

    A `Parameter` or a `Module` that is assigned to an attribute becomes part of it, under the attribute's name; any
    other value, None too, is an ordinary attribute.

    Attributes:
        training: True in training mode, False in evaluation mode.
    """

    training: bool
    _parameters: dict[str, Parameter]
    _modules: dict[str, Module]

    def __init__(self) -> None:
        object.__setattr__(self, "_parameters", {})
        object.__setattr__(self, "_modules", {})
        self._forward_hooks: dict[int, ForwardHook] = {}
        self.training = True

    def __setattr__(self, name: str, value: Any) -> None:
        if "_modules" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__}.{name} was set before super().__init__(); call that first")
        for registry in (self._parameters, self._modules, self.__dict__):
            registry.pop(name, None)
        if isinstance(value, Parameter):
            self._parameters[name] = value
        elif isinstance(value, Module):
            self._modules[name] = value
        else:
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        for registry in ("_parameters", "_modules"):
            found = self.__dict__.get(registry, {})
            if name in found:
                return found[name]
        raise AttributeError(
            f"{type(self).__name__} has no attribute {name!r}; set it in __init__ as self.{name} = ..."
        )

    def __delattr__(self, name: str) -> None:
        for registry in (self._parameters, self._modules, self.__dict__):
            if name in registry:
                del registry[name]
                return
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def forward(self, *inputs: Any, **keywords: Any) -> Any:
        """What calling the module does."""
        raise NotImplementedError(f"{type(self).__name__}.forward, called with {len(inputs) + len(keywords)} inputs")

    def __call__(self, *inputs: Any, **keywords: Any) -> Any:
        """Run `forward`, then the hooks."""
        output = self.forward(*inputs, **keywords)
        for hook in tuple(self._forward_hooks.values()):
            replaced = hook(self, inputs, output)
            output = output if replaced is None else replaced
        return output

    def register_forward_hook(self, hook: ForwardHook) -> Callable[[], None]:
        """Call `hook(module, inputs, output)` after each forward; what it returns, if not None, replaces the output.

        Returns:
            A function that removes the hook.
        """
        key = max(self._forward_hooks, default=0) + 1
        self._forward_hooks[key] = hook
        return lambda: self._forward_hooks.pop(key, None) and None

    def add_parameter(self, name: str, value: Tensor) -> Parameter:
        """Register a parameter under a name; the same as assigning `Parameter(value, name)` to that attribute."""
        parameter = Parameter(value, name)
        setattr(self, name, parameter)
        return parameter

    def named_modules(self) -> list[tuple[str, Module]]:
        """This module as "" and all within it, with their dotted names."""
        found: list[tuple[str, Module]] = [("", self)]
        for name, child in self._modules.items():
            found += [(f"{name}.{inner}" if inner else name, module) for inner, module in child.named_modules()]
        return found

    def modules(self) -> list[Module]:
        """This module and all within it."""
        return [module for _, module in self.named_modules()]

    def named_parameters(self) -> list[tuple[str, Parameter]]:
        """All parameters with their dotted names: "attention.q_projection.weights"."""
        return [
            (f"{path}.{name}" if path else name, parameter)
            for path, module in self.named_modules()
            for name, parameter in module._parameters.items()  # noqa: SLF001  # the same class
        ]

    def parameters(self) -> list[Parameter]:
        """All parameters, each once."""
        return list({id(parameter): parameter for _, parameter in self.named_parameters()}.values())

    def train(self) -> None:
        """Switch this module and all within it to training mode."""
        for module in self.modules():
            module.training = True

    def eval(self) -> None:
        """Switch this module and all within it to evaluation mode."""
        for module in self.modules():
            module.training = False

    def zero_grad(self) -> None:
        """Forget the gradients of all parameters."""
        for parameter in self.parameters():
            parameter.zero_grad_()

    def state(self) -> dict[str, Any]:
        """A copy of every parameter as a NumPy array, by dotted name."""
        return {name: parameter.value.to_numpy().copy() for name, parameter in self.named_parameters()}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Set every parameter from `state`, which must name exactly the parameters there are.

        Raises:
            KeyError: names are missing or too many.
            ValueError: an array has another shape than its parameter.
        """
        own = dict(self.named_parameters())
        if own.keys() != state.keys():
            missing, surplus = sorted(own.keys() - state.keys()), sorted(state.keys() - own.keys())
            raise KeyError(
                f"a state with missing {missing} and unknown {surplus}; build the model as when it was saved"
            )
        for name, parameter in own.items():
            backend, shape = parameter.value.backend, parameter.value.shape
            if tuple(state[name].shape) != shape:
                raise ValueError(f"{name} arrived with shape {tuple(state[name].shape)}; expected {shape}")
            parameter.update(Tensor(backend.array(state[name]), backend))
