"""Where attacks are carried out: a secret that none may read, and another student, whose report must stay."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import os
import secrets
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from grader import pipeline
from grader.fingerprint import ROOT
from grader.graded import Graded
from grader.pipeline import Bench
from grader.sandbox.workroom import workroom
from grader.selfcheck import surroundings
from grader.selfcheck.attacks import Attack
from grader.selfcheck.surroundings import Look
from grader.submission import Submission

BYSTANDER = "bystander"
"""Another student, whose report must stay as it is."""

BYSTANDERS_CHECK = "p1.lse.value"


@dataclasses.dataclass(frozen=True)
class Ground:
    """A place for attacks; made by `prepared`.

    Args:
        folder: everything lies below it.
        secret: what stands in the file that no attack may read.
        reference: the solution's files, name -> text.
        known: all attacks.
        bench: what the attacks are graded with.
        bystander: who hands in beside each of them.
        graded: what the bystander got.
        before: the surroundings before the first attack.
    """

    folder: Path
    secret: str
    reference: Mapping[str, str]
    known: Sequence[Attack]
    bench: Bench
    bystander: Submission
    graded: Graded
    before: Look
    _numbers: Iterator[int] = dataclasses.field(default_factory=lambda: itertools.count(1))

    @property
    def canary(self) -> Path:
        """The folder with the secret and another student's files; nothing in it may be read or changed."""
        return self.folder / "canary"

    def constants(self) -> dict[str, object]:
        """What a deed knows: the project's folder, that of the secret, a name for what it makes, a System V key."""
        name = f"{surroundings.MARK}-{os.getpid()}-{next(self._numbers)}"
        return {"PROJECT": str(ROOT), "CANARY": str(self.canary), "NAME": name, "KEY": surroundings.KEY}

    def left_behind(self) -> str:
        """What all attacks together have changed around them, once all are over; "" for nothing."""
        return surroundings.changes(self.before, surroundings.around())


@contextlib.contextmanager
def prepared(
    bench: Bench, reference: Submission, texts: Mapping[str, str], known: Sequence[Attack], keep: Path | None = None
) -> Iterator[Ground]:
    """A place for attacks, gone afterwards, `kill -9` included.

    Args:
        bench: what they are graded with.
        reference: the solution, which the bystander hands in.
        texts: its files, with the markers.
        known: all attacks.
        keep: a folder to use instead, which stays.
    """
    with tempfile.TemporaryDirectory(prefix=surroundings.GROUND, dir=workroom()) as made:
        folder = keep or Path(made)
        secret = secrets.token_hex(16)
        bystander = dataclasses.replace(reference, id=BYSTANDER, members=(BYSTANDER,))
        graded = pipeline.grade(bystander, dataclasses.replace(bench, only=(BYSTANDERS_CHECK,)))
        ground = Ground(folder, secret, texts, known, bench, bystander, graded, surroundings.around())
        (ground.canary / BYSTANDER).mkdir(parents=True)
        (ground.canary / "secret").write_text(secret + "\n", encoding="ascii")
        for name, content in bystander.files.items():
            (ground.canary / BYSTANDER / name).write_bytes(content)
        yield ground
