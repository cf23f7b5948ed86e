"""Sinusoidal position encodings: what they are, how far apart they lie, and how a shift turns them.

Shapes: T positions, d the encoding's size, an even number; pair i takes the features 2i (sine) and 2i + 1 (cosine).
Angles are in radians, positions are counted in tokens.

Source: Vaswani et al. (2017), "Attention Is All You Need", section 3.5; lecture 6, section 4.2.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]

BASE = 10_000.0


def frequencies(dim: int) -> Array:
    """Compute each pair's angular frequency, 10000^(-2i/d), in radians a position: (d/2,).

    Raises:
        ValueError: d is odd, so that the features make no pairs.
    """
    if dim % 2:
        raise ValueError(f"an encoding of {dim} features cannot be split into pairs; choose an even number")
    return BASE ** (-np.arange(0, dim, 2) / dim)


def wavelengths(dim: int) -> Array:
    """Compute after how many positions each pair comes round again, 2 pi / frequency: (d/2,)."""
    return 2 * np.pi / frequencies(dim)


def encode(positions: npt.ArrayLike, dim: int) -> Array:
    """Encode positions (T,): row t holds sin(w_i t), cos(w_i t) for each pair i in turn, (T, d)."""
    angles = np.outer(np.asarray(positions), frequencies(dim))  # (T, d/2)
    pairs = np.stack([np.sin(angles), np.cos(angles)], axis=-1)  # (T, d/2, 2)
    return pairs.reshape(len(angles), dim)  # (T, d)


def rotate(codes: Array, shift: float) -> Array:
    """Turn pair i of every encoding (T, d) by the angle w_i shift: the encodings of all positions + shift.

    sin(a + b) = sin a cos b + cos a sin b, and cos(a + b) = cos a cos b - sin a sin b.
    """
    sine, cosine = codes[:, 0::2], codes[:, 1::2]  # (T, d/2) each
    by = frequencies(codes.shape[1]) * shift  # (d/2,)
    turned = [sine * np.cos(by) + cosine * np.sin(by), cosine * np.cos(by) - sine * np.sin(by)]
    return np.stack(turned, axis=-1).reshape(codes.shape)  # (T, d/2, 2) -> (T, d)


def dot_product(distances: npt.ArrayLike, dim: int) -> Array:
    """Compute PE(t) . PE(t + k) for distances k (K,), whatever t is: the sum of cos(w_i k) over the pairs, (K,)."""
    total: Array = np.cos(np.outer(np.asarray(distances), frequencies(dim))).sum(axis=1)  # (K, d/2) -> (K,)
    return total


def distance_matrix(codes: Array) -> Array:
    """Compute the Euclidean distance between any two of the encodings (T, d): (T, T), with zeros on the diagonal."""
    gram = codes @ codes.T  # (T, d) @ (d, T) -> (T, T)
    squares = np.diag(gram)
    distances: Array = np.sqrt(np.maximum(squares[:, None] + squares[None, :] - 2 * gram, 0))
    np.fill_diagonal(distances, 0)
    return distances
