"""Greedy decoding that ends: with the model's end token, or at a length that the source sets."""

from __future__ import annotations

from assignment.framework import Module, TensorBackend
from assignment.training.batches import Ids
from assignment.training.greedy import grow

EXTRA = 50
"""Vaswani et al. (2017), section 6.1: an output has at most the source's length + 50 tokens."""


def outputs(model: Module, sources: Ids, stop: int, backend: TensorBackend, extra: int = EXTRA) -> list[list[int]]:
    """Continue each source greedily.

    Args:
        model: ids (B, S) -> logits (B, S, V), for S up to 2 S0 + extra - 1.
        sources: (B, S0), all of one length.
        stop: the token that ends an output, and is no part of it.
        backend: where the model is.
        extra: by how many tokens an output may be longer than its source.

    Returns:
        What was added to each source, S0 + extra tokens at most.
    """
    length = sources.shape[1]
    last_read = length + (length + extra) - 1  # what the model reads before it gives the last token that is allowed
    return [row[length:] for row in grow(model, sources, stop, last_read, backend)]
