"""The probability of a sentence under a language model, in one forward pass or word by word."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assignment.framework import Module
from handouts.labs.city_training import log_probabilities

Ids: TypeAlias = npt.NDArray[np.int64]
Array: TypeAlias = npt.NDArray[Any]


def at_once(model: Module, ids: Ids) -> Array:
    """Compute log p(next word | what is before) for every word of ids (S + 1,) but the first: (S,), one forward."""
    logs = log_probabilities(model, ids[None, :-1])[0]  # (S,) -> (1, S) -> (1, S, V) -> (S, V)
    chosen: Array = logs[np.arange(len(ids) - 1), ids[1:]]  # (S, V) -> (S,)
    return chosen


def prefix_by_prefix(model: Module, ids: Ids) -> Array:
    """Compute the same as `at_once` with a forward for each prefix, as if the next word were not known yet."""
    lengths = range(1, len(ids))
    return np.array([log_probabilities(model, ids[None, :length])[0, -1, ids[length]] for length in lengths])
