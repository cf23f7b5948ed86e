"""Lays out what one worker sees: a folder of its own on disk, with the submission in it, gone when the session ends."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Self

import grader

from .workroom import workroom

GRADER = Path(grader.__file__).parent
WORKER = GRADER / "worker"
ASSIGNMENT = GRADER.parent / "assignment"
GIVEN = {name: ASSIGNMENT / name for name in ("framework", "training")}
"""What is given to students and never taken from them. Found beside the grader and not through `import assignment`: the
current folder may hold a student's."""

_MODULE = re.compile(r"(?:[^\W\d]\w*/){0,4}[^\W\d]\w*\.py")


class Stage:
    """A folder with `assignment/`: the submission's modules, an `__init__.py`, and places for what is given."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        """Writes the files.

        Only what Python can import as a module of the package is written, and nothing in the place of what is given:
        the pristine one goes there.
        """
        self._folder = tempfile.TemporaryDirectory(dir=workroom())
        self.root = Path(self._folder.name)
        self.package = self.root / "assignment"
        for name in GIVEN:
            (self.package / name).mkdir(parents=True)
        for name, source in {"__init__.py": b"", **files}.items():
            if _MODULE.fullmatch(name) and PurePosixPath(name).parts[0].removesuffix(".py") not in GIVEN:
                path = self.package / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(source)

    def close(self) -> None:
        """Removes the folder."""
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
