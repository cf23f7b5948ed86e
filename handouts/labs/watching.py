"""Look into a module: the weights that an attention computes, and how far a change of one token reaches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assignment.framework import Module, Tensor, tensor

Array: TypeAlias = npt.NDArray[Any]


def attention_weights(attention: Any, x: Tensor, pad_mask: Tensor | None = None) -> Array:
    """Run an attention and return the weights that it really used: (B, h, S, S), each row sums to 1.

    The weights pass through `attention.dropout` on their way to the values, so a hook there sees them.

    Args:
        attention: a `MultiHeadAttention`.
        x: (B, S, D).
        pad_mask: (B, S), 1 at positions that no query may see; None: no such position.
    """
    seen: list[Array] = []

    def hook(_module: Module, inputs: tuple[Any, ...], _output: Any) -> None:
        seen.append(inputs[0].to_numpy())

    remove = attention.dropout.register_forward_hook(hook)
    try:
        attention(x, pad_mask)
    finally:
        remove()
    return seen[0]


def changes(function: Callable[[Tensor], Tensor], x: Array, place: int, other: Array) -> Array:
    """Put another vector at one position, and measure by how much each position's output changes at most: (S,).

    Args:
        function: maps (1, S, D) to (1, S, anything).
        x: (1, S, D).
        place: the position j.
        other: what stands there instead, (D,).
    """
    changed = x.copy()
    changed[0, place] = other
    before, after = (function(tensor(array)).to_numpy() for array in (x, changed))
    largest: Array = np.abs(after - before).max(axis=2)[0]  # (1, S, D) -> (1, S) -> (S,)
    return largest
