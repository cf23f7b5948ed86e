"""What a classifier's attention looks at: the weights, and a picture of them for a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assignment.framework import Tensor

from .classifier import SentenceClassifier

Array: TypeAlias = npt.NDArray[Any]

BLOCKS, LETTERS = " ░▒▓█", " .:*#"
"""Shades for a picture, and those for a terminal that has no blocks."""


class UnknownLayoutError(Exception):
    """The attention is written in another way than this can look into."""


def attention_weights(model: SentenceClassifier, idx: Tensor) -> Array:
    """Compute how much each word looks at each, in the first layer, averaged over the heads.

    Args:
        model: a classifier.
        idx: ids (B, S).

    Returns:
        (B, S, S): row i of a sentence is where its word i looks; it sums to 1.

    Raises:
        UnknownLayoutError: `project_to_query_key_value` does not give q (B, h, S, Dh) and kT (B, h, Dh, S).
    """
    layer = model.t_layer_1
    q, kT = projected(layer.attention, layer.ln_1(model.embed(idx)))
    scores = q @ kT / math.sqrt(q.shape[-1])  # (B, h, S, Dh) @ (B, h, Dh, S) -> (B, h, S, S)
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights: Array = exponentials / exponentials.sum(axis=-1, keepdims=True)
    averaged: Array = weights.mean(axis=1)  # (B, h, S, S) -> (B, S, S)
    return averaged


def projected(attention: Any, x: Tensor) -> tuple[Array, Array]:
    """Ask the student's method for q (B, h, S, Dh) and kT (B, h, Dh, S) of x (B, S, D)."""
    batch, seq_len, n_embd = x.shape
    parts = attention.project_to_query_key_value(x)
    shapes = [getattr(part, "shape", None) for part in parts] if isinstance(parts, tuple | list) else type(parts)
    match shapes:
        case [(b, h, s, d), (b2, h2, d2, s2), _] if (b, s, h * d) == (batch, seq_len, n_embd) and (b2, h2, d2, s2) == (
            b,
            h,
            d,
            s,
        ):
            return parts[0].to_numpy(), parts[1].to_numpy()
    raise UnknownLayoutError(
        f"project_to_query_key_value gave {shapes}; the picture needs q (B, h, S, Dh), kT (B, h, Dh, S) and v"
    )


def picture(words: Sequence[str], weights: Array, shades: str = BLOCKS) -> str:
    """Draw the weights (S, S) of a sentence: a row for each word that looks, a column for each that is looked at.

    The last row is the mean. The darkest shade is the largest weight of the picture.
    """
    rows = [*weights, weights.mean(axis=0)]
    labels = [*words, "all"]
    left = max(map(len, labels))
    lines = [" ".join([" " * left, *words])]
    for label, row in zip(labels, rows, strict=True):
        cells = (shade(weight / weights.max(), shades) * len(word) for word, weight in zip(words, row, strict=True))
        lines.append(" ".join([f"{label:>{left}}", *cells]))
    return "\n".join(line.rstrip() for line in lines)


def shade(part: float, shades: str) -> str:
    """Give a number from 0 to 1 a sign that is darker the larger it is."""
    return shades[min(int(part * len(shades)), len(shades) - 1)]
