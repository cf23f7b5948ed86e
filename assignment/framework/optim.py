"""Optimisers and what goes with them: the learning rate's schedule, and the average of checkpoints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .backend import Array
from .module import Parameter
from .tensor import Tensor


class Optimizer:
    """Updates parameters from their gradients; those without one are left alone.

    Args:
        parameters: what to update.
        lr: the learning rate; may be changed between steps.
    """

    def __init__(self, parameters: Iterable[Parameter], lr: float) -> None:
        self.parameters = list({id(parameter): parameter for parameter in parameters}.values())
        self.lr = lr

    def zero_grad(self) -> None:
        """Forget all gradients: call it before each backward, or they add up."""
        for parameter in self.parameters:
            parameter.zero_grad_()

    def step(self) -> None:
        """Move every parameter that has a gradient."""
        for index, parameter in enumerate(self.parameters):
            if parameter.grad is not None:
                value = parameter.value
                parameter.value = Tensor(
                    value.array - self.move(index, parameter.grad.array, value.backend.xp), value.backend
                )
                parameter.value.grad = value.grad

    def move(self, index: int, grad: Array, xp: Any) -> Array:
        """What to subtract from parameter `index`, given its gradient."""
        raise NotImplementedError(f"{type(self).__name__}.move")


class SGD(Optimizer):
    """Stochastic gradient descent: value - lr * grad."""

    def move(self, index: int, grad: Array, xp: Any) -> Array:  # noqa: ARG002  # the optimisers' common signature
        """The gradient, scaled."""
        return grad * float(self.lr)


class Adam(Optimizer):
    """Adam, with both moments corrected for their start at zero (Kingma and Ba 2015, algorithm 1).

    Args:
        parameters: what to update.
        lr: the learning rate.
        beta1: decay of the mean of the gradients.
        beta2: decay of the mean of their squares.
        eps: added to the root, outside it.
    """

    def __init__(
        self,
        parameters: Iterable[Parameter],
        lr: float = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
    ) -> None:
        super().__init__(parameters, lr)
        self.beta1, self.beta2, self.eps = beta1, beta2, eps
        self.moments: dict[int, tuple[int, Array, Array]] = {}

    def move(self, index: int, grad: Array, xp: Any) -> Array:
        """The corrected mean over the root of the corrected mean square, scaled. The moments are updated in place."""
        count, mean, square = self.moments.get(index) or (0, xp.zeros_like(grad), xp.zeros_like(grad))
        count += 1
        self.moments[index] = (count, mean, square)
        mean *= self.beta1
        mean += (1 - self.beta1) * grad
        square *= self.beta2
        part = grad * grad
        part *= 1 - self.beta2
        square += part
        root = xp.multiply(square, 1 / (1 - self.beta2**count), out=part)
        xp.sqrt(root, out=root)
        root += self.eps
        move = xp.divide(mean, root, out=root)
        move *= self.lr / (1 - self.beta1**count)
        return move


def warmup_learning_rate(step: int, n_embd: int, warmup_steps: int = 4000) -> float:
    """The learning rate at a step, counted from 1: up in a line, then down with the root (Vaswani et al. 2017, eq. 3).

    Raises:
        ValueError: `step` is not positive.
    """
    if step < 1:
        raise ValueError(f"warmup_learning_rate got step {step}; expected 1 or more")
    return float(n_embd**-0.5 * min(step**-0.5, step * warmup_steps**-1.5))


def average_checkpoints(states: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The mean of each parameter over several `Module.state()` (Vaswani et al. 2017, section 6.1).

    Raises:
        ValueError: there are none, or they do not name the same parameters.
    """
    if not states:
        raise ValueError("average_checkpoints got no states; expected one or more")
    if any(state.keys() != states[0].keys() for state in states):
        raise ValueError("average_checkpoints got states of different models; expected the same parameter names in all")
    return {name: sum(state[name] for state in states) / len(states) for name in states[0]}
