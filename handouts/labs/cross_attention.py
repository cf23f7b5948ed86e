"""Attention from one sequence to another: what a decoder layer of an encoder-decoder Transformer has in addition."""

from __future__ import annotations

from assignment.framework import Module, Tensor, TensorBackend
from handouts.labs.course import modules_basic, nn

HIDDEN = -1e9
"""Added to a score that must not count."""


class CrossAttention(Module):
    """Queries from the target, keys and values from the source: softmax(q kT / sqrt(Dh) + mask) v.

    There is no causal mask: the source is complete before the first target word is written. Only padding is hidden.

    Shapes: target (B, T, D) and source (B, S, D) -> (B, T, D).

    Args:
        n_embd: D, a multiple of n_head.
        n_head: number of heads h; Dh = D / h.
        backend: where the parameters live; None: the default backend.

    Attributes:
        q_projection: `Linear` (D, D), applied to the target.
        k_projection: `Linear` (D, D), applied to the source, and so is v_projection.
        out_projection: `Linear` (D, D).
        weights: the attention weights of the last call, (B, h, T, S); None before it.

    Source: Vaswani et al. (2017), section 3.2.3; lecture 6, section 3.3.
    """

    def __init__(self, n_embd: int, n_head: int, backend: TensorBackend | None = None) -> None:
        super().__init__()
        self.n_head = n_head
        self.q_projection = modules_basic.Linear(n_embd, n_embd, backend=backend)
        self.k_projection = modules_basic.Linear(n_embd, n_embd, backend=backend)
        self.v_projection = modules_basic.Linear(n_embd, n_embd, backend=backend)
        self.out_projection = modules_basic.Linear(n_embd, n_embd, backend=backend)
        self.weights: Tensor | None = None

    def forward(self, target: Tensor, source: Tensor, source_padding: Tensor | None = None) -> Tensor:
        """Let every target position look at the whole source.

        Args:
            target: (B, T, D).
            source: (B, S, D); S need not be T.
            source_padding: (B, S), 1 at source positions that are padding; None: there are none.

        Returns:
            (B, T, D).
        """
        q, k, v = (
            self.heads(projection(x))
            for projection, x in (
                (self.q_projection, target),
                (self.k_projection, source),
                (self.v_projection, source),
            )
        )  # (B, h, T, Dh), then twice (B, h, S, Dh)
        scores = q @ k.permute(0, 1, 3, 2) / q.shape[3] ** 0.5  # (B, h, T, Dh) @ (B, h, Dh, S) -> (B, h, T, S)
        if source_padding is not None:
            batch, length = source_padding.shape
            scores = scores + source_padding.view(batch, 1, 1, length) * HIDDEN  # (B, 1, 1, S): for every query
        self.weights = nn.softmax(scores, 3)  # (B, h, T, S)
        joined = (self.weights @ v).permute(0, 2, 1, 3).contiguous()  # (B, h, T, Dh) -> (B, T, h, Dh)
        out: Tensor = self.out_projection(joined.view(*target.shape))  # (B, T, h, Dh) -> (B, T, D)
        return out

    def heads(self, x: Tensor) -> Tensor:
        """Give each head its features: (B, L, D) -> (B, h, L, Dh)."""
        batch, length, width = x.shape
        split = x.view(batch, length, self.n_head, width // self.n_head)  # (B, L, D) -> (B, L, h, Dh)
        return split.permute(0, 2, 1, 3)  # (B, L, h, Dh) -> (B, h, L, Dh)
