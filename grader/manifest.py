"""What a student release consists of, and where each file of it comes from. Nothing else is ever in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.errors import UsageError

README = "handouts/docs/student.md"
"""The page for students is the release's README."""
OPEN_LABS = ("02_positions", "04_residuals_and_norms", "05_recipe", "06_costs")
"""Notebooks that a student can run."""
CLOSED_LABS = ("01_attention", "03_modules_beside_torch", "07_reversal_sentences")
"""Labs whose code holds what Problems 1 to 3 ask for: as executed pages without it, which `handouts.build` makes."""
LABS, BUILT = "handouts/labs", "handouts/labs/built"
WITHHELD = "torch"
"""A lab's module that imports it stays here: it does what Problem 3 asks for, in PyTorch's words. The cells that import
such a module are not for students to run; what they printed is there.
"""


@dataclass(frozen=True)
class Part:
    """Files of this repository that go into the release as they are.

    Args:
        glob: which, from the repository's root.
        below: the folder here that their paths in the release begin below.
        into: the folder of the release that they go into.
        but: the name of one that stays here.
    """

    glob: str
    below: str = ""
    into: str = ""
    but: str = ""


PARTS = (
    Part("LICENSE"),
    Part("handouts/release/*", below="handouts/release"),
    Part("handouts/release/.github/workflows/*", below="handouts/release"),
    # What a student works with; the four files to fill are made from the solution.
    Part("assignment/__init__.py"),
    Part("assignment/reversal.py"),
    Part("assignment/submit.py"),
    Part("assignment/exercises.yaml"),
    Part("assignment/framework/*.py"),
    Part("assignment/handing_in/*.py"),
    Part("assignment/training/*.py"),
    Part("handouts/hw3.ipynb", below="handouts"),
    Part("tests/*.py", but="gpu.py"),
    Part("tests/fixtures/*"),
    # What a student reads, and runs to see.
    Part("handouts/hw3.*.md"),
    Part("handouts/hw3.*.pdf"),
    Part("handouts/exercises/exercises.*.md", below="handouts/exercises", into="handouts"),
    Part("handouts/__init__.py"),
    Part("handouts/labs/__init__.py"),
    *(Part(f"{BUILT}/{lab}.*.ipynb", below=BUILT, into=LABS) for lab in OPEN_LABS),
    *(Part(f"{BUILT}/{lab}.*.html", below=BUILT, into=LABS) for lab in CLOSED_LABS),
)


def as_they_are(root: Path) -> dict[str, Path]:
    """List the files that are released as they are: path in the release -> path here.

    Raises:
        UsageError: a part of the release is not there.
    """
    found = {"README.md": root / README}
    for part in PARTS:
        paths = [path for path in root.glob(part.glob) if path.is_file() and path.name != part.but]
        if not paths:
            raise UsageError(f"a release needs {part.glob}, which is not there; `make generate` makes what is built")
        found |= {(Path(part.into) / path.relative_to(root / part.below)).as_posix(): path for path in paths}
    return found | {path.relative_to(root).as_posix(): path for path in lab_modules(root / LABS)}


def lab_modules(folder: Path) -> set[Path]:
    """Find the small modules that the open labs import, and those that these import, without what is withheld."""
    found: set[Path] = set()
    waiting = [folder / f"{lab}.py" for lab in OPEN_LABS]
    while waiting:
        names = {name.rpartition(".")[2] for name in imported(waiting.pop())}
        there = {path for path in (folder / f"{name}.py" for name in names) if path.is_file()}
        new = {path for path in there - found if WITHHELD not in imported(path)}
        found |= new
        waiting += new
    return found


def imported(path: Path) -> Iterator[str]:
    """Give the modules that a source may import, each with its dots: "numpy", "handouts.labs.figures", ".figures"."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)
