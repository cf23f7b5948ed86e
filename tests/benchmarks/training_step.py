"""F1, F3, F4: a whole training step (forward, loss, backward, Adam) with the modules as students write them, and torch's."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional

from assignment.framework import Adam, TensorBackend, tensor
from solution.nn import softmax_loss
from solution.transformer import DecoderLM

from .frame import Row, ratios
from .torch_model import TorchLM

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


FULL = Size(n_vocab=10_000, n_embd=256, n_head=8, n_layer=4, batch=128, seq=40, repeat=1)
SMALL = Size(n_vocab=200, n_embd=64, n_head=4, n_layer=2, batch=16, seq=20, repeat=20)


def steps(size: Size, dtype: str) -> tuple[Callable[[], float], Callable[[], float]]:
    """One training step, here and in torch, on the same batch from the same parameters; each returns its loss."""
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    ids, labels = rng.integers(0, size.n_vocab, (2, size.batch, size.seq))
    backend = TensorBackend(dtype=dtype, seed=0)
    model = DecoderLM(
        size.n_vocab, size.n_embd, size.n_head, size.seq, p_dropout=0, backend=backend, n_layer=size.n_layer
    )
    optimiser = Adam(model.parameters(), lr=LEARNING_RATE)
    x, y = tensor(ids, backend), tensor(labels.reshape(-1), backend)  # (B, S), (B S,)

    def ours() -> float:
        optimiser.zero_grad()
        loss = softmax_loss(model(x).view(-1, size.n_vocab), y).mean()  # (B, S, V) -> (B S, V)
        loss.backward()
        optimiser.step()
        return loss.item()

    torch_model = TorchLM(size.n_vocab, size.n_embd, size.n_head, size.seq, size.n_layer).to(getattr(torch, dtype))
    torch_model.copy_from(model.state())
    torch_optimiser = torch.optim.Adam(torch_model.parameters(), lr=LEARNING_RATE)
    torch_x, torch_y = torch.tensor(ids), torch.tensor(labels.reshape(-1))  # (B, S), (B S,)

    def theirs() -> float:
        torch_optimiser.zero_grad()
        loss = functional.cross_entropy(torch_model(torch_x).view(-1, size.n_vocab), torch_y)  # (B S, V)
        loss.backward()
        torch_optimiser.step()
        return float(loss.item())

    return ours, theirs


def against_eager(size: Size, dtype: str) -> list[float]:
    """The ratios, after two steps that must give the same losses on both sides."""
    ours, theirs = steps(size, dtype)
    for _ in range(2):
        np.testing.assert_allclose(ours(), theirs(), rtol=1e-3 if dtype == "float32" else 1e-9)
    return ratios(ours, theirs, repeat=size.repeat)


def row(name: str, what: str, floor: float, goal: float, size: Size, dtype: str) -> Row:
    """A row of this kind."""
    what = f"{what}, {dtype}, 1 thread: composed / torch eager"
    return Row(name, what, floor, goal, functools.partial(against_eager, size, dtype))


ROWS = (
    row("F1", "full training step", 1.5, 1.0, FULL, "float32"),
    row("F3", "full training step", 1.4, 1.0, FULL, "float64"),
    row("F4/float32", "small training step", 1.5, 1.1, SMALL, "float32"),
    row("F4/float64", "small training step", 1.8, 1.25, SMALL, "float64"),
)
