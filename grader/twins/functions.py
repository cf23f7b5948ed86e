"""Twins of Problem 1: logsumexp and the softmax loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from .parts import Part

if TYPE_CHECKING:
    from .parts import Parts


class LogSumExp(Part):
    """log(sum(exp(z))) over one dimension, which is kept."""

    def forward(self, z: Tensor, dim: int) -> Tensor:
        """Map z (..., n, ...) to (..., 1, ...)."""
        shift = self.shift(z, dim)
        return (z - shift).exp().sum(dim, keepdim=True).log() + shift

    def shift(self, z: Tensor, dim: int) -> Tensor:
        """Take what is subtracted before exp: the maximum, a constant for the gradient."""
        return z.detach().amax(dim, keepdim=True)


class SoftmaxLoss(Part):
    """logsumexp(z) - z_y for each example."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.logsumexp = parts.logsumexp(parts)

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        """Map logits (N, C) and target (N,) to losses (N,)."""
        losses: Tensor = self.logsumexp(logits, 1).reshape(len(logits)) - self.chosen(logits, target)  # (N, 1) -> (N,)
        return self.reduce(losses)

    def chosen(self, logits: Tensor, target: Tensor) -> Tensor:
        """Pick each example's target logit: (N,)."""
        return logits.gather(1, target.long().unsqueeze(1)).squeeze(1)  # (N, C) at (N, 1) -> (N, 1) -> (N,)

    def reduce(self, losses: Tensor) -> Tensor:
        """Leave the losses (N,) apart."""
        return losses


def softmax(scores: Tensor) -> Tensor:
    """Turn scores (..., n) into weights that sum to 1 over the last axis."""
    return torch.softmax(scores, dim=-1)
