"""Counts what the course's framework keeps in memory for the backward pass of a result."""

from __future__ import annotations

from typing import Any

import numpy as np

from assignment.framework import Module, Tensor
from assignment.framework.autodiff import Step


def kept_numbers(result: Tensor, module: Module) -> int:
    """Count the numbers in the arrays that the steps behind `result` saved.

    An array that several steps saved, whole or as a view, is counted once; the module's parameters are not counted.
    """
    parameters = {id(_owner(parameter.value.array)) for parameter in module.parameters()}
    steps: dict[int, Step] = {}
    waiting: list[Any] = [result.step]
    while waiting:
        step = waiting.pop()
        if isinstance(step, Step) and id(step) not in steps:
            steps[id(step)] = step
            waiting += step.sources
    saved = [value for step in steps.values() for value in step.saved if isinstance(value, np.ndarray)]
    owners = {id(owner): owner for owner in map(_owner, saved) if id(owner) not in parameters}
    return sum(owner.size for owner in owners.values())


def _owner(array: Any) -> Any:
    """Follow views to the array whose memory they show."""
    return _owner(array.base) if isinstance(array.base, np.ndarray) else array
