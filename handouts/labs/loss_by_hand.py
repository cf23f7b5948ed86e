"""The cross-entropy loss as its formula reads, and its gradient as one derives it on paper."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assignment.framework import Tensor


def naive_logsumexp(x: Tensor, dim: int) -> Tensor:
    """Compute log(sum(exp(x))) along `dim` exactly as it is written: inf from about 710 on, where exp overflows.

    Shapes: (..., n, ...) -> (..., 1, ...).

    Source: lecture 6, section 9.1.
    """
    return x.exp().sum(dim).log()


def loss_gradient(logits: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Derive the gradient of sum_n (logsumexp(z_n) - z_n[y_n]) for z: softmax(z) - onehot(y).

    Shapes: logits (N, C), labels (N,) -> (N, C).

    Source: lecture 6, section 9.1.
    """
    exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))  # (N, C)
    probabilities: NDArray[np.float64] = exponentials / exponentials.sum(axis=1, keepdims=True)  # (N, C)
    return probabilities - np.eye(logits.shape[1])[labels]  # (N, C)
