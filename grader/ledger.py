"""`ledger.jsonl`: one line for every submission whose files are on disk; it is what `--resume` trusts."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from grader.submission import Submission


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One finished submission.

    Args:
        id: the submission's.
        submission: a hash of everything of it that its report shows.
        run: what else the report follows from: rubric, seed, grader, options, tier, versions.
        files: name -> sha256 of what was written.
        unfinished: there is more to find out, so it is graded again.
    """

    id: str
    submission: str
    run: dict[str, str]
    files: dict[str, str]
    unfinished: bool = False


class Ledger:
    """The open ledger of a run. A line is written only after the files that it speaks of."""

    def __init__(self, path: Path, *, keep: bool) -> None:
        """Open `path`; without `keep` it begins anew.

        Raises:
            OSError: it cannot be written.
        """
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | (0 if keep else os.O_TRUNC)
        self._descriptor = os.open(path, flags, 0o644)
        size = os.fstat(self._descriptor).st_size
        if size and os.pread(self._descriptor, 1, size - 1) != b"\n":
            os.write(self._descriptor, b"\n")  # a killed run left half a line; the next one must not continue it

    def append(self, line: Line) -> None:
        """Add a line and see it to the disk.

        Raises:
            OSError: the disk is full.
        """
        data = msgspec.json.encode(line) + b"\n"
        if os.write(self._descriptor, data) != len(data):
            raise OSError(f"only part of the ledger's line for {line.id} could be written; the disk may be full")
        os.fsync(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)


def read(path: Path) -> dict[str, Line]:
    """The last line of each submission; half-written or foreign lines are passed over, so their work is done again."""
    if not path.exists():
        return {}
    found: dict[str, Line] = {}
    for text in path.read_bytes().split(b"\n"):
        try:
            line = msgspec.json.decode(text, type=Line)
        except msgspec.MsgspecError:
            continue
        found[line.id] = line
    return found


def holds(line: Line, submission: Submission, run: Mapping[str, str], folder: Path) -> bool:
    """Whether the files in `folder` are what grading `submission` in such a run would write again."""
    return (
        not line.unfinished
        and line.submission == identity(submission)
        and line.run == run
        and all(_sha256(folder / name) == sha256 for name, sha256 in line.files.items())
    )


def identity(submission: Submission) -> str:
    """A hash of everything of a submission that its report shows: the files, but also who handed in, and from where."""
    shown = (
        submission.id,
        submission.members,
        submission.source,
        submission.layout,
        submission.sha256,
        sorted(submission.files),
        submission.remarks,
        submission.problem,
    )
    return hashlib.sha256(repr(shown).encode("utf-8", "backslashreplace")).hexdigest()


def _sha256(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
