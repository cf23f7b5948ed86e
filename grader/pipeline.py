"""One submission on its way: its files, the rubric's checks in order, verdicts, points, report."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

import msgspec
import numpy as np

from grader import checks, score
from grader.case import Fault
from grader.diagnose import LEARNERS, Causes, all_parts, describe, diagnose, own_part
from grader.errors import InfrastructureError
from grader.evidence import Exhibit, gather
from grader.exercises import Assessed, assess
from grader.exhausted import named
from grader.follow import carried_forward
from grader.graded import Graded, Used
from grader.judge import Finding, judge
from grader.misconceptions import Misconception
from grader.own_gradient import follows_own_forward
from grader.rebind import Repaired, Unnamed, confirmed, explain_by_repair
from grader.rubric import CheckLine, Rubric
from grader.sandbox import Sandbox, Usage
from grader.seed import public_seed
from grader.student import Spending, Student
from grader.submission import Submission
from grader.translation import Course, Trainee
from grader.unanswered import NO_ANSWER
from grader.verdict import NOT_SELECTED, SCHEMA, Environment, Outcome, Report, SubmissionReport, Verdict
from grader.verdict import Status as ReportStatus

IN_SINGLE = "computed in float32, and compared at the tolerance of float32"
OWN_FORWARD = "the forward pass is wrong; this is the right gradient of it"
LEARNING = {parts[0] for parts in LEARNERS.values()}
NO_EXERCISES = Assessed({})
MORE_SEEDS = ("second look", "third look")
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
        reference: the solution's files; a broken module's stands in for it where another is judged.
        only: glob patterns over check ids; what does not match is pending. Empty: all.
        course: what the long checks train on; None: they are pending.
    """

    rubric: Rubric
    sandbox: Sandbox
    stubs: Mapping[str, bytes]
    secret: bytes
    environment: Environment
    reference: Mapping[str, bytes]
    only: tuple[str, ...] = ()
    course: Course | None = None


@dataclass(frozen=True)
class Record:
    """What has been found of one submission so far.

    Args:
        outcomes: check id -> what was found.
        causes: check id -> what explains its failure.
        broken: part -> the first check that it failed in a way that nothing explains.
    """

    outcomes: dict[str, Outcome] = field(default_factory=dict)
    causes: dict[str, Causes] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)

    @property
    def passed(self) -> frozenset[str]:
        """The checks that were passed."""
        return frozenset(check for check, outcome in self.outcomes.items() if outcome.verdict is Verdict.PASSED)

    @property
    def misconceptions(self) -> tuple[Misconception, ...]:
        """The named mistakes, in the order in which they showed."""
        found = (cause for causes in self.causes.values() for cause in causes)
        return tuple(dict.fromkeys(cause for cause in found if isinstance(cause, Misconception)))


def grade(submission: Submission, bench: Bench) -> Graded:
    """Grade one submission.

    Raises:
        InfrastructureError: the grader or the machine failed; the submission is not to blame.
    """
    if submission.unread:
        raise InfrastructureError(submission.unread)
    if submission.problem:
        return Graded(_ungradable(submission, bench), {})
    record, wanted = Record(), bench.rubric.selected(bench.only)
    timings: dict[str, float] = {}
    used: dict[str, Used] = {}
    files = {**bench.stubs, **submission.files}
    spending = Spending(bench.rubric.budget)
    repaired = Repaired(bench.sandbox, files, bench.reference, spending)
    with np.errstate(all="ignore"), bench.sandbox.open(files) as session, repaired:
        student = Student(session, spending)
        trainee = bench.course.train(submission, Student(session)) if bench.course else None
        for line in bench.rubric.checks:
            start, session.usage = time.perf_counter(), Usage()
            outcome = _not_assessed(line, record, wanted, trainee)
            if outcome is None and line.long and trainee:
                outcome = _trained(line, trainee, record)  # a long check: many requests, and a checkpoint
            record.outcomes[line.id] = outcome or _assess(line, student, repaired, bench, record)
            timings[line.id] = time.perf_counter() - start
            if session.usage.requests:
                used[line.id] = _used(session.usage)
    outcomes = carried_forward(record.outcomes, record.causes)
    report = _report(submission, bench, outcomes, _exercises(submission, bench, wanted))
    return Graded(report, timings, used, unfinished=bool(trainee and trainee.is_unfinished))


