"""The language model as one would write it in torch: its fused layer norm, GELU, softmax and cross-entropy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional


class Attention(nn.Module):
    """Causal self-attention with several heads."""

    def __init__(self, n_embd: int, n_head: int) -> None:
        super().__init__()
        self.q_projection, self.k_projection = nn.Linear(n_embd, n_embd), nn.Linear(n_embd, n_embd)
        self.v_projection, self.out_projection = nn.Linear(n_embd, n_embd), nn.Linear(n_embd, n_embd)
        self.n_head = n_head

    def forward(self, x: Tensor) -> Tensor:
        batch, seq, width = x.shape
        split = (batch, seq, self.n_head, width // self.n_head)
        q = self.q_projection(x).view(split).permute(0, 2, 1, 3)  # (B, h, S, Dh)
        kT = self.k_projection(x).view(split).permute(0, 2, 3, 1)  # (B, h, Dh, S)  # noqa: N806
        v = self.v_projection(x).view(split).permute(0, 2, 1, 3)  # (B, h, S, Dh)
        mask = torch.full((seq, seq), -1e9, dtype=x.dtype).triu(1)
        weights = functional.softmax(q @ kT * split[3] ** -0.5 + mask, dim=-1)  # (B, h, S, S)
        return self.out_projection((weights @ v).permute(0, 2, 1, 3).reshape(batch, seq, width))  # (B, S, D)


class FeedForward(nn.Module):
    """Two linear maps with a GELU between them."""

    def __init__(self, n_embd: int) -> None:
        super().__init__()
        self.linear_in, self.linear_out = nn.Linear(n_embd, 4 * n_embd), nn.Linear(4 * n_embd, n_embd)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear_out(functional.gelu(self.linear_in(x), approximate="tanh"))


class Layer(nn.Module):
    """A Pre-LN block."""

    def __init__(self, n_embd: int, n_head: int) -> None:
        super().__init__()
        self.ln_1, self.attention = nn.LayerNorm(n_embd), Attention(n_embd, n_head)
        self.ln_2, self.ff = nn.LayerNorm(n_embd), FeedForward(n_embd)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.ln_1(x))
        return x + self.ff(self.ln_2(x))


class TorchLM(nn.Module):
    """The decoder-only language model, with the modules' names as in the assignment."""

    def __init__(self, n_vocab: int, n_embd: int, n_head: int, n_positions: int, n_layer: int) -> None:
        super().__init__()
        self.token_embeddings = nn.Embedding(n_vocab, n_embd)
        self.position_embeddings = nn.Embedding(n_positions, n_embd)
        self.layers = [f"t_layer_{number}" for number in range(1, n_layer + 1)]
        for name in self.layers:
            self.add_module(name, Layer(n_embd, n_head))
        self.ln, self.lm_head = nn.LayerNorm(n_embd), nn.Linear(n_embd, n_vocab)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.token_embeddings(ids) + self.position_embeddings(torch.arange(ids.shape[1]))  # (B, S, D)
        for name in self.layers:
            x = getattr(self, name)(x)
        return self.lm_head(self.ln(x))  # (B, S, V)

    def copy_from(self, state: Mapping[str, Any]) -> None:
        """Take the parameters of the assignment's model."""
        for path, module in self.named_modules():
            if f"{path}.weights" in state:
                weights = torch.tensor(state[f"{path}.weights"])
                module.weight.data = weights.T.contiguous() if isinstance(module, nn.Linear) else weights
                if f"{path}.bias" in state:
                    module.bias.data = torch.tensor(state[f"{path}.bias"])
