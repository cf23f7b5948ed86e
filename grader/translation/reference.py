"""The yardstick: what BLEU the reference reaches on the same text, by the same recipe, in the same sandbox.

It is trained once; its score is kept beside what preflight remembers, and so is the checkpoint of an unfinished run.
"""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path

import msgspec

from grader.atomic import write_atomic
from grader.errors import InfrastructureError, RefusedToStartError
from grader.sandbox import Sandbox
from grader.student import Student
from grader.submission import Submission

from .course import RUN, Course
from .lesson import Lesson
from .scoring import shown

PUBLIC = b"the reference's own seed"
"""The same for every class, so that one training serves them all."""


class _Kept(msgspec.Struct, frozen=True):
    """What is kept of a finished training."""

    bleu: float
    minutes: float


def measured(
    course: Course,
    sandbox: Sandbox,
    files: Mapping[str, bytes],
    cache: Path,
    tell: Callable[[str], None] = lambda _: None,
) -> Course:
    """The course with the reference's BLEU in it, which is trained where it is not known yet.

    Args:
        course: of the class.
        sandbox: the class's.
        files: the reference's.
        cache: the folder for what is known.
        tell: called before and after training.

    Raises:
        RefusedToStartError: the reference does not come to its end, fails, or scores nothing.
    """
    key = course.seedless_key
    path = cache / f"{key}.json"
    kept = _known(path)
    if kept is None:
        tell(f"training the reference on {course.lesson.material.name}, once for this text, recipe and grader")
        kept = _train(course, sandbox, files, cache / key)
        with contextlib.suppress(OSError):  # without a cache the next run trains again, that is all
            write_atomic(path, msgspec.json.encode(kept))
    tell(f"the reference: BLEU {kept.bleu:.2f} after {kept.minutes:.1f} minutes; each submission takes about as long")
    return dataclasses.replace(course, reference=shown(kept.bleu))


def _known(path: Path) -> _Kept | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Kept)
    except (OSError, msgspec.MsgspecError):
        return None


def _train(course: Course, sandbox: Sandbox, files: Mapping[str, bytes], folder: Path) -> _Kept:
    lesson = Lesson(course.lesson.material, course.lesson.recipe, PUBLIC)
    own = dataclasses.replace(course, lesson=lesson, place=lambda _: folder, resume=True)
    submission = Submission("reference", ("reference",), "solution", "plain", "", dict(files))
    started = time.monotonic()
    try:
        with sandbox.open(files) as session:
            trainee = own.train(submission, Student(session))
            finding = trainee.judged(RUN).finding
    except InfrastructureError as error:
        raise RefusedToStartError(f"training the reference failed ({error}); start again to go on") from error
    if finding:
        raise RefusedToStartError(
            f"the reference's own training did not succeed ({finding.message}); start again to go on where it is, "
            "give it longer with --translation-minutes, or change the recipe in rubric.yaml"
        )
    found = trainee.bleu
    if shown(found) == Fraction(0):
        raise RefusedToStartError(
            f"the reference reaches BLEU 0 on {lesson.material.name}, so nothing can be held against it; give more "
            "text, or a longer recipe in rubric.yaml"
        )
    return _Kept(found, (time.monotonic() - started) / 60)
