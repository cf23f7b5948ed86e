"""What the grader itself is made of, as a hash: a report is only as old as the sources that wrote it."""

from __future__ import annotations

import hashlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
"""The folder that holds `grader/`, `assignment/` and, for instructors, `solution/`."""

SOURCES = frozenset({".py", ".yaml", ".json"})


def of_folders(*folders: Path) -> str:
    """The sha256 over names and contents of all sources below `folders`; one that is missing counts as empty."""
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in SOURCES and path.is_file():
                name = f"{folder.name}/{path.relative_to(folder).as_posix()}".encode()
                content = path.read_bytes()
                digest.update(b"%d %d " % (len(name), len(content)) + name + content)
    return digest.hexdigest()


def of_grader() -> str:
    """The hash of all that a score depends on beside the submission: grader, framework, stubs, reference, answers."""
    folders = "grader", "assignment", "solution", "handouts/exercises"
    return of_folders(*(ROOT / folder for folder in folders))
