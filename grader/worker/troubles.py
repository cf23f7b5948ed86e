"""Whatever student code raised, as a status word and cleaned text. Nothing that it raises may escape from here."""

from __future__ import annotations

import os.path
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from .case import Outcome, Trouble
from .text import KIND_CHARS, SOURCE_CHARS, TEXT_CHARS, clean, is_module_path, message

T = TypeVar("T")

MAX_LINE = 1_000_000


class MissingError(Exception):
    """The target, a constructor argument or a method does not exist."""


class BadValueError(Exception):
    """The student's code returned something that cannot be judged."""


_WORDS: tuple[tuple[type[BaseException], str], ...] = (
    (MissingError, "missing"),
    (BadValueError, "bad_value"),
    (NotImplementedError, "unwritten"),
    (MemoryError, "memory"),
)


class Guard:
    """Runs student code; `folder` is where its files lie, the framework's apart."""

    def __init__(self, folder: str) -> None:
        self._folder = folder + os.path.sep
        # Of a folder that is made anew for each submission, no text shows where it lies.
        root = os.path.dirname(os.path.dirname(folder))  # noqa: PTH120 - as in `main`
        self._places = {self._folder: ""} | (
            {root + os.path.sep: os.path.sep, root: os.path.sep} if root != os.path.sep else {}
        )

    def run(self, action: Callable[[], T]) -> tuple[T | None, Outcome]:
        """What `action` returned, and "ok"; or None and what it raised, of whatever kind."""
        try:
            return action(), Outcome()
        except BaseException as error:  # noqa: BLE001 - student code may raise SystemExit or a class of its own
            return None, self._describe(error)

    def _describe(self, error: BaseException) -> Outcome:
        """The outcome that stands for an exception, whose own methods may misbehave."""
        cls = type(error)
        word = next((word for kind, word in _WORDS if issubclass(cls, kind)), "raised")
        kind = clean(type.__dict__["__name__"].__get__(cls), KIND_CHARS)
        kind = kind if kind.isidentifier() else "Exception"
        try:
            text = message(str(error), TEXT_CHARS, self._places)
        except BaseException:  # noqa: BLE001 - its __str__ is student code too
            text = "(its own message cannot be shown: __str__ raised)"
        if issubclass(cls, MissingError | BadValueError):
            return Outcome(word, Trouble(text=text))
        file, line, source = self._place(error)
        return Outcome(word, Trouble(kind=kind, text=text, file=file, line=line, source=source))

    def _place(self, error: BaseException) -> tuple[str, int, str]:
        """File, line and source of the innermost frame in the student's own files; empty where there is none."""
        place = _place_of_syntax(error) if issubclass(type(error), SyntaxError) else ("", 0)
        if not self._is_own(place[0]):
            place = ("", 0)
            # Read past an attribute of the same name that a student's class may define.
            trace: TracebackType | None = BaseException.__dict__["__traceback__"].__get__(error)
            while trace is not None:
                name = trace.tb_frame.f_code.co_filename
                place = (name, trace.tb_lineno or 0) if self._is_own(name) else place
                trace = trace.tb_next
        file, line = place
        if not file:
            return "", 0, ""
        return file.removeprefix(self._folder), max(0, min(line, MAX_LINE)), _source(file, line)

    def _is_own(self, file: str) -> bool:
        if type(file) is not str:  # student code can give a code object a name of its own making
            return False
        path = file.removeprefix(self._folder)
        return path != file and is_module_path(path) and not path.startswith("framework/")


def _place_of_syntax(error: BaseException) -> tuple[str, int]:
    """Where a SyntaxError says that it is."""
    file, line = (SyntaxError.__dict__[name].__get__(error) for name in ("filename", "lineno"))
    return (file, line) if type(file) is str and type(line) is int else ("", 0)


def _source(file: str, line: int) -> str:
    try:
        lines = Path(file).read_bytes().splitlines()
    except (OSError, ValueError):
        return ""
    return clean(lines[line - 1].decode("utf-8", "replace"), SOURCE_CHARS) if 0 < line <= len(lines) else ""
