"""Twins of Problem 3's feed-forward network, Pre-LN block and language model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional

from .parts import Part, RefusalError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .parts import Parts


class FeedForward(Part):
    """dropout(GELU(x W1 + b1) W2 + b2)."""

    def __init__(
        self,
        parts: Parts,
        n_embd: int,
        middle_dim: int | None = None,
        p_dropout: float = 0.1,
        bias: bool = True,
    ) -> None:
        super().__init__(parts)
        self.width_is_free = middle_dim is None
        width = 4 * n_embd if middle_dim is None else middle_dim
        self.linear_in = parts.linear(parts, n_embd, width, bias)
        self.linear_out = parts.linear(parts, width, n_embd, bias)
        self.dropout = parts.dropout(parts, p_dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Map x (B, S, D) to (B, S, D)."""
        y: Tensor = self.dropout(self.linear_out(self.activation(self.linear_in(x))))
        return y

    def activation(self, x: Tensor) -> Tensor:
        """GELU in its tanh form, on x (B, S, M)."""
        return functional.gelu(x, approximate="tanh")


class TransformerLayer(Part):
    """x + attention(ln_1(x)), then x + ff(ln_2(x))."""

    def __init__(
        self,
        parts: Parts,
        n_embd: int,
        n_head: int,
        p_dropout: float = 0.1,
        ln_eps: float = 1e-5,
        bias: bool = True,
        *,
        causal: bool = True,
    ) -> None:
        super().__init__(parts)
        self.ln_1 = parts.layer_norm(parts, n_embd, ln_eps)
        self.attention = parts.attention(parts, n_embd, n_head, causal, p_dropout, bias)
        self.ln_2 = parts.layer_norm(parts, n_embd, ln_eps)
        self.ff = parts.feed_forward(parts, n_embd, None, p_dropout, bias)

    def forward(self, x: Tensor, pad_mask: Tensor | None = None) -> Tensor:
        """Map x (B, S, D), with pad_mask (B, S) where 1 hides, to (B, S, D)."""
        return self.feed(self.attend(x, pad_mask))

    def attend(self, x: Tensor, pad_mask: Tensor | None) -> Tensor:
        """Run the first half on x (B, S, D)."""
        y: Tensor = x + self.attention(self.ln_1(x), pad_mask)
        return y

    def feed(self, x: Tensor) -> Tensor:
        """Run the second half on x (B, S, D)."""
        y: Tensor = x + self.ff(self.ln_2(x))
        return y


class DecoderLM(Part):
    """Tokens + positions, dropout, Pre-LN blocks, layer norm, linear map to the vocabulary."""

    def __init__(
        self,
        parts: Parts,
        n_vocab: int,
        n_embd: int,
        n_head: int,
        n_positions: int,
        p_dropout: float = 0.1,
        ln_eps: float = 1e-5,
        bias: bool = True,
        *,
        n_layer: int = 4,
    ) -> None:
        super().__init__(parts)
        self.n_positions = n_positions
        self.n_layer = n_layer
        self.token_embeddings = parts.embedding(parts, n_vocab, n_embd)
        self.position_embeddings = parts.embedding(parts, n_positions, n_embd)
        for number in range(1, n_layer + 1):
            self.add_module(f"t_layer_{number}", parts.layer(parts, n_embd, n_head, p_dropout, ln_eps, bias))
        self.dropout = parts.dropout(parts, p_dropout)
        self.ln = parts.layer_norm(parts, n_embd, ln_eps)
        self.lm_head = parts.linear(parts, n_embd, n_vocab, bias)

    def forward(self, idx: Tensor) -> Tensor:
        """Map ids (B, S) to logits (B, S, V)."""
        seq_len = idx.shape[1]
        if seq_len > self.n_positions:
            raise RefusalError(f"{seq_len} tokens are more than n_positions {self.n_positions}")
        return self.head(self.blocks(self.drop(self.embed(idx))))

    def embed(self, idx: Tensor) -> Tensor:
        """Sum the two embeddings of ids (B, S): (B, S, D)."""
        both: Tensor = self.token_embeddings(idx) + self.position_embeddings(self.positions(idx.shape[1]))
        return both

    def positions(self, seq_len: int) -> Tensor:
        """Number the positions: (1, S)."""
        return torch.arange(seq_len)[None]  # (S,) -> (1, S)

    def drop(self, x: Tensor) -> Tensor:
        """Drop entries of the embeddings (B, S, D)."""
        dropped: Tensor = self.dropout(x)
        return dropped

    def blocks(self, x: Tensor) -> Tensor:
        """Run the blocks on x (B, S, D), in order."""
        for layer in self.layers():
            x = layer(x)
        return x

    def layers(self) -> Iterator[Part]:
        """Yield the blocks in the order in which they run."""
        for number in range(1, self.n_layer + 1):
            layer = self.get_submodule(f"t_layer_{number}")
            assert isinstance(layer, Part)
            yield layer

    def head(self, x: Tensor) -> Tensor:
        """Map x (B, S, D) to logits (B, S, V)."""
        logits: Tensor = self.lm_head(self.ln(x))
        return logits
