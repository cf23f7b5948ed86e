"""Outcomes become points: exact fractions, rounded half-even to 0.01 a check; what is unknown earns nothing."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from grader.checks import identifiers, title
from grader.exercises import exercises
from grader.rubric import CheckLine, Problem, Rubric
from grader.verdict import CheckReport, Outcome, Points, ProblemReport, Verdict

_NOTHING = Outcome(verdict=Verdict.ERROR, message="no outcome was recorded; nothing is earned")

LONG_TITLES = {
    "p4.iwslt.run": "The model trains on IWSLT and writes translations",
    "p4.iwslt.bleu": "BLEU on IWSLT relative to the reference's on the same data",
}
"""Titles of the long checks, which are no functions over one request."""


def problems(rubric: Rubric, outcomes: Mapping[str, Outcome]) -> list[ProblemReport]:
    """The rubric's problems with the points that a submission earned; the exercises where they have an outcome."""
    assessed = rubric.exercises and any(line.id in outcomes for line in rubric.exercise_lines)
    parts = (*rubric.problems, rubric.exercises) if rubric.exercises and assessed else rubric.problems
    return [_problem(problem, outcomes) for problem in parts]


def total(reports: list[ProblemReport]) -> tuple[float, float]:
    """Score and pending points over all problems."""
    score = sum((Fraction(str(report.score)) for report in reports), Fraction(0))
    pending = sum((Fraction(str(report.pending)) for report in reports), Fraction(0))
    return float(score), float(pending)


def _problem(problem: Problem, outcomes: Mapping[str, Outcome]) -> ProblemReport:
    checks = [_check(line, outcomes.get(line.id, _NOTHING)) for line in problem.checks]
    earned = sum((_exact(c.points.earned) + _exact(c.points.carried_forward) for c in checks), Fraction(0))
    pending = sum((_exact(c.points.available) for c in checks if c.verdict is Verdict.PENDING), Fraction(0))
    return ProblemReport(
        id=problem.id,
        title=problem.title,
        score=float(earned),
        max_score=float(sum((line.exact_points for line in problem.checks), Fraction(0))),
        pending=float(pending),
        checks=checks,
    )


def _check(line: CheckLine, outcome: Outcome) -> CheckReport:
    return CheckReport(
        id=line.id,
        title=_title(line.id),
        visibility=line.visibility,
        verdict=outcome.verdict,
        points=Points(
            earned=_hundredths(outcome.share * line.exact_points),
            available=float(line.exact_points),
            carried_forward=_hundredths(outcome.carried * line.exact_points),
        ),
        error=outcome.error,
        diagnosis=outcome.diagnosis,
        message=outcome.message,
        unwritten=outcome.unwritten,
        raised=outcome.raised,
        carried_from=list(outcome.carried_from),
        remarks=list(outcome.remarks),
        fields=list(outcome.fields),
    )


def _title(identifier: str) -> str:
    if identifier in identifiers():
        return title(identifier)
    exercise = exercises().get(identifier)
    return exercise.name("en") if exercise else LONG_TITLES.get(identifier, identifier)


def _hundredths(points: Fraction) -> float:
    return round(points * 100) / 100  # round() of a Fraction is exact and half-even


def _exact(points: float) -> Fraction:
    return Fraction(str(points))
