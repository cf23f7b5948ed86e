"""Twins of Problem 2: linear map, embedding, dropout, layer norm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch.nn import functional

from .parts import Part, unset

if TYPE_CHECKING:
    from torch import Tensor

    from .masks import MaskBook
    from .parts import Parts


class Linear(Part):
    """x W + b. `weights` is (in_size, out_size) as in the assignment; torch wants it transposed."""

    def __init__(self, parts: Parts, in_size: int, out_size: int, bias: bool = True) -> None:
        super().__init__(parts)
        self.weights = unset(in_size, out_size)
        self.bias = unset(out_size) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """Map x (..., in_size) to (..., out_size)."""
        return functional.linear(x, self.weights.T, self.bias)  # (in_size, out_size) -> (out_size, in_size)


class Embedding(Part):
    """Rows of a table."""

    def __init__(self, parts: Parts, num_embeddings: int, embedding_dim: int) -> None:
        super().__init__(parts)
        self.weights = unset(num_embeddings, embedding_dim)

    def forward(self, ids: Tensor) -> Tensor:
        """Map ids (B, S) to vectors (B, S, D)."""
        return functional.embedding(ids.long(), self.weights)


class Dropout(Part):
    """Multiplication by the factors that the submission's own dropout drew; identity in evaluation and for p = 0."""

    def __init__(self, parts: Parts, p_dropout: float = 0.1) -> None:
        super().__init__(parts)
        self.p_dropout = p_dropout
        self.path = ""
        self.masks: MaskBook | None = None

    def forward(self, x: Tensor) -> Tensor:
        """Drop entries of x, of any shape."""
        if not self.training or self.masks is None:
            return x
        if self.p_dropout == 0:
            self.masks.skip(self.path)
            return x
        return x * self.masks.take(self.path, tuple(x.shape))


class LayerNorm1d(Part):
    """(x - mean) / sqrt(var + eps) * weights + bias over the last axis, with the biased variance."""

    def __init__(self, parts: Parts, dim: int, eps: float = 1e-5) -> None:
        super().__init__(parts)
        self.eps = eps
        self.weights = unset(dim)
        self.bias = unset(dim)

    def forward(self, x: Tensor) -> Tensor:
        """Normalise x (..., dim)."""
        return self.affine((x - self.mean(x)) / self.deviation(x))

    def mean(self, x: Tensor) -> Tensor:
        """Mean of each vector: (..., 1)."""
        return x.mean(-1, keepdim=True)

    def variance(self, x: Tensor) -> Tensor:
        """Biased variance of each vector: (..., 1)."""
        return x.var(-1, correction=0, keepdim=True)

    def deviation(self, x: Tensor) -> Tensor:
        """Take what each vector is divided by: (..., 1)."""
        return (self.variance(x) + self.eps).sqrt()

    def affine(self, normal: Tensor) -> Tensor:
        """Scale and shift the normalised x (..., dim)."""
        return normal * self.weights + self.bias
