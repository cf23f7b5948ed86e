"""What it costs to read n words of width d: by a recurrent network, and by one layer of attention."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]

MULTIPLY_ADD = 2
"""FLOPs: a multiplication and an addition."""


def rnn_flops(n: int, d: int) -> int:
    """Count the FLOPs of x_t W and h U, all n times: 4 n d^2. The tanh does not count.

    Source: lecture 6, section 1.2.
    """
    return MULTIPLY_ADD * 2 * n * d**2


def attention_flops(n: int, d: int) -> int:
    """Count the FLOPs of four projections, the scores and the weighted means: 8 n d^2 + 4 n^2 d.

    Source: lecture 6, sections 1.2 and 8.2.
    """
    return MULTIPLY_ADD * (4 * n * d**2 + 2 * n**2 * d)


def run_rnn(x: Array, input_weights: Array, state_weights: Array) -> Array:
    """Read x (n, d) as at generation time, with a matrix times a vector at each step: the last state (d,)."""
    state: Array = np.zeros_like(x[0])
    for word in x:
        state = np.tanh(word @ input_weights + state @ state_weights)  # (d,) @ (d, d) -> (d,), twice
    return state


def run_attention(x: Array, projections: Array) -> Array:
    """Let every word of x (n, d) look at every other, in one head, with four projections (4, d, d): (n, d)."""
    q, k, v = (x @ weights for weights in projections[:3])  # (n, d) @ (d, d) -> (n, d)
    scores = q @ k.T * x.shape[1] ** -0.5  # (n, d) @ (d, n) -> (n, n)
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    outputs: Array = scores @ v @ projections[3]  # (n, n) @ (n, d) @ (d, d) -> (n, d)
    return outputs
