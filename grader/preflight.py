"""Before a batch: the reference must score full marks and blank stubs nothing, or no score of it could be trusted."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path

from grader.atomic import write_atomic
from grader.errors import GraderError, RefusedToStartError
from grader.fingerprint import ROOT
from grader.graded import GradeOne
from grader.submission import CANONICAL, EXERCISES, Submission
from grader.verdict import Report, Status, Verdict

REFERENCE = "reference"
BLANK = "blank"
_FINE = frozenset({Verdict.PASSED, Verdict.PENDING})


def check(
    grade_one: GradeOne,
    facts: Mapping[str, str],
    cache: Path,
    root: Path = ROOT,
    tell: Callable[[str], None] = lambda _: None,
) -> None:
    """Grade the reference and the stubs, unless the same was found right before.

    Args:
        grade_one: the very function that grades the class.
        facts: what the result follows from: grader, rubric, versions, tier, the checks selected.
        cache: the folder for what has passed.
        root: the folder that holds `solution/` and `assignment/`.
        tell: called before grading, which takes a while.

    Raises:
        RefusedToStartError: one of them does not come out as it must, or is not there.
    """
    passed = cache / hashlib.sha256(repr(sorted(facts.items())).encode()).hexdigest()
    if passed.exists():
        return
    reference = submission_of(root / "solution", REFERENCE)
    blank = submission_of(root / "assignment", BLANK)
    tell("checking that the reference scores full marks and blank stubs nothing (once for each version)")
    _require_full_marks(_report(grade_one, reference))
    _require_nothing(_report(grade_one, blank))
    with contextlib.suppress(OSError):  # without a cache the next run checks again, that is all
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomic(passed, b"")


def cache_folder(environment: Mapping[str, str], kind: str = "preflight") -> Path:
    """Where passed checks, or what else `kind` says, are remembered: `XDG_CACHE_HOME/hw3-grader/preflight`."""
    base = Path(environment.get("XDG_CACHE_HOME", ""))
    return (base if base.is_absolute() else Path("~/.cache").expanduser()) / "hw3-grader" / kind


def submission_of(folder: Path, identifier: str) -> Submission:
    """The four files of a folder, and its `exercises.yaml`, as a submission.

    Raises:
        RefusedToStartError: one is missing.
    """
    missing = [name for name in CANONICAL if not (folder / name).is_file()]
    if missing:
        raise RefusedToStartError(
            f"{folder} has no {', '.join(missing)}, so it cannot be checked that the reference scores full marks and "
            "blank stubs nothing; grade from the instructors' repository (a student release has no solution)"
        )
    files = {name: (folder / name).read_bytes() for name in CANONICAL}
    form = folder / EXERCISES
    digest = hashlib.sha256(b"".join(files.values())).hexdigest()
    return Submission(
        id=identifier,
        members=(identifier,),
        source=folder.name,
        layout="plain",
        sha256=f"sha256:{digest}",
        files=files,
        exercises=form.read_bytes() if form.is_file() else None,
    )


def _report(grade_one: GradeOne, submission: Submission) -> Report:
    try:
        return grade_one(submission).report
    except GraderError as error:
        raise RefusedToStartError(
            f"grading {submission.source}/ failed ({error}); repair that first, as no score could be trusted"
        ) from error


def _require_full_marks(report: Report) -> None:
    checks = [check for problem in report.problems for check in problem.checks]
    wrong = [f"{check.id} {check.verdict.value}" for check in checks if check.verdict not in _FINE]
    total = (report.score or 0) + report.pending
    if report.status is Status.GRADED and not wrong and total == report.max_score:
        return
    raise RefusedToStartError(
        f"the reference scores {report.score} with {report.pending} pending, expected {report.max_score} together"
        f" ({', '.join(wrong) or report.message or 'all passed'}); repair solution/ or the grader first"
    )


def _require_nothing(report: Report) -> None:
    if report.status is Status.GRADED and report.score == 0:
        return
    checks = [check for problem in report.problems for check in problem.checks]
    paid = [check.id for check in checks if check.points.earned or check.points.carried_forward]
    raise RefusedToStartError(
        f"blank stubs score {report.score}, expected 0 ({', '.join(paid) or report.message}); "
        "a check that pays for nothing must be repaired before grading"
    )
