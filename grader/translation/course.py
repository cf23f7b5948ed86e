"""What every submission of a class is trained with, and one submission on it."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import msgspec

from grader.case import Limits
from grader.recipe import Line
from grader.student import Student
from grader.submission import Submission
from grader.verdict import Environment

from . import checkpoint, figure
from .lesson import Lesson
from .requests import Asker, FailedError
from .scoring import quick_bleu
from .training import Trained, Training
from .verdicts import Judged, Yardstick, of_bleu, of_run

RUN, BLEU = "p4.iwslt.run", "p4.iwslt.bleu"


@dataclass(frozen=True)
class Course:
    """How the long checks are assessed.

    Args:
        lesson: text, recipe and seed.
        device: "cpu" or "cuda"; the recipe is the one for it.
        scale: where points begin and end.
        is_relative: in shares of the reference's BLEU.
        limits: of one request.
        minutes: after these a run ends unfinished.
        environment: what a run follows from besides.
        place: the folder for one submission's checkpoint, by its id.
        resume: go on from the checkpoints of an earlier run of the grader.
        reference: the reference's BLEU where points are relative to it; None: they are not.
    """

    lesson: Lesson
    device: str
    scale: Line
    is_relative: bool
    limits: Limits
    minutes: float
    environment: Environment
    place: Callable[[str], Path]
    resume: bool = False
    reference: Fraction | None = None
    _begun: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def key(self) -> str:
        """A hash of all that a run follows from beside the submission; the time that it has is no part of it."""
        return _hash(self._same_for_all, self.environment)

    @property
    def seedless_key(self) -> str:
        """The same without the class's seed: what the reference's own training follows from."""
        return _hash(self._same_for_all, msgspec.structs.replace(self.environment, seed=""))

    @property
    def _same_for_all(self) -> list[object]:
        return [self.lesson.material.fingerprint, self.lesson.recipe, self.device]

    def train(self, submission: Submission, student: Student) -> Trainee:
        """One submission on this course; nothing is done until it is asked for."""
        return Trainee(self, submission, student)

    def folder_of(self, submission: Submission) -> Path:
        """Where a submission's checkpoint is; one of an earlier run is gone, unless this run is to go on from it."""
        folder = self.place(submission.id)
        with self._lock:
            is_first = submission.id not in self._begun
            self._begun.add(submission.id)
        if is_first and not self.resume:  # another attempt of this run goes on
            checkpoint.discard(folder)
        return folder


class Trainee:
    """One submission on a course; it is trained when the first of the long checks is judged."""

    def __init__(self, course: Course, submission: Submission, student: Student) -> None:
        self._course, self._submission, self._student = course, submission, student
        self._found: Trained | FailedError | None = None

    @property
    def is_unfinished(self) -> bool:
        """It was trained, and its time was up before the end."""
        return isinstance(self._found, Trained) and not self._found.finished

    def judged(self, check: str) -> Judged:
        """What became of a check.

        Raises:
            InfrastructureError: the grader or the machine failed; the checkpoint is kept.
            OSError: the checkpoint cannot be written.
        """
        found, course = self._trained(), self._course
        if isinstance(found, FailedError):
            return Judged(found.finding)
        if check == RUN:
            return of_run(found, course.lesson)
        return of_bleu(found, course.lesson, Yardstick(course.scale, course.reference))

    @property
    def bleu(self) -> float:
        """The score of a run that has come to its end."""
        found = self._trained()
        if isinstance(found, FailedError) or found.place.own is None:
            raise ValueError("BLEU of a run that has no translations")
        return quick_bleu(found.place.own, self._course.lesson.material.references)

    def _trained(self) -> Trained | FailedError:
        if self._found is None:
            self._found = self._train()
        return self._found

    def _train(self) -> Trained | FailedError:
        course, submission = self._course, self._submission
        folder = course.folder_of(submission)
        asker = Asker(self._student, course.lesson, course.limits, course.device)
        key = _hash(course.key, sorted(submission.files.items()))
        try:
            found = Training(course.lesson, asker, folder, key).run(course.minutes)
        except FailedError as error:
            return error
        figure.write(folder, found.place, course.lesson.material.references)
        return found


def _hash(*parts: object) -> str:
    """Of plain data."""
    return hashlib.sha256(b"\0".join(msgspec.json.encode(part, order="sorted") for part in parts)).hexdigest()
