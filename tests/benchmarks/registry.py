"""Every row of the table, in its order. A new group is a file with its ROWS, named here."""

from __future__ import annotations

from . import grading, memory, primitives, training_step
from .frame import Row

ROWS: tuple[Row, ...] = (*training_step.ROWS, *memory.ROWS, *primitives.ROWS, *grading.ROWS)
