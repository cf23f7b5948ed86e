"""The notebook layout: one .ipynb whose cells are the four files."""

from __future__ import annotations

from grader.errors import UngradableError
from grader.intake.canonical import choose, is_canonical
from grader.intake.layouts.kinds import Found
from grader.intake.limits import MIB, NOTEBOOK_BYTES
from grader.intake.notebook import Cells, read_notebook
from grader.intake.tree import Tree, shown
from grader.submission import CANONICAL


def find(tree: Tree) -> Found | None:
    """Find the package's files in a notebook; one that comes beside any of the four files is only their author's notes.

    Raises:
        UngradableError: it is no notebook, or there are several and it is not clear which one is meant.
    """
    notebooks = {path: content for path, content in tree.sources.items() if path.lower().endswith(".ipynb")}
    if not notebooks or any(is_canonical(path) for path in tree.sources):
        return None
    path, cells = _the_one(notebooks)
    if not cells.files:
        wanted = f"expected {', '.join(CANONICAL)} in code cells that name their file (tag file:nn.py)"
        raise UngradableError(f"{wanted}, found none in {shown(path)}")
    folder = path.rpartition("/")[0]
    beside = {
        name.removeprefix(f"{folder}/"): content for name, content in tree.sources.items() if name.endswith(".py")
    }
    choice = choose({**beside, **cells.files})
    remarks = list(choice.remarks)
    if cells.dropped:
        remarks.append(f"{cells.dropped} lines of {shown(path)} that are commands of Jupyter were left out")
    missing = [target for target in CANONICAL if target not in choice.files]
    if missing:
        remarks.append(f"not handed in: {', '.join(missing)}")
    return Found("notebook", choice.files, tuple(remarks), cells.form)


def _the_one(notebooks: dict[str, bytes]) -> tuple[str, Cells]:
    read: dict[str, Cells] = {}
    for path, content in sorted(notebooks.items()):
        if len(content) > NOTEBOOK_BYTES:
            found = f"found {shown(path)} larger than that: clear its outputs"
            raise UngradableError(f"expected notebooks of at most {NOTEBOOK_BYTES // MIB} MiB, {found}")
        read[path] = read_notebook(path, content)
    # Of several, the one whose cells name their files; else the only one that defines anything.
    for candidates in ({path for path in read if read[path].tagged}, {path for path in read if read[path].files}):
        if len(candidates) == 1:
            path = candidates.pop()
            return path, read[path]
        if candidates:
            found = " and ".join(shown(path) for path in sorted(candidates))
            raise UngradableError(f"expected one notebook, found {found}: hand in one of them")
    path = min(read)
    return path, read[path]
