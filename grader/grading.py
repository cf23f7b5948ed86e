"""Sets up what grades submissions on this machine: rubric, sandbox, stubs, and what reports say of them."""

from __future__ import annotations

import difflib
import fnmatch
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata

from grader import pipeline, rubric, sandbox
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
    _require_matches(only, [line.id for line in lines.checks])
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
