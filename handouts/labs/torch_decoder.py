"""The same decoder-only model in PyTorch, in plain steps, to be looked into by PyTorch's own tools.

Letters in the shapes: B batch, S length, D width, h heads, Dh = D / h, V tokens in the vocabulary.

Source: Radford et al. (2019), "Language Models are Unsupervised Multitask Learners", section 2.3.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .decoder_only import Decoder


class Block(nn.Module):
    """A Pre-LN layer without dropout: (B, S, D) -> (B, S, D)."""

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.q, self.k, self.v, self.out = (nn.Linear(dim, dim) for _ in range(4))
        self.linear_in, self.linear_out = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def forward(self, x: Tensor) -> Tensor:
        """Run the layer on x (B, S, D)."""
        x = x + self.out(self.core(*self.project(self.ln_1(x))))
        middle = nn.functional.gelu(self.linear_in(self.ln_2(x)), approximate="tanh")
        y: Tensor = x + self.linear_out(middle)
        return y

    def project(self, x: Tensor) -> tuple[Tensor, ...]:
        """Make q, k, v of x (B, S, D): each (B, h, S, Dh)."""
        split = (*x.shape[:2], self.heads, -1)
        return tuple(
            linear(x).view(split).transpose(1, 2)  # (B, S, D) -> (B, S, h, Dh) -> (B, h, S, Dh)
            for linear in (self.q, self.k, self.v)
        )

    def core(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Attend causally, q, k, v (B, h, S, Dh): (B, S, D)."""
        scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5  # (B, h, S, Dh) @ (B, h, Dh, S) -> (B, h, S, S)
        length = q.shape[-2]
        hidden = torch.full((length, length), -1e9, dtype=q.dtype, device=q.device).triu(1)  # (S, S)
        heads: Tensor = (scores + hidden).softmax(-1) @ v  # (B, h, S, S) @ (B, h, S, Dh) -> (B, h, S, Dh)
        return heads.transpose(1, 2).flatten(2)  # (B, S, h, Dh) -> (B, S, D)


class TorchDecoder(nn.Module):
    """A whole model, whose output layer is the token embedding again: ids (B, S) -> logits (B, S, V)."""

    def __init__(self, model: Decoder, heads: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(model.vocab, model.dim)
        self.positions = nn.Embedding(model.positions, model.dim)
        self.blocks = nn.Sequential(*(Block(model.dim, heads) for _ in range(model.layers)))
        self.ln = nn.LayerNorm(model.dim)

    def forward(self, ids: Tensor) -> Tensor:
        """Compute the logits."""
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1], device=ids.device))  # (B, S, D) + (S, D)
        hidden: Tensor = self.ln(self.blocks(x))
        return hidden @ self.tokens.weight.T  # (B, S, D) @ (D, V) -> (B, S, V)
