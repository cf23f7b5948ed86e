"""BatchNorm, to hold beside `LayerNorm1d`; and what eps makes of LayerNorm's indifference to the input's scale."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]

EPS = 1e-5


def batch_norm(x: Array, eps: float = EPS) -> Array:
    """Normalise each feature over all the vectors of the batch, as in training: they share mean and variance.

    Shapes: x (B, S, D) -> the same shape.

    Source: Ioffe and Szegedy (2015), "Batch Normalization", algorithm 1, without scale and shift.
    """
    mean = x.mean(axis=(0, 1))  # (D,): one for each feature, where LayerNorm has (B, S, 1): one for each vector
    variance = x.var(axis=(0, 1))  # (D,)
    normal: Array = (x - mean) / np.sqrt(variance + eps)
    return normal


def change_by_scale(x: Array, scale: float, eps: float = EPS) -> Array:
    """Compute how much LayerNorm's output moves when its input x (..., D) is multiplied by `scale`, from the formula.

    With d = x - mean and variance v, the output is d / sqrt(v + eps). Of scale * x it is d / sqrt(v + eps / scale^2):
    the scale cancels except beside eps.

    Returns:
        The second minus the first, of x's shape.
    """
    distance = x - x.mean(axis=-1, keepdims=True)
    variance = x.var(axis=-1, keepdims=True)  # (..., 1)
    change: Array = distance * ((variance + eps / scale**2) ** -0.5 - (variance + eps) ** -0.5)
    return change
