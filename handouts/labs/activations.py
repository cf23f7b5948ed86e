"""The memory of a layer's saved activations: two terms, one that grows as S d, one as h S S.

Letters: S length, d width, h heads.

Source: lecture 6, section 8.3; term by term, with dropout: Korthikanti et al. (2022), "Reducing Activation
Recomputation in Large Transformer Models", section 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Fit:
    """The numbers saved are rows * S d + scores * h S S.

    Attributes:
        rows: how many (S, d) matrices.
        scores: how many (h, S, S) stacks of matrices.
    """

    rows: float
    scores: float

    def crossing(self, dim: int, heads: int) -> float:
        """Compute the length at which both terms are the same: rows d / (scores h)."""
        return self.rows * dim / (self.scores * heads)


def fit(lengths: Sequence[int], saved: Sequence[int], dim: int, heads: int) -> Fit:
    """Find the two numbers of matrices that explain best, by least squares, what was saved at each length."""
    n = np.array(lengths, dtype=float)
    terms = np.stack([n * dim, heads * n * n], axis=1)  # (lengths, 2)
    rows, scores = np.linalg.lstsq(terms, np.array(saved, dtype=float), rcond=None)[0]
    return Fit(float(rows), float(scores))


def bytes_of_rows(length: int, dim: int, width: int) -> int:
    """Count the bytes of one (S, d) matrix of numbers of `width` bytes each."""
    return length * dim * width


def bytes_of_scores(length: int, heads: int, width: int) -> int:
    """Count the bytes of one (h, S, S) stack of matrices of numbers of `width` bytes each."""
    return heads * length * length * width
