"""One look for every figure and table of the labs."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Any

import matplotlib as mpl
from cycler import cycler
from matplotlib.figure import Figure

# Okabe & Ito (2008), "Color Universal Design": told apart by colour-blind eyes. Sky blue and yellow, too pale for thin
# lines on white, are left out.
BLUE = "#0072B2"
ORANGE = "#E69F00"
GREEN = "#009E73"
RED = "#D55E00"
PURPLE = "#CC79A7"
GREY = "#6E6E6E"

STYLE: dict[Any, Any] = {  # matplotlib's types list every key that this version knows
    "figure.dpi": 100,
    "savefig.dpi": 100,
    "font.family": "DejaVu Sans",  # matplotlib brings it along, so a figure looks the same on every machine
    "font.size": 10,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": cycler(color=[BLUE, RED, GREEN, ORANGE, PURPLE, GREY]),
    "axes.grid": False,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.7,
    "axes.axisbelow": True,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "image.cmap": "viridis",  # even in lightness: readable in grey and by colour-blind eyes
    "image.interpolation": "nearest",
}


def figure(width: float = 7.0, height: float = 3.2, columns: int = 1) -> tuple[Figure, Any]:
    """Make an empty figure in the labs' look.

    Args:
        width: in inches; 7 fills a notebook's column.
        height: in inches.
        columns: how many axes stand side by side.

    Returns:
        The figure, and its `Axes`; for several columns an array of them.
    """
    mpl.rcParams.update(STYLE)  # for good: lines and legends take their look when they are drawn
    fig = Figure(figsize=(width, height), layout="constrained")
    return fig, fig.subplots(1, columns)


def show(fig: Figure) -> None:
    """Display a finished figure under its cell; in a plain script, where nobody looks, only draw it."""
    picture = png(fig)  # an error in a label is seen in a plain script, too
    try:
        from IPython.core.getipython import get_ipython  # noqa: PLC0415  # a plain script needs no IPython
        from IPython.display import Image, display  # noqa: PLC0415
    except ImportError:
        return
    if get_ipython():
        display(Image(data=picture, format="png"))  # type: ignore[no-untyped-call] # it has no annotations


def png(fig: Figure) -> bytes:
    """Draw a figure as PNG, without the name of the program that drew it."""
    packed = io.BytesIO()
    fig.savefig(packed, format="png", metadata={"Software": None})
    return packed.getvalue()


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Lay out a table as text: a column of numbers stands to the right, any other to the left.

    Args:
        headings: a name for each column, with its unit.
        rows: their cells, already rounded: each is written as `str` gives it.

    Raises:
        ValueError: a row has more or fewer cells than there are headings.
    """
    cells = [[str(cell) for cell in row] for row in rows]
    for row in cells:
        if len(row) != len(headings):
            raise ValueError(f"a row has {len(row)} cells, but there are {len(headings)} headings: {row}")
    columns = list(zip_longest(headings, *cells))
    widths = [max(map(len, column)) for column in columns]
    numeric = [bool(cells) and all(map(_is_number, column[1:])) for column in columns]
    lines = [list(headings), ["-" * width for width in widths], *cells]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, numeric, strict=True)
        ).rstrip()
        for line in lines
    )


def _is_number(cell: str) -> bool:
    """Whether a cell begins like a number: 12, -3.1, 1e-9, 1,024, 50%, 5x, - (for none)."""
    return cell.lstrip("+-~<>= ")[:1].isdigit() or cell in {"", "-", "nan", "inf", "-inf"}
