"""What layouts take and give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.intake.tree import Tree


@dataclass(frozen=True)
class Delivery:
    """What one student, or one group, handed in, before anything of it is read.

    Args:
        label: what the submission's id is made from.
        source: where it lies, as text for people.
        parts: the folders and files, each with the name that the student gave it.
        members: who hands in; nobody named where empty.
        layout: the class layout's name, for reports; "" where the file layout's says it all.
        remarks: what was unusual.
    """

    label: str
    source: str
    parts: tuple[tuple[str, Path], ...]
    members: tuple[str, ...] = ()
    layout: str = ""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Found:
    """The package's files, as a file layout found them; `form` where an `exercises.yaml` is no file of its own."""

    layout: str
    files: Mapping[str, bytes]
    remarks: tuple[str, ...] = ()
    form: bytes | None = None


ClassLayout = Callable[[Path, Sequence[str]], list[Delivery] | None]
"""(class folder, sorted names of the entries that may be submissions) -> deliveries; None: another layout."""

FileLayout = Callable[[Tree], Found | None]
"""What one delivery holds -> the package's files; None where it is not this layout."""
