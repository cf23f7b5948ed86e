"""One submission on its way: its files, the rubric's checks in order, verdicts, points, report."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from fractions import Fraction

import msgspec
import numpy as np

from grader import checks, score
from grader.case import Fault, FaultKind
from grader.diagnose import Causes, describe, diagnose
from grader.evidence import gather
from grader.follow import carried_forward
from grader.graded import Graded
from grader.judge import judge
from grader.rubric import CheckLine, Rubric
from grader.sandbox import Sandbox
from grader.seed import public_seed
from grader.student import Student
from grader.submission import Submission
from grader.verdict import SCHEMA, Environment, Outcome, Report, SubmissionReport, Verdict
from grader.verdict import Status as ReportStatus

_NO_ANSWER = {
    FaultKind.TIMEOUT: Verdict.TIMEOUT,
    FaultKind.MEMORY: Verdict.MEMORY,
    FaultKind.OUTPUT: Verdict.ERROR,
    FaultKind.DIED: Verdict.ERROR,
    FaultKind.PROTOCOL: Verdict.ERROR,
}
_ANSWERED = {Verdict.PASSED, Verdict.FAILED, Verdict.PENDING}


@dataclass(frozen=True)
class Bench:
    """What every submission of a class is graded with.

    Args:
        rubric: the checks and their points.
        sandbox: where the student's code runs.
        stubs: the release's files, which stand in for missing ones.
        secret: the class's seed; never leaves the trusted process.
        environment: what the reports say of all this.
        only: glob patterns over check ids; what does not match is pending. Empty: all.
    """

    rubric: Rubric
    sandbox: Sandbox
    stubs: Mapping[str, bytes]
    secret: bytes
    environment: Environment
    only: tuple[str, ...] = ()


def grade(submission: Submission, bench: Bench) -> Graded:
    """Grade one submission.

    Raises:
        InfrastructureError: the grader or the machine failed; the submission is not to blame.
    """
    if submission.problem:
        return Graded(_ungradable(submission, bench), {})
    outcomes: dict[str, Outcome] = {}
    causes: dict[str, Causes] = {}
    timings: dict[str, float] = {}
    wanted = _wanted(bench)
    with bench.sandbox.open({**bench.stubs, **submission.files}) as session:
        student = Student(session)
        for line in bench.rubric.checks:
            start = time.perf_counter()
            outcome = _not_assessed(line, outcomes, wanted)
            if outcome is None:
                outcome, causes[line.id] = _assess(line, student, bench, causes)
            outcomes[line.id] = outcome
            timings[line.id] = time.perf_counter() - start
    return Graded(_report(submission, bench, carried_forward(outcomes, causes)), timings)


def _wanted(bench: Bench) -> frozenset[str]:
    """The ids that `only` selects, with all that they need."""
    chosen = {c.id for c in bench.rubric.checks if not bench.only or any(fnmatchcase(c.id, p) for p in bench.only)}
    for line in reversed(bench.rubric.checks):  # needs stand above what needs them
        if line.id in chosen:
            chosen |= {*line.needs, *line.after}
    return frozenset(chosen)


def _not_assessed(line: CheckLine, outcomes: Mapping[str, Outcome], wanted: frozenset[str]) -> Outcome | None:
    if line.pending:
        return Outcome(verdict=Verdict.PENDING, message=line.pending)
    if line.id not in wanted:
        return Outcome(verdict=Verdict.PENDING, message="not selected by --only")
    for earlier in line.needs:
        if outcomes[earlier].verdict not in _ANSWERED:
            return Outcome(verdict=Verdict.SKIPPED, message=f"needs {earlier}, which gave no answer")
    for earlier in line.after:
        if outcomes[earlier].verdict is not Verdict.PASSED and outcomes[earlier].diagnosis is None:
            return Outcome(verdict=Verdict.SKIPPED, message=f"needs {earlier} to pass")
    return None


def _assess(line: CheckLine, student: Student, bench: Bench, causes: Mapping[str, Causes]) -> tuple[Outcome, Causes]:
    """One check: its cases to the worker in one request, the same cases to the twins, both sets of arrays compared."""
    draw = checks.Draw(np.random.default_rng(public_seed(bench.secret, line.id)))
    trials = checks.trials(line.id, draw)
    answers = student.run([trial.case for trial in trials], bench.rubric.limits)
    if isinstance(answers, Fault):
        return Outcome(verdict=_NO_ANSWER[answers.kind], message=answers.text), ()
    exhibits, tolerance = gather(trials, answers), bench.rubric.tolerance(line)
    finding = judge(exhibits, tolerance)
    if finding is None:
        return Outcome(verdict=Verdict.PASSED, share=Fraction(1)), ()
    found = diagnose(exhibits, finding, tolerance, earlier=[m for known in causes.values() for m in known])
    outcome = Outcome(
        verdict=finding.verdict,
        error=finding.error,
        diagnosis=describe(found),
        message=finding.message,
        unwritten=finding.unwritten,
    )
    return outcome, found


def _ungradable(submission: Submission, bench: Bench) -> Report:
    nothing = Outcome(verdict=Verdict.SKIPPED, message="the submission cannot be graded")
    report = _report(submission, bench, {line.id: nothing for line in bench.rubric.checks})
    return msgspec.structs.replace(report, status=ReportStatus.UNGRADABLE, message=submission.problem)


def _report(submission: Submission, bench: Bench, outcomes: Mapping[str, Outcome]) -> Report:
    problems = score.problems(bench.rubric, outcomes)
    earned, pending = score.total(problems)
    return Report(
        schema=SCHEMA,
        submission=_received(submission),
        status=ReportStatus.GRADED,
        score=earned,
        max_score=float(bench.rubric.max_score),
        pending=pending,
        problems=problems,
        needs_review=False,
        message="",
        remarks=list(submission.remarks),
        environment=bench.environment,
    )


def _received(submission: Submission) -> SubmissionReport:
    files = {name: "sha256:" + hashlib.sha256(text).hexdigest() for name, text in sorted(submission.files.items())}
    return SubmissionReport(
        id=submission.id,
        members=list(submission.members),
        source=submission.source,
        layout=submission.layout,
        sha256=submission.sha256,
        files=files,
    )
