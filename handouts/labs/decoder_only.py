"""What a decoder-only Transformer costs: its parameters, and the floating-point operations (FLOPs) for a token.

Letters: d the model's width, L layers, V tokens in the vocabulary, n the length of the sequence. A product
(p, q) @ (q, r) takes 2 p q r FLOPs: a multiplication and an addition for each of its p q r terms. Only matrix products
are counted; the rest takes time, but hardly any FLOPs.

Source: lecture 6, sections 8.1 to 8.3.
"""

from __future__ import annotations

from dataclasses import dataclass

from . import parameters


@dataclass(frozen=True)
class Decoder:
    """A decoder-only model whose output layer shares the token embedding, as in GPT-2.

    Attributes:
        vocab: V.
        dim: d; the feed-forward part is 4 d wide.
        layers: L.
        positions: rows of the learned table of positions.
    """

    vocab: int
    dim: int
    layers: int
    positions: int


GPT2_SMALL = Decoder(vocab=50_257, dim=768, layers=12, positions=1024)


def parameters_by_part(model: Decoder) -> dict[str, int]:
    """Count the parameters, part by part."""
    dim, layers = model.dim, model.layers
    return {
        "token embedding": model.vocab * dim,
        "position embedding": model.positions * dim,
        "attention": layers * parameters.attention(dim),
        "feed-forward": layers * parameters.feed_forward(dim, 4 * dim),
        "layer norms": (2 * layers + 1) * parameters.layer_norm(dim),
    }


def projection_flops(dim: int) -> int:
    """Count a layer's FLOPs for a token in its linear maps: 8 d^2 of attention's and 16 d^2 of the feed-forward's."""
    return 24 * dim * dim


def attention_flops(dim: int, length: int) -> int:
    """Count a layer's FLOPs for a token in q kT (2 n d) and weights v (2 n d): 4 n d.

    All n keys are counted, also those that a causal mask hides: they are computed, and then hidden.
    """
    return 4 * length * dim


def flops_by_part(model: Decoder, length: int) -> dict[str, int]:
    """Count the FLOPs of a forward pass for each token of a sequence of n, part by part."""
    dim, layers = model.dim, model.layers
    qkv, out = 6 * dim * dim, 2 * dim * dim
    return {
        "feed-forward": layers * (projection_flops(dim) - qkv - out),
        "output layer": 2 * dim * model.vocab,
        "q, k, v projections": layers * qkv,
        "attention core": layers * attention_flops(dim, length),
        "out projection": layers * out,
    }


def attention_share(dim: int, length: int) -> float:
    """Compute which share of a layer's FLOPs the attention core takes, from 0 to 1: n / (6 d + n)."""
    core = attention_flops(dim, length)
    return core / (core + projection_flops(dim))


def crossing(dim: int) -> int:
    """Compute from which length on the core takes more than the linear maps: n = 6 d, where 4 n d = 24 d^2."""
    return projection_flops(dim) // attention_flops(dim, 1)
