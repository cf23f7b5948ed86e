"""Twin of Problem 3's attention, in steps that a misconception replaces one at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from .functions import softmax
from .parts import Part, RefusalError

if TYPE_CHECKING:
    from .parts import Parts

HIDDEN = -1e9


class MultiHeadAttention(Part):
    """softmax(q kT / sqrt(Dh) + mask) v in each head, joined and projected."""

    def __init__(
        self,
        parts: Parts,
        n_embd: int,
        n_head: int,
        causal: bool = True,
        p_dropout: float = 0.1,
        bias: bool = True,
    ) -> None:
        super().__init__(parts)
        if n_embd % n_head:
            raise RefusalError(f"n_embd {n_embd} is not a multiple of n_head {n_head}")
        self.n_head = n_head
        self.causal = causal
        self.q_projection = parts.linear(parts, n_embd, n_embd, bias)
        self.k_projection = parts.linear(parts, n_embd, n_embd, bias)
        self.v_projection = parts.linear(parts, n_embd, n_embd, bias)
        self.out_projection = parts.linear(parts, n_embd, n_embd, bias)
        self.dropout = parts.dropout(parts, p_dropout)

    def forward(self, x: Tensor, pad_mask: Tensor | None = None) -> Tensor:
        """Map x (B, S, D), with pad_mask (B, S) where 1 hides, to (B, S, D)."""
        q, k, v = self.project(x)
        scores = self.hide(self.scores(q, k), pad_mask)
        heads = self.drop(self.weights(scores)) @ v  # (B, h, S, S) @ (B, h, S, Dh) -> (B, h, S, Dh)
        return self.output(self.merge_heads(heads))

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Compute q, k, v from x (B, S, D): each (B, h, S, Dh)."""
        return (
            self.split_heads(self.q_projection(x)),
            self.split_heads(self.k_projection(x)),
            self.split_heads(self.v_projection(x)),
        )

    def split_heads(self, x: Tensor) -> Tensor:
        """Give each head its block of features: (B, S, D) -> (B, h, S, Dh)."""
        return x.view(*x.shape[:2], self.n_head, -1).transpose(1, 2)  # (B, S, D) -> (B, S, h, Dh) -> (B, h, S, Dh)

    def merge_heads(self, heads: Tensor) -> Tensor:
        """Put the heads side by side: (B, h, S, Dh) -> (B, S, D)."""
        return heads.transpose(1, 2).flatten(2)  # (B, S, h, Dh) -> (B, S, D)

    def scale(self, head_size: int) -> float:
        """Take the factor of the scores."""
        return float(head_size**-0.5)

    def scores(self, q: Tensor, k: Tensor) -> Tensor:
        """Compare queries and keys, each (B, h, S, Dh): (B, h, S, S)."""
        return q @ k.transpose(-1, -2) * self.scale(q.shape[-1])  # (B, h, S, Dh) @ (B, h, Dh, S)

    def hide(self, scores: Tensor, pad_mask: Tensor | None) -> Tensor:
        """Put HIDDEN at scores (B, h, S, S) that must not count."""
        if self.causal:
            scores = scores.masked_fill(self.future(scores.shape[-1]), HIDDEN)
        if pad_mask is not None:
            scores = scores.masked_fill(self.padding(pad_mask), HIDDEN)
        return scores

    def future(self, seq_len: int) -> Tensor:
        """Say which keys (columns) are later than the query (row): boolean (S, S)."""
        return torch.ones(seq_len, seq_len, dtype=torch.bool).triu(1)

    def padding(self, pad_mask: Tensor) -> Tensor:
        """Say which keys are padding, from pad_mask (B, S): boolean (B, 1, 1, S)."""
        return (pad_mask != 0)[:, None, None, :]  # (B, S) -> (B, 1, 1, S)

    def weights(self, scores: Tensor) -> Tensor:
        """Turn scores (B, h, S, S) into attention weights: each row sums to 1."""
        return softmax(scores)

    def drop(self, weights: Tensor) -> Tensor:
        """Drop attention weights (B, h, S, S)."""
        dropped: Tensor = self.dropout(weights)
        return dropped

    def output(self, joined: Tensor) -> Tensor:
        """Project the joined heads (B, S, D)."""
        projected: Tensor = self.out_projection(joined)
        return projected
