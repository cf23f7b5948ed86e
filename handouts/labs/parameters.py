"""How many numbers the parts of a Transformer learn. Every linear map has a bias.

Letters: d the model's width, m the width between the two maps of the feed-forward part.

Source: lecture 6, section 8.1.
"""

from __future__ import annotations

from assignment.framework import Module


def attention(dim: int) -> int:
    """Count attention's four maps d -> d: 4 d^2 + 4 d, whatever the number of heads."""
    return 4 * dim * dim + 4 * dim


def feed_forward(dim: int, middle: int) -> int:
    """Count the maps d -> m and m -> d: 2 d m + m + d."""
    return 2 * dim * middle + middle + dim


def layer_norm(dim: int) -> int:
    """Count a scale and a shift for each feature: 2 d."""
    return 2 * dim


def block(dim: int, middle: int) -> int:
    """Count a layer of a decoder-only model or of an encoder: attention, feed-forward, two layer norms."""
    return attention(dim) + feed_forward(dim, middle) + 2 * layer_norm(dim)


def counted(module: Module, without: str = "") -> int:
    """Count what a module holds: the elements of all its parameters.

    Args:
        module: the module.
        without: leave out the parameters whose dotted name begins so; "": none.
    """
    return sum(
        parameter.value.size
        for name, parameter in module.named_parameters()
        if not without or not name.startswith(without)
    )
