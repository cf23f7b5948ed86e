"""The training loop that both models share: a loss, its gradients, one move of the optimiser; then the next batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from assignment.framework import Optimizer, Tensor, TensorBackend, tensor

Rate: TypeAlias = float | Sequence[float] | Tensor
"""A learning rate for all steps, or one for each."""


def train(
    loss_of: Callable[[int], Tensor], steps: int, lr: Rate, optimizer: Optimizer, backend: TensorBackend
) -> Tensor:
    """Take `steps` steps down the slope of a loss.

    Args:
        loss_of: the loss of a step's batch, one number, from the step's number 0, 1, ...
        steps: how many.
        lr: the learning rate, or one for each step.
        optimizer: it goes on from where earlier calls left it.
        backend: of the result.

    Returns:
        The losses (steps,), each from before its step.

    Raises:
        ValueError: there is another number of learning rates than of steps.
    """
    rates = rates_of(lr, steps)
    losses = []
    for step in range(steps):
        optimizer.lr = rates[step]
        optimizer.zero_grad()
        loss = loss_of(step)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return tensor(losses, backend=backend)


def rates_of(lr: Rate, steps: int) -> list[float]:
    """The learning rate of each step."""
    if isinstance(lr, int | float):
        return [float(lr)] * steps
    rates = [float(rate) for rate in (lr.to_numpy() if isinstance(lr, Tensor) else lr)]
    if len(rates) == 1:
        rates *= steps
    if len(rates) != steps:
        raise ValueError(f"{len(rates)} learning rates arrived for {steps} steps; give one for all or one for each")
    return rates
