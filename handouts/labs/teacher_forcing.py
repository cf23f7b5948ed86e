"""The probability of a sentence under a language model, in one forward pass or word by word."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assignment.framework import Module, tensor
from handouts.labs.city_training import log_softmax

Ids: TypeAlias = npt.NDArray[np.int64]
Array: TypeAlias = npt.NDArray[Any]


def at_once(model: Module, ids: Ids) -> Array:
    """Compute log p(next word | what is before) for every word of ids (S + 1,) but the first: (S,), one forward."""
    logits = model(tensor(ids[None, :-1], backend=model.backend)).to_numpy()  # (1, S) -> (1, S, V)
    logs: Array = log_softmax(logits[0])[np.arange(len(ids) - 1), ids[1:]]  # (S, V) -> (S,)
    return logs


def prefix_by_prefix(model: Module, ids: Ids) -> Array:
    """Compute the same as `at_once` with a forward for each prefix, as if the next word were not known yet."""
    found = []
    for length in range(1, len(ids)):
        logits = model(tensor(ids[None, :length], backend=model.backend)).to_numpy()  # (1, n) -> (1, n, V)
        found.append(log_softmax(logits[0, -1])[ids[length]])
    return np.array(found)
