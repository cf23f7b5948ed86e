"""Why the scores are divided by sqrt(d): how large dot products are, and what a softmax makes of large ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assignment.framework import tensor
from handouts.labs.course import nn

SETS, QUERIES, KEYS = 40, 50, 32
"""2000 queries: 40 sets of 50, each set with 32 keys of its own."""


class Reading(NamedTuple):
    """What a softmax over 32 keys does, over 2000 queries.

    Attributes:
        spread: standard deviation of the scores.
        largest: mean of the largest weight; 1 is a hard look-up.
        gradient: median length of the gradient that reaches the scores when the weights get a random one, N(0, 1).
    """

    spread: float
    largest: float
    gradient: float


def read(size: int, scaled: bool, generator: np.random.Generator) -> Reading:
    """Let queries look at keys whose entries are N(0, 1), and measure.

    Args:
        size: d, entries of each query and key.
        scaled: whether the dot products are divided by sqrt(d).
        generator: of the queries, the keys and the gradients.

    Source: Vaswani et al. (2017), section 3.2.1, footnote 4; lecture 6, section 2.2.
    """
    queries = generator.standard_normal((SETS, QUERIES, size))
    keys = generator.standard_normal((SETS, KEYS, size))
    factor = size**-0.5 if scaled else 1.0
    products = queries @ keys.transpose(0, 2, 1)  # (40, 50, d) @ (40, d, 32) -> (40, 50, 32)
    scores = tensor(products * factor, requires_grad=True)
    weights = nn.softmax(scores, dim=2)
    weights.backward(generator.standard_normal(weights.shape))
    if scores.grad is None:
        raise RuntimeError("no gradient reached the scores; nn.softmax cut the history")
    lengths = np.linalg.norm(scores.grad.to_numpy(), axis=2)  # (40, 50)
    return Reading(
        float(scores.to_numpy().std()), float(weights.to_numpy().max(axis=2).mean()), float(np.median(lengths))
    )
