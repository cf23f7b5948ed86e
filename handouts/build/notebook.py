"""A notebook in one language, of a lab and what its code printed; the same bytes for the same lab and outputs."""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from .source import VOLATILE, Lab

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"file_extension": ".py", "mimetype": "text/x-python", "name": "python"},
}


def compose(lab: Lab, outputs: Sequence[Sequence[NotebookNode]], lang: str) -> NotebookNode:
    """Put a lab's text in one language, its code and its outputs together.

    Args:
        lab: the source.
        outputs: of each code cell, in order.
        lang: "en" or "zh".
    """
    cells = []
    number = 0
    for cell in lab.cells:
        if cell.code:
            number += 1
            metadata = {"tags": list(cell.tags)} if cell.tags else {}
            shown = list(outputs[number - 1])
            cells.append(code_cell(cell.source, metadata=metadata, outputs=shown, execution_count=number))
        elif cell.lang == lang:
            cells.append(text_cell(flowing(cell.source)))
    return notebook_of(cells)


def flowing(text: str) -> str:
    """Join the lines of a Chinese paragraph: Markdown would show a blank where one ends.

    A line is joined to the one before it where a wide character ends the one and begins the other; headings, tables
    and code stay as they are.
    """
    joined: list[str] = []
    open_fence = False
    for line in text.split("\n"):
        open_fence ^= line.startswith("```")
        before = joined[-1] if joined and not open_fence else ""
        if before and not before.startswith(("#", "|", "```")) and is_wide(before[-1]) and is_wide(line.lstrip()[:1]):
            joined[-1] += line.lstrip()
        else:
            joined.append(line)
    return "\n".join(joined)


def is_wide(character: str) -> bool:
    """Whether a character is one of Chinese text, punctuation included."""
    return bool(character) and (character in "“”…—" or unicodedata.east_asian_width(character) in {"W", "F"})


def text_cell(source: str) -> NotebookNode:
    """Make a text cell."""
    return new_markdown_cell(source)  # type: ignore[no-untyped-call,no-any-return] # nbformat has no annotations


def code_cell(source: str, **fields: Any) -> NotebookNode:
    """Make a code cell."""
    return new_code_cell(source, **fields)  # type: ignore[no-untyped-call,no-any-return]


def notebook_of(cells: Sequence[NotebookNode]) -> NotebookNode:
    """Make a valid notebook of cells, whose ids come from what they say: a change in one leaves the others alone.

    Raises:
        nbformat.ValidationError: a cell is malformed.
    """
    seen: Counter[str] = Counter()
    for cell in cells:
        digest = hashlib.sha256(f"{cell.cell_type} {cell.source}".encode()).hexdigest()[:12]
        seen[digest] += 1
        cell.id = digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"
    notebook = new_notebook(cells=list(cells), metadata=METADATA)  # type: ignore[no-untyped-call]
    nbformat.validate(notebook)
    return notebook  # type: ignore[no-any-return]


def to_bytes(notebook: NotebookNode) -> bytes:
    """Write a notebook as it stands in its file."""
    return str(nbformat.writes(notebook)).rstrip("\n").encode() + b"\n"  # type: ignore[no-untyped-call]


def from_bytes(content: bytes) -> NotebookNode | None:
    """Read a notebook; None when it is none, say after a merge that went wrong."""
    try:
        notebook = nbformat.reads(content.decode("utf-8"), as_version=4)  # type: ignore[no-untyped-call]
    except (ValueError, nbformat.ValidationError):
        return None
    return notebook if isinstance(notebook, NotebookNode) else None


def difference(fresh: NotebookNode, there: NotebookNode, *, pixels: bool) -> str:
    """Say in a few words where two notebooks differ, "" where they do not.

    What a volatile cell shows does not count.

    Args:
        fresh: as it was just made.
        there: as it is in its file.
        pixels: whether figures must be the same to the byte; else there must be as many. Another version of
            matplotlib, or another processor, draws them a little differently.
    """
    news = [comparable(cell, pixels=pixels) for cell in fresh.cells]
    olds = [comparable(cell, pixels=pixels) for cell in there.cells]
    for number, (new, old) in enumerate(zip(news, olds, strict=False), start=1):
        if new != old:
            what = "output" if new["source"] == old["source"] else "text"
            first = next(iter(str(new["source"]).splitlines()), "")
            return f"the {what} of cell {number}, which begins with `{first[:60]}`"
    if len(news) != len(olds):
        return f"it has {len(olds)} cells for {len(news)}"
    return "" if fresh.metadata == there.metadata else "its metadata"


def comparable(cell: NotebookNode, *, pixels: bool) -> dict[str, Any]:
    """Give of a cell what must be the same on every machine."""
    compared: dict[str, Any] = {key: value for key, value in cell.items() if key != "outputs"}
    if cell.cell_type == "code" and VOLATILE not in cell.metadata.get("tags", ()):
        compared["outputs"] = [_comparable_output(output, pixels=pixels) for output in cell.outputs]
    return compared


def _comparable_output(output: NotebookNode, *, pixels: bool) -> dict[str, Any]:
    if pixels or "image/png" not in output.get("data", {}):
        return dict(output)
    return {**output, "data": dict.fromkeys(output.data, "a figure")}
