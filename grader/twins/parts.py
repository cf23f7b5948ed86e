"""What every twin has in common, and the set of twins that compute together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import torch
from torch import nn

if TYPE_CHECKING:
    from collections.abc import Callable

Maker: TypeAlias = "Callable[..., Part]"
"""A twin class: called with the set of parts and the constructor arguments of what it is the twin of."""


class Part(nn.Module):
    """One twin. It makes the twins that it is built of from `parts`, so that a wrong one among them is used."""

    any_shape: ClassVar[bool] = False
    """Whether its parameters may have the submission's shapes, whatever they are."""

    def __init__(self, parts: Parts) -> None:
        super().__init__()
        self.parts = parts


@dataclass(frozen=True)
class Parts:
    """The twins of everything that a student writes.

    A misconception replaces one of them, as in `dataclasses.replace(RIGHT, attention=Unscaled)`; what is built of it
    follows by itself.
    """

    logsumexp: Maker
    softmax_loss: Maker
    linear: Maker
    embedding: Maker
    dropout: Maker
    layer_norm: Maker
    attention: Maker
    feed_forward: Maker
    layer: Maker
    lm: Maker
    loss_fn: Maker
    generate: Maker


class RefusalError(Exception):
    """Where a right submission raises: a sequence that is too long, heads that do not divide the width."""


def unset(*shape: int) -> nn.Parameter:
    """Make a parameter of NaN: whatever is computed before values are copied into it matches nothing."""
    return nn.Parameter(torch.full(shape, torch.nan, dtype=torch.float64))
