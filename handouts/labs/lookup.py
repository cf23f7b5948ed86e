"""Attention as a soft look-up: how well a query fits each key decides how much of each value comes out."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from assignment.framework import Tensor, tensor
from handouts.labs.course import nn

Array: TypeAlias = npt.NDArray[Any]

KEYS = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]) / 2
"""Four keys, one a row: at right angles to one another, each of length 1."""
VALUES = np.array([[10.0], [20.0], [30.0], [40.0]])
"""What stands under each key."""
QUERY = np.array([[0.4, 0.9, 0.5, 0.1]]) @ KEYS  # (1, 4) @ (4, 4) -> (1, 4)
"""A query whose product with the four keys is 0.4, 0.9, 0.5 and 0.1: it fits the second best."""


class Found(NamedTuple):
    """What a soft look-up gives.

    Attributes:
        weights: how much of each value, (keys,); they sum to 1.
        value: the weighted mean of the values.
        slope: length of the gradient of `value` with respect to the query.
    """

    weights: Array
    value: float
    slope: float


def look_up(query: Array, keys: Array, values: Array, factor: float) -> Found:
    """Look up: softmax(factor * query keysT) values.

    Args:
        query: (1, d).
        keys: (n, d).
        values: (n, 1).
        factor: on the scores; the larger, the harder the look-up.

    Source: Vaswani et al. (2017), section 3.2; lecture 6, section 2.1.
    """
    asked = tensor(query, requires_grad=True)
    scores: Tensor = asked @ tensor(keys.T) * factor  # (1, d) @ (d, n) -> (1, n)
    weights = nn.softmax(scores, dim=1)
    value = weights @ tensor(values)  # (1, n) @ (n, 1) -> (1, 1)
    value.backward()
    slope = 0.0 if asked.grad is None else float(np.linalg.norm(asked.grad.to_numpy()))
    return Found(weights.to_numpy()[0], value.item(), slope)
