"""The angle between vectors: how much of a token is left when a position is added to it.

Source: lecture 6, section 4.4.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]


def mean_cosine(a: Array, b: Array) -> float:
    """Compute the mean cosine of the angle between the rows of a (N, d) and those of b (N, d)."""
    products = (a * b).sum(axis=1)  # (N,)
    return float((products / (np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1))).mean())


def expected_cosine(token_norm: float, position_norm: float) -> float:
    """Compute the cosine between a token's vector and its sum with a position's vector at a right angle to it.

    Two random vectors of many features are nearly at right angles, so this is what to expect of the mean.
    """
    return token_norm / float(np.hypot(token_norm, position_norm))
