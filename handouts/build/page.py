"""A lab that was run, as one HTML page without its code: for a release before the deadline."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from .notebook import comparable, notebook_of, text_cell
from .packages import pandoc
from .stamp import pinned, stamp_of

HERE = Path(__file__).parent
MADE_OF = (HERE / "page.css", HERE / "page.html", Path(__file__))
FIGURE = {"en": "Figure", "zh": "图"}
HTML_LANG = {"en": "en", "zh": "zh-Hans"}


def stamp(notebook: NotebookNode, root: Path) -> str:
    """Say what a notebook's page is made of: what must be the same on every machine, the layout, the converter."""
    said = [comparable(cell, pixels=False) for cell in notebook.cells]
    parts = [json.dumps(said, sort_keys=True).encode(), *(path.read_bytes() for path in MADE_OF)]
    return stamp_of(*parts, pinned(root / "constraints.txt", "pypandoc_binary"))


def page(notebook: NotebookNode, lang: str, root: Path) -> bytes:
    """Make the page: text, formulas as MathML, what was printed and drawn; figures, and style are inside.

    Args:
        notebook: a lab in one language, with outputs.
        lang: "en" or "zh".
        root: the project.

    Raises:
        UsageError: Pandoc is not there.
    """
    cells, figures = [], 0
    for cell in notebook.cells:
        text, figures = without_code(cell, figures, lang) if cell.cell_type == "code" else (cell, figures)
        if text.source:
            cells.append(deepcopy(text))
    settings = {"lang": HTML_LANG[lang], "title": title(notebook), "style": MADE_OF[0].read_text(encoding="utf-8")}
    options = [f"--variable={name}={value}" for name, value in settings.items()]
    options += ["--mathml", "--standalone", "--embed-resources", f"--template={MADE_OF[1]}", "--wrap=none"]
    options += [f"--variable=stamp={stamp(notebook, root)}"]
    return pandoc(str(nbformat.writes(notebook_of(cells))), "ipynb", "html5", options).encode()  # type: ignore[no-untyped-call]


def without_code(cell: NotebookNode, figures: int, lang: str) -> tuple[NotebookNode, int]:
    """Turn what a code cell showed into text; its code goes.

    Args:
        cell: a code cell with outputs.
        figures: how many there were before it.
        lang: names a figure for those who cannot see it; its caption stands below it.

    Returns:
        A text cell, empty where nothing was shown, and how many figures there are now.
    """
    parts, attached = [], {}
    for output in cell.outputs:
        data = output.get("data", {})
        if "image/png" in data:
            figures += 1
            name = f"{figures}.png"
            attached[name] = {"image/png": data["image/png"]}
            parts.append(f"![{FIGURE[lang]} {figures}](attachment:{name})")
        else:
            parts.append(fenced(output.get("text", data.get("text/plain", ""))))
    text = text_cell("\n\n".join(parts))
    if attached:
        text.attachments = attached
    return text, figures


def fenced(text: str) -> str:
    """Write text as a block that is shown as it stands."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}\n{text.strip(chr(10))}\n{fence}"


def title(notebook: NotebookNode) -> str:
    """Give a notebook's first heading."""
    return next((m[1] for cell in notebook.cells if (m := re.search(r"^# (.+)$", cell.source, re.MULTILINE))), "")
