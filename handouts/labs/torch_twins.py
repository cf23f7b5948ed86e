"""The homework's modules once more, in PyTorch: the same parameter names, the same arithmetic, float64.

A twin is built on PyTorch's own `linear`, `embedding`, `layer_norm`, `gelu` and `softmax`, and PyTorch finds its
gradients. `copy_from` gives it our parameters; `use_masks` makes it drop what our dropouts dropped.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from assignment.framework import Module
from handouts.labs.masks import Masks

DTYPE = torch.float64


class Twin(torch.nn.Module):
    """A module of PyTorch that can take the parameters and masks of one of ours."""

    def copy_from(self, ours: Module) -> None:
        """Take all parameters of our module; its names must be exactly the twin's.

        Raises:
            RuntimeError: a name or a shape differs.
        """
        self.load_state_dict({name: torch.from_numpy(value) for name, value in ours.state().items()})

    def use_masks(self, masks: Masks) -> None:
        """Drop the same entries: dotted name of a Dropout -> its mask."""
        for path, mask in masks.items():
            self.get_submodule(path).register_buffer("mask", torch.from_numpy(mask), persistent=False)


class Linear(Twin):
    """x W + b, with W (in_size, out_size) as in the homework; PyTorch's own layer stores it transposed."""

    def __init__(self, in_size: int, out_size: int) -> None:
        super().__init__()
        self.weights = torch.nn.Parameter(torch.empty(in_size, out_size, dtype=DTYPE))
        self.bias = torch.nn.Parameter(torch.empty(out_size, dtype=DTYPE))

    def forward(self, x: Tensor) -> Tensor:
        """Map x (..., in_size) to (..., out_size)."""
        return functional.linear(x, self.weights.T, self.bias)  # (in_size, out_size) -> (out_size, in_size)


class Embedding(Twin):
    """Rows of a table by id."""

    def __init__(self, num_embeddings: int, embedding_dim: int) -> None:
        super().__init__()
        self.weights = torch.nn.Parameter(torch.empty(num_embeddings, embedding_dim, dtype=DTYPE))

    def forward(self, ids: Tensor) -> Tensor:
        """Look up ids (B, S): vectors (B, S, embedding_dim)."""
        return functional.embedding(ids, self.weights)


class LayerNorm(Twin):
    """The layer norm of the last axis."""

    def __init__(self, dim: int, eps: float) -> None:
        super().__init__()
        self.eps = eps
        self.weights = torch.nn.Parameter(torch.empty(dim, dtype=DTYPE))
        self.bias = torch.nn.Parameter(torch.empty(dim, dtype=DTYPE))

    def forward(self, x: Tensor) -> Tensor:
        """Normalise x (..., dim)."""
        return functional.layer_norm(x, self.weights.shape, self.weights, self.bias, self.eps)


class Dropout(Twin):
    """A product with a mask that is given; nothing where none is."""

    mask: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mask", torch.ones((), dtype=DTYPE), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Multiply x, of any shape, by the mask."""
        return x * self.mask


class Attention(Twin):
    """Causal self-attention with `n_head` heads.

    Source: Vaswani et al. (2017), section 3.2; lecture 6, section 3.
    """

    def __init__(self, n_embd: int, n_head: int) -> None:
        super().__init__()
        self.n_head = n_head
        self.q_projection = Linear(n_embd, n_embd)
        self.k_projection = Linear(n_embd, n_embd)
        self.v_projection = Linear(n_embd, n_embd)
        self.out_projection = Linear(n_embd, n_embd)
        self.dropout = Dropout()

    def forward(self, x: Tensor) -> Tensor:
        """Attend: x (B, S, D) -> (B, S, D)."""
        q, k, v = (self.heads(part(x)) for part in (self.q_projection, self.k_projection, self.v_projection))
        scores = q @ k.mT / q.shape[-1] ** 0.5  # (B, h, S, Dh) @ (B, h, Dh, S) -> (B, h, S, S)
        future = torch.ones_like(scores, dtype=torch.bool).triu(1)
        weights = self.dropout(functional.softmax(scores.masked_fill(future, -torch.inf), dim=-1))
        joined = (weights @ v).transpose(1, 2).flatten(2)  # (B, h, S, Dh) -> (B, S, h, Dh) -> (B, S, D)
        out: Tensor = self.out_projection(joined)
        return out

    def heads(self, x: Tensor) -> Tensor:
        """Give each head its features: (B, S, D) -> (B, h, S, Dh)."""
        return x.view(*x.shape[:2], self.n_head, -1).transpose(1, 2)  # (B, S, D) -> (B, S, h, Dh) -> (B, h, S, Dh)


