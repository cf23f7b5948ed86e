"""What there is to hand in: the four files with your helpers, or the notebook; and the answers to the exercises."""

from __future__ import annotations

import io
import json
import re
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

FOUR = ("nn.py", "modules_basic.py", "transformer.py", "translation.py")
NOTEBOOK, EXERCISES = "hw3.ipynb", "exercises.yaml"
GIVEN = frozenset({"__init__.py", "reversal.py", "submit.py", "handing_in", "framework", "training"})
"""What in `assignment/` is not a student's: work is graded with the original."""
SOURCE_BYTES, NOTEBOOK_BYTES = 256 * 1024, 4 * 1024 * 1024
"""No larger file is graded."""
_TAG = re.compile(r"file:\s*(?:assignment/)?(\w+\.py)\s*")
_FIRST_LINE = re.compile(r"\s*(?:#\s*file:|%%writefile\s+(?:-a\s)?|%%file\s)\s*(?:assignment/)?(\w+\.py)[ \t]*(?:\n|$)")
_COMMAND = re.compile(r"^([ \t]*)(?:%{1,2}[A-Za-z]|!(?!=)).*$", re.MULTILINE)
"""A line that is meant for Jupyter."""
_EMPTY_LINE = re.compile(r"\s*([\w.]+:\s*\|?\s*)?(#.*)?")
"""A line of `exercises.yaml` in which nothing is filled in: a name, or a remark."""


class UnfitError(Exception):
    """Nothing can be handed in like this; the text says what was found, what was expected, and what to do."""


@dataclass(frozen=True)
class Piece:
    """A stretch of source, and how to say where it stands: "assignment/nn.py", "hw3.ipynb, cell 3"."""

    place: str
    text: str


@dataclass(frozen=True)
class Work:
    """What can be handed in together.

    Args:
        packed: path inside the archive -> content.
        sources: file name, "nn.py" -> its text, in one piece or in cells.
        problem: why it cannot be handed in; "" when it can.
    """

    packed: Mapping[str, bytes] = field(default_factory=dict)
    sources: Mapping[str, tuple[Piece, ...]] = field(default_factory=dict)
    problem: str = ""


def find(folder: Path) -> tuple[Work, Work, dict[str, bytes]]:
    """Read what is there: the files in `assignment/`, the notebook beside that folder, the answers to the exercises.

    Args:
        folder: `assignment/`.

    Raises:
        UnfitError: a file is a folder or a pipe, too large, or no text. Of the notebook its `problem` says so: it may
            not be wanted.
        OSError: a file cannot be read.
    """
    paths = {path.relative_to(folder).as_posix(): path for path in sorted(_own(folder))}
    contents = {name: _read(path, f"assignment/{name}", SOURCE_BYTES) for name, path in paths.items()}
    sources = {name: (Piece(f"assignment/{name}", _text(name, content)),) for name, content in contents.items()}
    files = Work({f"assignment/{name}": content for name, content in contents.items()}, sources)
    answers = folder / EXERCISES
    form = answers.read_bytes() if answers.is_file() else b""
    is_filled = not all(_EMPTY_LINE.fullmatch(line) for line in form.decode("utf-8", "replace").splitlines())
    return files, _notebook(folder.parent / NOTEBOOK), {f"assignment/{EXERCISES}": form} if is_filled else {}


def _own(folder: Path) -> Iterator[Path]:
    """Find the four files and whatever a student has put beside them that Python can import."""
    for path in folder.rglob("*.py"):
        parts = path.relative_to(folder).parts
        if parts[0] not in GIVEN and all(part.removesuffix(".py").isidentifier() for part in parts):
            yield path


def _read(path: Path, shown: str, limit: int) -> bytes:
    if not path.is_file():  # a folder; or a pipe, which would keep us waiting
        raise UnfitError(f"{shown} is not a file; put one there, or take away what is")
    content = path.read_bytes()
    if len(content) > limit:
        raise UnfitError(f"{shown} has {len(content):,} bytes, {limit:,} are the most; take out what is not needed")
    return content


def _text(name: str, content: bytes) -> str:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        text = content.decode(encoding)
    except (SyntaxError, UnicodeDecodeError) as error:
        raise UnfitError(f"assignment/{name} is not in UTF-8 ({error}); save it as UTF-8") from error
    if "\0" in text:
        raise UnfitError(f"assignment/{name} is no text: it holds a zero byte; save it as UTF-8")
    return text


def _notebook(path: Path) -> Work:
    """Read the notebook's cells that belong to a file; nothing where there is no notebook."""
    if not path.is_file():
        return Work()
    try:
        content = _read(path, NOTEBOOK, NOTEBOOK_BYTES)
    except UnfitError as error:
        return Work(problem=f"{error}: clear its outputs")
    sources: dict[str, tuple[Piece, ...]] = {}
    try:
        for number, cell in enumerate(json.loads(content)["cells"], start=1):
            text = "".join(cell["source"])
            name = _file_of(cell["metadata"].get("tags", ()), text) if cell["cell_type"] == "code" else ""
            if name:
                piece = Piece(f"{NOTEBOOK}, cell {number}", _COMMAND.sub(r"\1pass", text))
                sources[name] = (*sources.get(name, ()), piece)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return Work(problem=f"{NOTEBOOK} is no notebook; save it again in Jupyter, or move it away")
    return Work({NOTEBOOK: content}, sources)


def _file_of(tags: Sequence[str], text: str) -> str:
    """Give the file that a cell belongs to, by its tags or its first line; "" for none."""
    tagged = (_TAG.fullmatch(tag) for tag in tags)
    found = next((found for found in (*tagged, _FIRST_LINE.match(text)) if found), None)
    return found[1] if found else ""
