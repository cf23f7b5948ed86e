"""What an attack must leave as it was, looked at before and after: files, shared memory, processes, mounts."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from grader.sandbox.workroom import workroom

MARK = "hw3-attack"
"""Stands in the name of everything that an attack makes, so that no other program is blamed for what is found."""

GROUND = "ground-"
"""How the folders are called in which attacks are carried out; they lie beside the staged submissions."""

KEY = 0x68770000 | os.getpid() & 0xFFFF
"""Of every System V object that an attack of this process makes; it begins with "hw"."""

LITTERED = (Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"))  # noqa: S108 - looked at, never written to
"""Where anybody may make files, beside the temporary folder, the current one and the user's own."""

_OWNER = re.compile(rf"{MARK}-(\d+)-")
_PROC = Path("/proc")

Look = frozenset[str]
"""What was seen, each thing as a text that says what it is, and of a file its contents' hash."""


def near(*folders: Path) -> Look:
    """What belongs to one attack alone: files with the mark, System V objects with the key, the folders' contents."""
    contents = (line for folder in folders for line in _contents(folder))
    return frozenset([*_entries(), *_system_v(), *contents])


def around() -> Look:
    """What cannot be told apart while sandboxes are open: descendants of this process, mounts, staged submissions."""
    room = workroom()  # first, as making it starts a process
    staged = [str(path) for path in room.iterdir() if not path.name.startswith(GROUND)]
    return frozenset([*staged, *_descendants(), *_mounts()])


def changes(before: Look, after: Look) -> str:
    """What differs between two looks, in a line; "" where nothing does."""
    left = [f"left behind: {thing}" for thing in sorted(after - before)]
    return "; ".join([*left, *(f"gone or changed: {thing}" for thing in sorted(before - after))])


def _contents(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        kind = f"sha256 {hashlib.sha256(path.read_bytes()).hexdigest()}" if path.is_file() else "no file"
        yield f"{path} ({kind})"


def _entries() -> Iterator[str]:
    """Files and folders with the mark, in the places where a program could leave some."""
    for place in {Path(tempfile.gettempdir()), *LITTERED, Path.cwd(), Path.home()}:
        yield from (str(path) for path in place.glob(f"*{MARK}*") if _is_ours(path.name))


def _is_ours(text: str) -> bool:
    """Whether a thing's name is not that of another process's attack."""
    owner = _OWNER.search(text)
    return owner is None or int(owner[1]) == os.getpid()


def _system_v() -> Iterator[str]:
    for kind in ("shm", "sem", "msg"):
        try:
            rows = (_PROC / "sysvipc" / kind).read_text().splitlines()[1:]
        except OSError:
            continue  # not every kernel has them
        yield from (f"System V {kind} {row.split()[1]}" for row in rows if int(row.split()[0]) == KEY)


def _mounts() -> list[str]:
    lines = (_PROC / "self" / "mountinfo").read_text().splitlines()
    return [f"mount {line}" for line in lines if _is_ours(line)]


def _descendants() -> Iterator[str]:
    """Children, their children and so on, the ended ones that nobody waited for included."""
    processes: dict[int, tuple[int, str]] = {}
    for entry in _PROC.glob("[0-9]*/stat"):
        try:
            head, _, tail = entry.read_text(errors="replace").rpartition(")")
        except OSError:
            continue  # it has ended meanwhile
        state, parent, *rest = tail.split()
        number, _, name = head.partition(" (")
        words = f"process {number} ({name}, started at {rest[17]})" + (", a zombie" if state == "Z" else "")
        processes[int(number)] = int(parent), words
    yield from (words for number, (_, words) in processes.items() if os.getpid() in _ancestors(number, processes))


def _ancestors(number: int, processes: Mapping[int, tuple[int, str]]) -> Iterator[int]:
    while number in processes:
        number = processes[number][0]
        yield number