def _exercises(submission: Submission, bench: Bench, wanted: frozenset[str]) -> Assessed:
    """The answers to the exercises: data that this process reads itself; none of the student's code is in it."""
    if not bench.rubric.has_exercises(wanted):
        return NO_EXERCISES
    lines = [line.id for line in bench.rubric.exercise_lines]
    left_out = dict.fromkeys(lines, Outcome(verdict=Verdict.PENDING, message=NOT_SELECTED))
    assessed = assess(submission.exercises, [name for name in lines if name in wanted])
    return replace(assessed, outcomes={**left_out, **assessed.outcomes})


def _used(usage: Usage) -> Used:
    return Used(usage.requests, usage.cpu_s, usage.peak_kib / 1024)  # KiB -> MiB


def _not_assessed(line: CheckLine, record: Record, wanted: frozenset[str], trainee: Trainee | None) -> Outcome | None:
    if line.pending and not (line.long and trainee):
        return Outcome(verdict=Verdict.PENDING, message=line.pending)
    if line.id not in wanted:
        return Outcome(verdict=Verdict.PENDING, message=NOT_SELECTED)
    for earlier in line.needs:
        if record.outcomes[earlier].verdict not in _ANSWERED and earlier not in record.causes:
            return Outcome(verdict=Verdict.SKIPPED, message=f"needs {earlier}, which gave no answer")
    for earlier in line.after:
        if record.outcomes[earlier].verdict is not Verdict.PASSED and earlier not in record.causes:
            return Outcome(verdict=Verdict.SKIPPED, message=f"needs {earlier} to pass")
    return None


def _assess(line: CheckLine, student: Student, repaired: Repaired, bench: Bench, record: Record) -> Outcome:
    """One check: its cases to the worker in one request, the same cases to the twins, both sets of arrays compared."""
    draw = checks.Draw(np.random.default_rng(public_seed(bench.secret, line.id)))
    exhibits, limits = _exhibits(line, draw, student, bench), bench.rubric.limits_of(line)
    if isinstance(exhibits, Fault):
        return Outcome(verdict=NO_ANSWER[exhibits.kind], message=exhibits.text)
    unasked = any(exhibit.single and exhibit.trial.case.dtype == "float64" for exhibit in exhibits)
    remarks = (IN_SINGLE,) if unasked else ()
    finding = judge(exhibits)
    if finding is None:
        return Outcome(verdict=Verdict.PASSED, share=Fraction(1), remarks=remarks)
    finding = named(finding, limits)
    pairs = record.broken.keys().isdisjoint(all_parts(exhibits))  # else there is a fault that no name explains
    tolerances = bench.rubric.tolerance(line), bench.rubric.single
    causes = explain_by_repair(
        exhibits, record.broken, record.misconceptions, repaired, limits, tolerances
    ) or diagnose(exhibits, finding, record.misconceptions, passed=record.passed, pairs=pairs)
    causes = confirmed(causes, exhibits, record.misconceptions, repaired, limits, tolerances)
    causes = causes or _excuses(finding, record)
    if causes:
        record.causes[line.id] = causes
    elif _forward_is_wrong(line, record) and follows_own_forward(exhibits, draw, student, limits):
        return Outcome(verdict=Verdict.PASSED, share=Fraction(1), remarks=(OWN_FORWARD,))
    else:
        record.broken.setdefault(own_part(exhibits), line.id)
    needs_review = not causes and _stays_unclear(finding, line, student, bench)
    return _unpassed(finding, causes, remarks, needs_review=needs_review)


def _forward_is_wrong(line: CheckLine, record: Record) -> bool:
    """Whether an earlier check of the same thing was not passed.

    Where all of them were, a wrong gradient cannot be that of the forward pass that they saw.
    """
    family = line.id.rpartition(".")[0]
    earlier = (outcome.verdict for check, outcome in record.outcomes.items() if check.rpartition(".")[0] == family)
    return not {Verdict.PASSED, Verdict.PENDING}.issuperset(earlier)


