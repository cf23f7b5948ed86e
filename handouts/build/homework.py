"""`hw3.ipynb`: the four files to fill, cut into cells; whoever fills them hands in this notebook, or the files.

Running a cell writes it into its file, by Jupyter's own `%%writefile`: the first cell of a file begins it anew, the
others are appended, and Python takes the last of two definitions. So the tests run on what stands in the cells, and
`grader.intake` puts the same files together from the same lines.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass

from nbformat import NotebookNode

from grader.submission import CANONICAL

from .notebook import code_cell, notebook_of, text_cell

FIRST = """\
# Homework 3 in a notebook

This notebook holds the four files of `assignment/`, cut into cells. Open it in the folder that holds `assignment/` and
`tests/`.

1. Run the cell below once.
2. Go through a problem from its first cell to its last: fill what raises `NotImplementedError`, and run every cell with
   Shift+Enter. Running a cell writes it into its file, it does not try your code out.
3. Run the test cell below the problem. Where you changed a cell, run that cell and then the tests again.

Keep the first line of each cell: it says which file the cell belongs to, and it is how your work is found when you hand
in this notebook. Work in the notebook or in the files, not in both: running the cells overwrites the files.

作业说明的中文版在 `hw3.zh.pdf`。
"""
SETUP = """\
import sys
from pathlib import Path

assert Path("assignment/framework").is_dir(), "open this notebook in the folder that holds assignment/ and tests/"
PYTEST = f'"{sys.executable}" -m pytest'\
"""
LAST = """\
## Hand in

Save the notebook and run `python -m assignment.submit --notebook` in this folder: it packs `hw3.ipynb` and prints a
receipt. Outputs may stay in it; cells of your own that name no file are left out. Without `--notebook` it packs the
files in `assignment/`, into which your cells were written. Hand in the one or the other: where there are files, a
notebook beside them counts as notes.
"""


@dataclass(frozen=True)
class Part:
    """A stretch of a file.

    Attributes:
        text: as it stands there, blank lines before it included; all parts together are the file.
        name: of the function or class to fill; "" for what is given.
    """

    text: str
    name: str


def notebook(stubs: Mapping[str, str], handout: str) -> NotebookNode:
    """Make the notebook.

    Args:
        stubs: name, such as "nn.py" -> the file as students get it.
        handout: the assignment's text in Markdown, or ""; its sections "## Problem 1 ..." stand above their cells.
    """
    cells = [text_cell(FIRST.strip()), code_cell(SETUP)]
    for number, file in enumerate(CANONICAL, start=1):
        cells.append(text_cell(section(handout, number) or f"## Problem {number}: `assignment/{file}`"))
        option = ""
        for part in parts(stubs[file]):
            if part.name:
                cells.append(text_cell(f"### Write `{part.name}`"))
            cells.append(code_cell(f"%%writefile {option}assignment/{file}\n{part.text.removesuffix(chr(10))}"))
            option = "-a "
        cells.append(code_cell(f"!{{PYTEST}} tests/test_{file}"))
    cells.append(text_cell(LAST.strip()))
    return notebook_of(cells)


def parts(text: str) -> list[Part]:
    """Cut a file: its head, then each function or class to fill, and what is given between them."""
    found: list[Part] = []
    begin = 0
    lines = text.splitlines(keepends=True)
    for node in ast.parse(text).body:
        stretch = "".join(lines[begin : node.end_lineno])
        begin = node.end_lineno or begin
        name = node.name if isinstance(node, ast.FunctionDef | ast.ClassDef) and is_stub(stretch) else ""
        if found and not name and not found[-1].name:
            found[-1] = Part(found[-1].text + stretch, "")
        else:
            found.append(Part(stretch, name))
    return found


def is_stub(text: str) -> bool:
    """Whether something in a definition is left to write."""
    return "raise NotImplementedError(" in text


def section(handout: str, number: int) -> str:
    """Give the handout's section on a problem, without the number of the section; "" where there is none."""
    sections = re.split(r"^(?=## )", handout, flags=re.MULTILINE)
    heading = re.compile(rf"## (?:\d+\. )?(?=Problem {number}\b)")
    return next((heading.sub("## ", text.strip(), count=1) for text in sections if heading.match(text)), "")
