"""A small table of numbers as a picture: each number in its cell, cells of one group in one colour."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from numpy.typing import NDArray

from handouts.labs import figures


def draw(axis: Axes, numbers: NDArray[Any], groups: NDArray[Any], title: str, row_names: tuple[str, ...]) -> None:
    """Draw a grid.

    Args:
        axis: where to draw it.
        numbers: what stands in the cells, (rows, columns).
        groups: 0 or 1 for each cell, (rows, columns): blue or orange.
        title: what stands above it.
        row_names: what stands to the left of each row.
    """
    axis.imshow(groups, cmap=ListedColormap([figures.BLUE, figures.ORANGE]), vmin=0, vmax=1, aspect="equal")
    for (row, column), number in np.ndenumerate(numbers):
        ink = "black" if groups[row, column] else "white"  # white on orange is hard to read
        axis.text(column, row, f"{number:g}", ha="center", va="center", color=ink, fontsize=12, fontweight="bold")
    axis.set_title(title)
    axis.set_xticks([])
    axis.set_yticks(range(len(row_names)), row_names)
    axis.tick_params(length=0)
    for side in axis.spines.values():
        side.set_visible(False)
    rows, columns = numbers.shape
    axis.hlines(np.arange(rows + 1) - 0.5, -0.5, columns - 0.5, color="white", linewidth=2)
    axis.vlines(np.arange(columns + 1) - 0.5, -0.5, rows - 0.5, color="white", linewidth=2)