class FeedForward(Twin):
    """Linear, GELU (tanh form), Linear, dropout.

    Source: Vaswani et al. (2017), section 3.3; lecture 6, section 5.1.
    """

    def __init__(self, n_embd: int) -> None:
        super().__init__()
        self.linear_in = Linear(n_embd, 4 * n_embd)
        self.linear_out = Linear(4 * n_embd, n_embd)
        self.dropout = Dropout()

    def forward(self, x: Tensor) -> Tensor:
        """Map x (B, S, D) to (B, S, D)."""
        out: Tensor = self.dropout(self.linear_out(functional.gelu(self.linear_in(x), approximate="tanh")))
        return out


class PreLNLayer(Twin):
    """x = x + attention(ln_1(x)), then x = x + ff(ln_2(x)).

    Source: Xiong et al. (2020), figure 1(b).
    """

    def __init__(self, n_embd: int, n_head: int, ln_eps: float = 1e-5) -> None:
        super().__init__()
        self.ln_1 = LayerNorm(n_embd, ln_eps)
        self.attention = Attention(n_embd, n_head)
        self.ln_2 = LayerNorm(n_embd, ln_eps)
        self.ff = FeedForward(n_embd)

    def forward(self, x: Tensor) -> Tensor:
        """Map x (B, S, D) to (B, S, D)."""
        x = x + self.attention(self.ln_1(x))
        out: Tensor = x + self.ff(self.ln_2(x))
        return out


class PostLNLayer(PreLNLayer):
    """x = ln_1(x + attention(x)), then x = ln_2(x + ff(x)).

    Source: Xiong et al. (2020), figure 1(a).
    """

    def forward(self, x: Tensor) -> Tensor:
        """Map x (B, S, D) to (B, S, D)."""
        x = self.ln_1(x + self.attention(x))
        out: Tensor = self.ln_2(x + self.ff(x))
        return out


class DecoderLM(Twin):
    """Tokens and positions, dropout, Pre-LN layers, a last norm, a linear map to the vocabulary.

    Source: Radford et al. (2019), section 2.3; lecture 6, section 6.3.
    """

    def __init__(
        self, n_vocab: int, n_embd: int, n_head: int, n_positions: int, n_layer: int, ln_eps: float = 1e-5
    ) -> None:
        super().__init__()
        self.token_embeddings = Embedding(n_vocab, n_embd)
        self.position_embeddings = Embedding(n_positions, n_embd)
        self.dropout = Dropout()
        self.layers = [PreLNLayer(n_embd, n_head, ln_eps) for _ in range(n_layer)]
        for number, layer in enumerate(self.layers, start=1):
            self.add_module(f"t_layer_{number}", layer)
        self.ln = LayerNorm(n_embd, ln_eps)
        self.lm_head = Linear(n_embd, n_vocab)

    def forward(self, ids: Tensor) -> Tensor:
        """Map ids (B, S) to logits (B, S, V)."""
        positions = torch.arange(ids.shape[1])  # (S,)
        x = self.dropout(self.token_embeddings(ids) + self.position_embeddings(positions))  # (B, S, D) + (S, D)
        for layer in self.layers:
            x = layer(x)
        logits: Tensor = self.lm_head(self.ln(x))  # (B, S, D) -> (B, S, V)
        return logits
