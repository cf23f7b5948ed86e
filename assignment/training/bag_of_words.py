"""What a model can know that only counts words: logistic regression on the counts, to compare with."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]

ROUNDS = 8
"""Newton's method needs no more."""
RIDGE = 1e-3
"""Keeps the weights finite where the classes can be parted without error."""


class BagOfWords:
    """Says of a sentence which of two classes it is of: sigmoid(counts w) > 1/2.

    Shapes: ids (N, S) -> classes 0 and 1, (N,).

    Args:
        n_vocab: number of words V.
    """

    def __init__(self, n_vocab: int) -> None:
        self.n_vocab = n_vocab
        self.weights = np.zeros(n_vocab + 1)

    def count(self, ids: Array) -> Array:
        """Count the words of sentences (N, S), with a 1 behind for the bias: (N, V + 1)."""
        counts = np.ones((len(ids), self.n_vocab + 1))
        for row, sentence in zip(counts, ids, strict=True):
            row[:-1] = np.bincount(sentence, minlength=self.n_vocab)
        return counts

    def learn(self, ids: Array, labels: Array) -> None:
        """Fit the weights to sentences (N, S) with labels (N,), by Newton's method."""
        counts = self.count(ids)
        for _ in range(ROUNDS):
            chance = 1 / (1 + np.exp(-counts @ self.weights))  # (N, V + 1) @ (V + 1,) -> (N,)
            slope = counts.T @ (labels - chance) - RIDGE * self.weights  # (V + 1, N) @ (N,) -> (V + 1,)
            curvature = (counts.T * (chance * (1 - chance))) @ counts + RIDGE * np.eye(len(slope))  # (V + 1, V + 1)
            self.weights += np.linalg.solve(curvature, slope)

    def __call__(self, ids: Array) -> Array:
        """Classify sentences (N, S)."""
        return (self.count(ids) @ self.weights > 0).astype(np.int64)  # (N, V + 1) @ (V + 1,) -> (N,)
