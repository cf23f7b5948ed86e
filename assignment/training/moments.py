"""All that decides how training with Adam goes on, as arrays: a run can end in one process and go on in another.

| name | what |
|---|---|
| parameter.<name> | every parameter of the model |
| mean.<name> | Adam's mean of its gradients; of a parameter under two names, by the first |
| square.<name> | Adam's mean of their squares |
| counts | steps in these means, (P,), in the order of the parameters |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from assignment.framework import Adam, Module, TensorBackend
from assignment.framework.backend import to_host

COUNTS = "counts"


def names_of(model: Module) -> list[str]:
    """Name the parameters as an optimiser numbers them: each once."""
    first: dict[int, str] = {}
    for name, parameter in model.named_parameters():
        first.setdefault(id(parameter), name)
    return list(first.values())


def state_of(model: Module, optimizer: Adam) -> dict[str, Any]:
    """Copy parameters, means and counts; see the head of this file."""
    state = {f"parameter.{name}": array for name, array in model.state().items()}
    counts = []
    for index, name in enumerate(names_of(model)):
        nothing = np.zeros_like(state[f"parameter.{name}"])
        count, mean, square = optimizer.moments.get(index) or (0, nothing, nothing)
        state |= {f"mean.{name}": np.array(to_host(mean)), f"square.{name}": np.array(to_host(square))}
        counts.append(count)
    return state | {COUNTS: np.array(counts, np.int64)}  # (P,)


def restore(model: Module, optimizer: Adam, state: Mapping[str, Any], backend: TensorBackend) -> None:
    """Set means and counts as `state_of` found them; the parameters are not touched.

    Raises:
        KeyError: a mean is missing.
        ValueError: the counts are not as many as the parameters.
    """
    names = names_of(model)
    if len(state[COUNTS]) != len(names):
        raise ValueError(f"{len(state[COUNTS])} counts arrived for {len(names)} parameters; expected one for each")
    for index, name in enumerate(names):
        count, means = int(state[COUNTS][index]), (state[f"mean.{name}"], state[f"square.{name}"])
        if count:
            mean, square = map(backend.array, means)
            optimizer.moments[index] = (count, mean, square)