def _trained(line: CheckLine, trainee: Trainee, record: Record) -> Outcome:
    """A long check: the submission trains, in as many requests as it takes."""
    judged = trainee.judged(line.id)
    finding = judged.finding
    if finding is None:
        return Outcome(verdict=Verdict.PASSED, share=Fraction(1), remarks=judged.remarks)
    causes = _excuses(finding, record)
    if causes:
        record.causes[line.id] = causes
    return _unpassed(finding, causes, judged.remarks)


def _unpassed(finding: Finding, causes: Causes, remarks: tuple[str, ...], *, needs_review: bool = False) -> Outcome:
    return Outcome(
        verdict=finding.verdict,
        share=finding.share,
        error=finding.error,
        diagnosis=describe(causes),
        message=finding.message,
        unwritten=finding.unwritten,
        raised=finding.raised,
        needs_review=needs_review,
        remarks=remarks,
    )


def _excuses(finding: Finding, record: Record) -> Causes:
    """What another check's failure says of this one: its cause, or a fault without a name in something written."""
    for check in finding.excused:
        faulty = [part for part, first in record.broken.items() if first == check and part not in LEARNING]
        if causes := record.causes.get(check) or tuple(Unnamed(part, check) for part in faulty):
            return causes
    return ()


def _exhibits(line: CheckLine, draw: checks.Draw, student: Student, bench: Bench) -> tuple[Exhibit, ...] | Fault:
    trials = checks.trials(line.id, draw)
    answers = student.run([trial.case for trial in trials], bench.rubric.limits_of(line))
    if isinstance(answers, Fault):
        return answers
    return gather(trials, answers, bench.rubric.tolerance(line), bench.rubric.single)


def _stays_unclear(finding: Finding, line: CheckLine, student: Student, bench: Bench) -> bool:
    """Whether an error between the tolerance and what is clearly wrong is no larger on other seeds."""
    for seed in ("", *MORE_SEEDS):
        if seed:
            draw = checks.Draw(np.random.default_rng(public_seed(bench.secret, line.id, seed)))
            exhibits = _exhibits(line, draw, student, bench)
            again = None if isinstance(exhibits, Fault) else judge(exhibits)
            if again is None:
                continue
            finding = again
        if not finding.unclear:
            return False
    return True


def _ungradable(submission: Submission, bench: Bench) -> Report:
    nothing = Outcome(verdict=Verdict.SKIPPED, message="the submission cannot be graded")
    assessed = bench.rubric.has_exercises(bench.rubric.selected(bench.only))
    names = bench.rubric.ids if assessed else [line.id for line in bench.rubric.checks]
    report = _report(submission, bench, dict.fromkeys(names, nothing))
    return msgspec.structs.replace(report, status=ReportStatus.UNGRADABLE, message=submission.problem)


def _report(
    submission: Submission, bench: Bench, outcomes: Mapping[str, Outcome], exercises: Assessed = NO_EXERCISES
) -> Report:
    problems = score.problems(bench.rubric, {**outcomes, **exercises.outcomes})
    earned, pending = score.total(problems)
    return Report(
        schema=SCHEMA,
        submission=_received(submission),
        status=ReportStatus.GRADED,
        score=earned,
        max_score=float(bench.rubric.max_score),
        pending=pending,
        problems=problems,
        needs_review=any(outcome.needs_review for outcome in outcomes.values()),
        message="",
        remarks=[*submission.remarks, *exercises.remarks],
        environment=bench.environment,
        quiz=list(exercises.quiz),
    )


def _received(submission: Submission) -> SubmissionReport:
    files = {name: "sha256:" + hashlib.sha256(text).hexdigest() for name, text in sorted(submission.received.items())}
    return SubmissionReport(
        id=submission.id,
        members=list(submission.members),
        source=submission.source,
        layout=submission.layout,
        sha256=submission.sha256,
        files=files,
    )
