"""A submission: one student's delivered files, as bytes. Its code is never parsed in the trusted process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

CANONICAL = ("nn.py", "modules_basic.py", "transformer.py", "translation.py")
"""The four files that a student fills, in the order in which they build on each other."""

MAX_SOURCE_BYTES = 256 * 1024

EXERCISES = "exercises.yaml"
"""The form with a student's answers to the lecture's exercises; it may come beside the four files."""

MAX_EXERCISES_BYTES = 64 * 1024


@dataclass(frozen=True)
class Submission:
    """What intake found for one student (or group).

    Args:
        id: unique in the class, safe as a folder name: `[A-Za-z0-9._-]` and letters of any script.
        members: who hands in; the id itself when the layout names nobody.
        source: where it came from, relative to the class folder, as text for people.
        layout: "plain", "notebook", …
        sha256: of the one file that was handed in, as it came; of a folder's files, their names and contents.
        files: path inside the package ("nn.py", "helpers.py") -> source as delivered, UTF-8 or with a coding line.
        remarks: what was accepted although unusual.
        problem: why it is ungradable, for its student; "" when it is gradable.
        unread: why this machine could not read it, for staff; "" when it could. Never its student's fault.
        exercises: of its `exercises.yaml`; one byte above the limit stands for "too large". None: none came.
    """

    id: str
    members: tuple[str, ...]
    source: str
    layout: str
    sha256: str
    files: Mapping[str, bytes] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    problem: str = ""
    unread: str = ""
    exercises: bytes | None = None

    @property
    def received(self) -> Mapping[str, bytes]:
        """All that came in and is used: the sources, and the form where there is one."""
        return self.files if self.exercises is None else {**self.files, EXERCISES: self.exercises}
