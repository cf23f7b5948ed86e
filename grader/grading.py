"""Sets up what grades submissions on this machine: rubric, sandbox, stubs, and what reports say of them."""

from __future__ import annotations

import dataclasses
import difflib
import fnmatch
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from grader import pipeline, rubric, sandbox, translation
from grader.errors import UsageError
from grader.fingerprint import ROOT, of_grader
from grader.graded import Graded, GradeOne
from grader.preflight import BLANK, REFERENCE, submission_of
from grader.seed import fingerprint
from grader.submission import Submission
from grader.verdict import Environment

DISTRIBUTION = "hw3-autograder"


@dataclass(frozen=True)
class Grading:
    """What a batch is graded with.

    Args:
        grade_one: grades one submission.
        environment: what a second run must have in common to give the same bytes.
        bench: what `grade_one` grades with.
        warning: what staff must know of the isolation; "" where it is the best there is.
    """

    grade_one: GradeOne
    environment: Environment
    bench: pipeline.Bench
    warning: str = ""


def prepare(secret: bytes, sandbox_choice: str, only: Sequence[str]) -> Grading:
    """Everything that is set up once for a class.

    Args:
        secret: the class's seed.
        sandbox_choice: "auto" or the name of a tier.
        only: glob patterns over check ids; none: all.

    Raises:
        UsageError: the rubric is malformed, or a pattern matches no check.
        RefusedToStartError: student code cannot be isolated here, or the stubs are missing.
    """
    lines = rubric.load()
    _require_matches(only, lines.ids)
    box = sandbox.probe(sandbox_choice)
    bench = pipeline.Bench(
        rubric=lines,
        sandbox=box,
        stubs=submission_of(ROOT / "assignment", BLANK).files,
        secret=secret,
        environment=environment(lines, box.tier, secret),
        reference=submission_of(ROOT / "solution", REFERENCE).files,
        only=tuple(only),
    )

    def grade_one(submission: Submission) -> Graded:
        return pipeline.grade(submission, bench)

    return Grading(grade_one, bench.environment, bench, box.warning)


def course(
    bench: pipeline.Bench, source: str, minutes: float | None, place: Callable[[str], Path], *, resume: bool
) -> translation.Course:
    """What the long checks train on, loaded and cut.

    Args:
        bench: of the class.
        source: a folder of text, or "iwslt14".
        minutes: for one submission; None: the rubric's.
        place: the folder for a submission's checkpoint, by its id.
        resume: go on from the checkpoints of an earlier run.

    Raises:
        UsageError: the text cannot be used, or no long check is selected.
    """
    asked, wanted = bench.rubric.translation, bench.rubric.selected(bench.only)
    line = next((line for line in bench.rubric.checks if line.long and line.id in wanted), None)
    if asked is None or line is None:
        raise UsageError(f"--translation {source} is for checks that --only leaves out; leave one of the two away")
    recipe = asked.recipe(gpu=bench.sandbox.has_gpu)
    return translation.Course(
        lesson=translation.Lesson(translation.prepare(source, recipe, asked.test_sentences), recipe, bench.secret),
        device="cuda" if bench.sandbox.has_gpu else "cpu",
        scale=asked.scale,
        is_relative=asked.relative is not None,
        limits=bench.rubric.limits_of(line),
        minutes=asked.minutes if minutes is None else minutes,
        environment=bench.environment,
        place=place,
        resume=resume,
    )


def on_course(bench: pipeline.Bench, course: translation.Course, cache: Path, tell: Callable[[str], None]) -> GradeOne:
    """What grades one submission, its long checks too; first the reference is trained, where it is the yardstick.

    Args:
        bench: of the class.
        course: what the long checks train on.
        cache: the folder for what the reference scored.
        tell: called around its training.

    Raises:
        RefusedToStartError: the reference does not come to its end, or scores nothing.
    """
    if course.is_relative:
        course = translation.measured(course, bench.sandbox, {**bench.stubs, **bench.reference}, cache, tell)
    equipped = dataclasses.replace(bench, course=course)

    def grade_one(submission: Submission) -> Graded:
        return pipeline.grade(submission, equipped)

    return grade_one


def _require_matches(only: Sequence[str], checks: Sequence[str]) -> None:
    for pattern in only:
        if not fnmatch.filter(checks, pattern):
            near = ", ".join(difflib.get_close_matches(pattern, checks)) or ", ".join(checks[:4]) + ", …"
            raise UsageError(f"--only {pattern!r} matches no check; did you mean one of {near}?")


def environment(lines: rubric.Rubric, tier: str, secret: bytes) -> Environment:
    """What a second run must have in common to give the same bytes."""
    return Environment(
        grader=f"{metadata.version(DISTRIBUTION)}+{of_grader()[:12]}",
        python=platform.python_version(),
        numpy=metadata.version("numpy"),
        torch=metadata.version("torch"),
        sandbox=tier,
        rubric=f"sha256:{lines.sha256}",
        seed=fingerprint(secret),
    )
