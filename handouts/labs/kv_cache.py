"""Transformer layers that are fed one position at a time and keep the keys and values of all positions before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assignment.framework import Tensor, tensor

Array: TypeAlias = npt.NDArray[Any]


class KVCache:
    """A stack of layers with a memory: each position is projected once, however many come after it.

    It gives what a forward pass over the whole sequence gives if no later position changes an earlier one, that is, if
    the layers are causal.

    Args:
        layers: `TransformerLayer`s of one width, without dropout.

    Attributes:
        projected: positions that went through the first layer's projections so far.

    Source: lecture 6, section 2.3.
    """

    def __init__(self, layers: Sequence[Any]) -> None:
        self.layers = layers
        self.kept: list[tuple[Array, Array] | None] = [None] * len(layers)
        self.projected = 0

    def step(self, x: Tensor) -> Tensor:
        """Take the next position through all layers: (B, 1, D) -> (B, 1, D)."""
        self.projected += x.shape[1]
        for number, layer in enumerate(self.layers):
            q, kT, v = layer.attention.project_to_query_key_value(layer.ln_1(x))
            keys, values = kT.to_numpy(), v.to_numpy()  # (B, h, Dh, 1) and (B, h, 1, Dh)
            kept = self.kept[number]
            if kept is not None:
                keys = np.concatenate([kept[0], keys], axis=3)  # (B, h, Dh, t)
                values = np.concatenate([kept[1], values], axis=2)  # (B, h, t, Dh)
            self.kept[number] = keys, values
            heads = layer.attention.self_attention(q, tensor(keys), tensor(values))  # one query, t keys: (B, 1, D)
            x = x + layer.attention.out_projection(heads)
            x = x + layer.ff(layer.ln_2(x))
        return x

    def run(self, x: Array) -> Array:
        """Feed a sequence position by position: (B, S, D) -> (B, S, D)."""
        steps = [self.step(tensor(x[:, place : place + 1])).to_numpy() for place in range(x.shape[1])]
        outputs: Array = np.concatenate(steps, axis=1)
        return outputs


def at_once(layers: Sequence[Any], x: Array) -> Array:
    """Run the whole sequence through the layers in one forward pass: (B, S, D) -> (B, S, D)."""
    y = tensor(x)
    for layer in layers:
        y = layer(y)
    outputs: Array = y.to_numpy()
    return outputs
