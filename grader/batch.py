"""Many submissions: side by side, each one's files written as it finishes, no one's fault another's."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from grader import ledger
from grader.atomic import write_atomic
from grader.errors import InfrastructureError, RefusedToStartError
from grader.graded import Graded, GradeOne
from grader.report.feedback import Style
from grader.report.folder import LEDGER, REPORT, STAFF, folder_of, write_submission
from grader.report.yaml import load_report
from grader.submission import Submission
from grader.verdict import Report, Status

ATTEMPTS = 2

T = TypeVar("T")
Hold = Callable[[], contextlib.AbstractContextManager[None]]
"""Makes what a step is put into that a signal must not interrupt."""


@dataclass(frozen=True)
class Plan:
    """How to go about a batch.

    Args:
        out: the folder that everything is written to; it exists.
        run: what every report follows from beside its submission; the ledger keeps it.
        style: of the feedback.
        jobs: submissions graded at a time.
        resume: keep the reports that the ledger vouches for.
        only: id of the one submission to grade; the others keep the report they have. "": all.
    """

    out: Path
    run: Mapping[str, str]
    style: Style = field(default_factory=Style)
    jobs: int = 1
    resume: bool = False
    only: str = ""


@dataclass(frozen=True)
class Done:
    """What became of one submission.

    Args:
        submission: which.
        report: None when the grader failed, or when it was not to be graded and has no report.
        fault: why the grader failed, for staff; "" when it did not.
        kept: the report is of an earlier run.
    """

    submission: Submission
    report: Report | None
    fault: str = ""
    kept: bool = False


@contextlib.contextmanager
def sole_use(out: Path) -> Iterator[None]:
    """Hold `out` for this grader alone; the lock ends with the process, however it ends.

    Raises:
        RefusedToStartError: another grader is writing there.
    """
    out.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(out / ".lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise RefusedToStartError(
            f"another grader is writing to {out}; wait until it has ended, or name another folder with --out"
        ) from error
    try:
        yield
    finally:
        os.close(descriptor)


def grade_all(
    submissions: Sequence[Submission],
    grade_one: GradeOne,
    plan: Plan,
    tell: Callable[[Done], None] = lambda _: None,
    hold: Hold = contextlib.nullcontext,
) -> list[Done]:
    """Grade a class; what is finished is on disk, whole, whenever this ends.

    Args:
        submissions: with ids of their own.
        grade_one: called from several threads; any exception of it is the grader's fault and is tried once more.
        plan: see there.
        tell: called in this thread for each submission, as it finishes.
        hold: round the writing of each submission.

    Returns:
        One entry a submission, by id, whatever finished first; an infrastructure error is an entry too.

    Raises:
        OSError: the ledger cannot be opened.
        InfrastructureError: this machine cannot even start a thread.
        KeyboardInterrupt: told to stop; what was running is dropped, nothing of it is written.
    """
    lines = ledger.read(plan.out / LEDGER) if plan.resume else {}
    kept = [done for submission in submissions if (done := _earlier(submission, lines, plan))]
    for done in kept:
        tell(done)
    skip = {done.submission.id for done in kept}
    todo = sorted((s for s in submissions if s.id not in skip), key=lambda s: s.id)
    with ledger.Ledger(plan.out / LEDGER, keep=plan.resume or bool(plan.only)) as book:
        graded = []
        for submission, attempt in _graded(todo, grade_one, plan.jobs):
            with hold():
                graded.append(_written(submission, attempt, plan, book))
                tell(graded[-1])
    return sorted([*kept, *graded], key=lambda done: done.submission.id)


@dataclass(frozen=True)
class _Attempt:
    graded: Graded | None
    wall_s: float
    trace: str = ""


def _graded(todo: Sequence[Submission], grade_one: GradeOne, jobs: int) -> Iterator[tuple[Submission, _Attempt]]:
    """Each submission and what came of it, in the order in which they finish."""
    pool: Executor = ThreadPoolExecutor(jobs, thread_name_prefix="grade")
    try:
        futures = {_submitted(pool, grade_one, submission): submission for submission in todo}
        for future in as_completed(futures):
            yield futures.pop(future), future.result()
    finally:
        # Not `with`: that would wait, on Ctrl-C too, for submissions whose results nobody takes any more.
        pool.shutdown(wait=False, cancel_futures=True)


def _submitted(pool: Executor, grade_one: GradeOne, submission: Submission) -> Future[_Attempt]:
    try:
        return pool.submit(_attempt, grade_one, submission)
    except RuntimeError as error:
        raise InfrastructureError(
            f"no thread could be started ({error}); close other programs or run fewer at a time (--jobs), with --resume"
        ) from error


def _attempt(grade_one: GradeOne, submission: Submission) -> _Attempt:
    started = time.perf_counter()
    trace = ""
    for _ in range(ATTEMPTS):
        graded, trace = _tried(lambda: grade_one(submission))
        if graded and graded.report.status is not Status.INFRASTRUCTURE_ERROR:
            return _Attempt(graded, time.perf_counter() - started)
        if graded:
            trace = graded.report.message or "the pipeline reported an infrastructure error without a reason"
    return _Attempt(None, time.perf_counter() - started, trace)


def _tried(step: Callable[[], T]) -> tuple[T | None, str]:
    """What a step gives and ""; or None and the trace of whatever went wrong in it."""
    try:
        return step(), ""
    except Exception:  # noqa: BLE001 - the one place where whatever went wrong becomes a verdict of its own: one
        return None, traceback.format_exc()  # submission must never stop the batch, nor the grader's bug be its zero.


def _written(submission: Submission, attempt: _Attempt, plan: Plan, book: ledger.Ledger) -> Done:
    graded = attempt.graded
    if graded is None:
        return _failed(submission, attempt.trace, plan.out)

    def write() -> bool:
        files = write_submission(plan.out, graded, attempt.wall_s, plan.style)
        run = dict(plan.run)
        identity, unfinished = ledger.identity(submission), graded.unfinished
        book.append(ledger.Line(id=submission.id, submission=identity, run=run, files=files, unfinished=unfinished))
        return True

    is_written, trace = _tried(write)
    return Done(submission, graded.report) if is_written else _failed(submission, trace, plan.out)


def _failed(submission: Submission, trace: str, out: Path) -> Done:
    """An infrastructure error: the report of an earlier run stays as it is, the trace is kept for staff."""
    folder = out / STAFF / "errors"
    with contextlib.suppress(OSError):  # where the disk is full the trace is lost, but its last line is still printed
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        name = folder_of(folder, submission.id).name
        write_atomic(folder / f"{name}.txt", trace.encode("utf-8", "backslashreplace"), mode=0o600)
    return Done(submission, None, fault=trace.strip().splitlines()[-1])


def _earlier(submission: Submission, lines: Mapping[str, ledger.Line], plan: Plan) -> Done | None:
    """The report of an earlier run, where this one is to keep it."""
    folder = folder_of(plan.out, submission.id)
    if plan.only:
        if submission.id == plan.only:
            return None
        return Done(submission, _existing(folder), kept=True)
    line = lines.get(submission.id)
    if line is None or not ledger.holds(line, submission, plan.run, folder):
        return None
    report = _existing(folder)
    return None if report is None else Done(submission, report, kept=True)


def _existing(folder: Path) -> Report | None:
    try:
        return load_report((folder / REPORT).read_bytes())
    except (OSError, InfrastructureError):
        return None
