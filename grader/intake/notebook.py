"""Notebooks: read with nbformat, never executed; the code cells become the files that they belong to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import nbformat

from grader.errors import UngradableError
from grader.intake.canonical import targets_defined
from grader.intake.encoding import refuse_wide
from grader.intake.tree import is_exercises, shown

# What json and nbformat raise on text that is no notebook, or one that is nested a million deep.
_NO_NOTEBOOK = (ValueError, LookupError, TypeError, AttributeError, RecursionError, nbformat.ValidationError)
_FUTURE = re.compile(r"^from __future__ import .*$", re.MULTILINE)
_FORMAT = 4  # of 2014; older ones would need nbformat's conversion, which validates at length
_NAMED = r"(?:assignment/)?(?P<name>[\w./-]+\.py|exercises\.yaml)"
_TAG = re.compile(rf"(?:file:)?\s*{_NAMED}\s*")
# `*+` and `++` give nothing back of what they took: a cell of a megabyte of blanks is read once, not for hours.
_FIRST_LINE = re.compile(rf"\s*+(?:#\s*+file:|%%writefile\s++(?:-a\s)?|%%file\s)\s*+{_NAMED}[ \t]*+(?:\n|$)")
# `!=` and `% b` may begin a continued line of Python; a magic is a percent sign with a name at once.
_COMMAND = re.compile(
    r"([ \t]*+)(?:(?:[\w, ]++=[ \t]*+)?(?:%{1,2}[A-Za-z]|!(?!=)).*|\?{1,2}[A-Za-z_].*|[A-Za-z_][\w.]*\?{1,2}[ \t]*+)"
)
_FOREIGN_CELL = re.compile(
    r"\s*%%(?:bash|sh|script|html|HTML|javascript|js|latex|markdown|svg|perl|ruby|cmd|python2)\b"
)
_DEFINITION = re.compile(r"^(?:import|from|def|class|@)\b|^@", re.MULTILINE)
# A line that runs nothing: indented, a comment, a closing bracket or quote, an import, a definition, an assignment.
_RUNS_NOTHING = re.compile(r"[\s#@)\]}\"']|(?:import|from|def|class)\b|[A-Za-z_][\w]*[ \t]*(?::[^=]*)?=(?!=)|$")


@dataclass(frozen=True)
class Cells:
    """What the code cells of a notebook came to.

    Args:
        files: file name -> source, in UTF-8.
        tagged: whether the cells name their files; if not, `files` has at most one entry, all definitions together.
        dropped: how many magic and shell lines were left out.
        form: what cells that name `exercises.yaml` hold; None: there are none.
    """

    files: Mapping[str, bytes]
    tagged: bool
    dropped: int
    form: bytes | None = None


def read_notebook(name: str, content: bytes) -> Cells:
    """Turn the code cells of a notebook into files.

    Cells that name a file (tag `file:nn.py`, metadata `file: nn.py`, first line `# file: nn.py` or
    `%%writefile nn.py`) are joined in order. If no cell does, the cells that define something are joined into one
    source, as the notebook has one namespace; cells that only try things out are left out. Cells that name
    `exercises.yaml` (`%%writefile exercises.yaml`) are no Python, and are kept as they stand.

    Raises:
        UngradableError: it is no notebook, or not in UTF-8.
    """
    named = _code_cells(name, content)
    cells = [(file, *_python_of(text)) for file, text in named if not is_exercises(file)]
    form = [text for file, text in named if is_exercises(file)]
    tagged = any(file for file, _, _ in cells)
    if not tagged:
        cells = [(name if _only_defines(source) else "", source, dropped) for _, source, dropped in cells]
    parts: dict[str, list[str]] = {}
    for file, source, _ in cells:
        if file:
            parts.setdefault(file, []).append(source)
    # A lone surrogate cannot be UTF-8: it becomes a question mark, in a string that was none anyway.
    files = {file: _joined(sources).encode("utf-8", "replace") + b"\n" for file, sources in parts.items()}
    filled = "\n".join(form).encode("utf-8", "replace") if form else None
    return Cells(files, tagged, sum(dropped for file, _, dropped in cells if file), filled)


def _joined(sources: Sequence[str]) -> str:
    """Cells as one file; what must stand at its top (`from __future__ import …`) is moved there from later cells."""
    if not any(_FUTURE.search(source) for source in sources[1:]):
        return "\n\n".join(sources)
    futures = dict.fromkeys(line for source in sources for line in _FUTURE.findall(source))
    return "\n\n".join([*futures, *(_FUTURE.sub("", source) for source in sources)])


def _code_cells(name: str, content: bytes) -> list[tuple[str, str]]:
    """Give the code cells' sources, each with the file that it names ("" for none)."""
    refuse_wide(shown(name), content)
    try:
        # Not `nbformat.reads`: it would also validate, at length, and warn about what is harmless.
        notebook = nbformat.reader.reads(content.decode("utf-8-sig"))  # type: ignore[no-untyped-call] # it has no annotations
        if notebook["nbformat"] != _FORMAT:
            raise UngradableError(f"expected a notebook of format {_FORMAT}, found that {shown(name)} is of another")
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        return [_named(str(cell["source"]), cell["metadata"]) for cell in cells]
    except _NO_NOTEBOOK as error:
        raise UngradableError(f"expected a Jupyter notebook, found that {shown(name)} cannot be read as one") from error


def _named(source: str, metadata: Mapping[str, Any]) -> tuple[str, str]:
    tags = [str(tag) for tag in metadata.get("tags", ()) if str(tag).startswith("file:")]
    for tag in [*tags, str(metadata.get("file", ""))]:
        if found := _TAG.fullmatch(tag):
            return found["name"], source
    if found := _FIRST_LINE.match(source):
        return found["name"], source[found.end() :]
    return "", source


def _python_of(source: str) -> tuple[str, int]:
    """Leave out magics and shell lines; give what remains and how many lines went."""
    lines = source.rstrip("\n").split("\n")
    if _FOREIGN_CELL.match(source):
        return "", len(lines)
    kept, dropped = [], 0
    for line in lines:
        command = _COMMAND.fullmatch(line)
        if command is None:
            kept.append(line)
            continue
        dropped += 1
        if command[1]:  # in a block, which might be empty without it
            kept.append(f"{command[1]}pass")
    return "\n".join(kept), dropped


def _only_defines(source: str) -> bool:
    if targets_defined(source.encode("utf-8", "replace")):
        return True
    return bool(_DEFINITION.search(source)) and all(_RUNS_NOTHING.match(line) for line in source.splitlines())
