"""The parameters of the Transformer of 2017: an encoder and a decoder, and what sharing one embedding table saves.

Sources: Vaswani et al. (2017), "Attention Is All You Need", sections 3.1 and 3.4, table 3; lecture 6, section 4.1.
"""

from __future__ import annotations

from dataclasses import dataclass

from . import parameters

TABLES = 3
"""Tables V x d without sharing: the source's tokens, the target's tokens, the output layer."""


@dataclass(frozen=True)
class Original:
    """A configuration of the paper.

    Attributes:
        vocab: V, tokens of the vocabulary that source and target share.
        dim: d, the model's width.
        middle: width between the two maps of the feed-forward part.
        layers: of the encoder, and as many of the decoder.
    """

    vocab: int
    dim: int
    middle: int
    layers: int = 6


BASE = Original(vocab=37_000, dim=512, middle=2048)
BIG = Original(vocab=37_000, dim=1024, middle=4096)


@dataclass(frozen=True)
class Part:
    """Modules of one kind: how many parameters each has, and how many of them there are."""

    name: str
    each: int
    times: int

    @property
    def total(self) -> int:
        """The parameters of all of them."""
        return self.each * self.times


def parts(model: Original, *, shared: bool = True) -> list[Part]:
    """List every module that has parameters. The position encodings are computed, and have none.

    A decoder layer has a second attention, to the encoder's output, and a layer norm for it.

    Args:
        model: the configuration.
        shared: whether one table serves as both embeddings and as the output layer.
    """
    dim, layers = model.dim, model.layers
    return [
        Part("embedding table", model.vocab * dim, 1 if shared else TABLES),
        Part("encoder attention", parameters.attention(dim), layers),
        Part("decoder attention", parameters.attention(dim), layers),
        Part("cross-attention", parameters.attention(dim), layers),
        Part("feed-forward", parameters.feed_forward(dim, model.middle), 2 * layers),
        Part("layer norm", parameters.layer_norm(dim), (2 + 3) * layers),
    ]


def total(model: Original, *, shared: bool = True) -> int:
    """Count all parameters."""
    return sum(part.total for part in parts(model, shared=shared))


def saving(model: Original) -> float:
    """Compute which share of the parameters sharing saves: 2 V d of all there would be, from 0 to 1."""
    return 1 - total(model) / total(model, shared=False)
