"""The two models of the table, and the batch that they are trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

LEARNING_RATE = 1e-3


@dataclass(frozen=True)
class Size:
    """The model, the batch, and how many steps are timed together."""

    n_vocab: int
    n_embd: int
    n_head: int
    n_layer: int
    batch: int
    seq: int
    repeat: int

    def ids(self) -> tuple[Any, Any]:
        """Words and labels, each (B, S)."""
        words, labels = np.random.default_rng(0).integers(0, self.n_vocab, (2, self.batch, self.seq))
        return words, labels


FULL = Size(n_vocab=10_000, n_embd=256, n_head=8, n_layer=4, batch=128, seq=40, repeat=1)
SMALL = Size(n_vocab=200, n_embd=64, n_head=4, n_layer=2, batch=16, seq=20, repeat=20)
