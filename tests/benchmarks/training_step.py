"""F1-F4: a whole training step, here with the modules as students write them, and in torch."""

from __future__ import annotations

import functools

import numpy as np

from .frame import Row, ratios
from .our_step import our_step
from .size import FULL, SMALL, Size
from .torch_step import COMPOSED, FUSED, Kit, torch_step


def against_torch(size: Size, dtype: str, kit: Kit) -> list[float]:
    """The ratios, after two steps that must give the same losses on both sides."""
    ours, state = our_step(size, dtype)
    theirs = torch_step(size, dtype, kit, state)
    for _ in range(2):
        np.testing.assert_allclose(ours(), theirs(), rtol=1e-3 if dtype == "float32" else 1e-9)
    return ratios(ours, theirs, repeat=size.repeat)


def row(name: str, floor: float, goal: float, size: Size, dtype: str, kit: Kit = FUSED) -> Row:
    """A row of this kind."""
    rival = "torch eager" if kit is FUSED else "torch with the same primitives"
    what = f"{'full' if size is FULL else 'small'} training step, {dtype}, 1 thread: composed / {rival}"
    return Row(name, what, floor, goal, functools.partial(against_torch, size, dtype, kit))


ROWS = (
    row("F1", 1.5, 1.0, FULL, "float32"),
    row("F2", 1.0, 0.65, FULL, "float32", COMPOSED),
    row("F3", 1.4, 1.0, FULL, "float64"),
    row("F4/float32", 1.5, 1.1, SMALL, "float32"),
    row("F4/float64", 1.8, 1.25, SMALL, "float64"),
)
