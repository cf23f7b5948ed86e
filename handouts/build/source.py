"""A lab's source: Python in jupytext's percent format, its text in English and Chinese.

# %% [markdown] lang="en"
# ## 1. Soft look-up

# %% [markdown] lang="zh"
# ## 1. 软查表

# %% tags=["volatile"]
print(seconds)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import jupytext  # type: ignore[import-untyped] # it has no annotations

from .errors import BuildError

LANGUAGES = ("en", "zh")
"""Every text cell in the first is followed at once by the same in the second."""
VOLATILE = "volatile"
"""The tag of a cell whose output depends on the machine or the clock."""
SOURCE_NAME = re.compile(r"[0-9]{2}_\w+\.py")
_MARKER = re.compile(r"# %%(?:\s|$)")


@dataclass(frozen=True)
class Cell:
    """A cell of a source.

    Attributes:
        line: of its marker in the file, counted from 1.
        code: whether it is code; else it is text.
        source: without the marker, and text without the `#` before each line.
        lang: of a text cell, "en" or "zh"; "" for code, which stands in both.
        tags: such as "volatile".
    """

    line: int
    code: bool
    source: str
    lang: str
    tags: tuple[str, ...]

    @property
    def first_line(self) -> str:
        """What names the cell in a message."""
        return next(iter(self.source.strip().splitlines()), "")


@dataclass(frozen=True)
class Lab:
    """A lab as it was written.

    Attributes:
        path: of its source.
        cells: in order.
    """

    path: Path
    cells: tuple[Cell, ...]

    @property
    def name(self) -> str:
        """Such as "01_attention"."""
        return self.path.stem

    @property
    def code(self) -> tuple[Cell, ...]:
        """The cells that run."""
        return tuple(cell for cell in self.cells if cell.code)


def read_lab(path: Path) -> Lab:
    """Read a lab's source.

    Raises:
        BuildError: it is not in the percent format, or its text is not in both languages.
    """
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    markers = [number for number, line in enumerate(lines, start=1) if _MARKER.match(line)]
    if not markers or any(line.strip() for line in lines[: markers[0] - 1]):
        raise BuildError(f"{path}:1: expected a cell's marker, '# %%', before anything else")
    nodes = jupytext.reads(text, fmt="py:percent").cells
    if len(nodes) != len(markers):
        raise BuildError(f"{path}: jupytext sees {len(nodes)} cells, but {len(markers)} lines begin with '# %%'")
    cells = tuple(_cell(path, line, node) for line, node in zip(markers, nodes, strict=True))
    check_languages(path, cells)
    return Lab(path, cells)


def _cell(path: Path, line: int, node: dict[str, object]) -> Cell:
    metadata = node["metadata"]
    kind = str(node["cell_type"])
    if not isinstance(metadata, dict) or kind not in {"markdown", "code"}:
        raise BuildError(f"{path}:{line}: expected a code or a [markdown] cell, found {kind}")
    lang = str(metadata.get("lang", ""))
    if kind == "markdown" and lang not in LANGUAGES:
        raise BuildError(f'{path}:{line}: a text cell says its language: # %% [markdown] lang="en", or "zh"')
    if kind == "code" and lang:
        raise BuildError(f"{path}:{line}: code stands in both languages, but this cell has lang={lang!r}; take it away")
    return Cell(line, kind == "code", str(node["source"]), lang, tuple(metadata.get("tags", ())))


def check_languages(path: Path, cells: tuple[Cell, ...]) -> None:
    """See that every English text is followed at once by its Chinese one, with the same headings and formulas.

    Raises:
        BuildError: with the file and the line of the first cell that is alone or unlike its other.
    """
    rest = list(cells)
    while rest:
        cell = rest.pop(0)
        if cell.lang == "zh":
            raise BuildError(f"{path}:{cell.line}: a Chinese text without its English one right before it")
        if cell.lang != "en":
            continue
        if not rest or rest[0].lang != "zh":
            raise BuildError(f"{path}:{cell.line}: an English text without its Chinese one right after it")
        other = rest.pop(0)
        for what, found in (("headings", headings), ("displayed formulas", formulas)):
            here, there = found(cell.source), found(other.source)
            if here != there:
                raise BuildError(f"{path}:{other.line}: its {what} are {there}, those of the English text {here}")


def headings(text: str) -> list[str]:
    """Give the levels of a text's headings, such as ["#", "##"]."""
    return re.findall(r"^(#+) ", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)


def formulas(text: str) -> list[str]:
    """Give a text's displayed formulas, without blanks, the words in them and the punctuation behind them."""
    found = re.findall(r"\$\$(.+?)\$\$", text, re.DOTALL)
    bare = [re.sub(r"\\text\{[^}]*\}", r"\\text{}", "".join(formula.split())) for formula in found]
    return [formula.rstrip(".,;\uff0c\u3002\uff1b") for formula in bare]
