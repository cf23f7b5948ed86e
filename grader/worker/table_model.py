"""A language model that is one table, in place of the student's own: so that Problem 4 is judged without Problem 3."""

from __future__ import annotations

from typing import Any

import numpy as np

from .case import Array, Framework


def table_model(table: Array, framework: Framework, backend: Any, *, drops: bool = False) -> Any:
    """A framework module whose logits after token `t` are row `t` of `table`.

    Args:
        table: (V, V).
        framework: the module `assignment.framework`.
        backend: of the logits.
        drops: in training mode it reads row `t + 1` instead: what is to be called in evaluation mode shows.

    Returns:
        A module with the parameter `table`: `forward(idx)` takes (B, S) and gives (B, S, V).
    """
    module = framework.Module

    class TableModel(module):  # type: ignore[misc, valid-type]  # the framework is found at run time
        """The table as a module."""

        def __init__(self) -> None:
            super().__init__()
            self.table = framework.Parameter(framework.tensor_from_numpy(table, backend=backend), "table")

        def forward(self, idx: Any) -> Any:
            """Logits (B, S, V) of ids (B, S)."""
            ids = np.asarray(idx.to_numpy(), dtype=np.int64) + int(drops and self.training)
            one_hot = np.eye(len(table))[ids % len(table)]  # (B, S, V)
            rows = framework.tensor_from_numpy(one_hot, backend=backend)
            return rows @ self.table.value  # (B, S, V) @ (V, V) -> (B, S, V)

    return TableModel()
