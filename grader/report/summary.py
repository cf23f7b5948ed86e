"""`summary.yaml`: what the class as a whole did, from the reports alone; it does not depend on order, jobs or time."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from grader.exercises import Statement, quiz
from grader.report.yaml import OneLine, dump
from grader.verdict import NOT_SELECTED, CheckReport, Filled, Report, StatementReport, Status, Verdict

SCHEMA = "hw3-summary/1"
_NOT_TRIED = frozenset({Verdict.SKIPPED, Verdict.PENDING})


def dump_summary(reports: Mapping[str, Report | None], run: Mapping[str, Any]) -> bytes:
    """`summary.yaml`.

    Args:
        reports: id -> report; None where the grader failed.
        run: facts of the run that are the same however often it is repeated.
    """
    ordered = [(name, reports[name]) for name in sorted(reports)]
    present = [report for _, report in ordered if report is not None]
    data = {
        "schema": SCHEMA,
        "run": dict(run),
        "counts": _counts([report for _, report in ordered]),
        "scores": _scores(present),
        "submissions": [_entry(name, report) for name, report in ordered],
        "checks": _checks(present),
        "misconceptions": _misconceptions(present),
    }
    statements = [statement for report in present for statement in report.quiz]
    return dump(data | {"quiz": _quiz(statements)} if statements else data)


def attempted(check: CheckReport) -> bool:
    """Whether the student's own code was judged: not where a stub, or something below it, kept it from running."""
    return check.verdict not in _NOT_TRIED and not check.unwritten


def is_blank(report: Report) -> bool:
    """Whether nothing has been filled in yet; never of a run that left checks out, for it has not seen the rest."""
    checks = [check for problem in report.problems for check in problem.checks]
    if report.status is not Status.GRADED or any(check.message == NOT_SELECTED for check in checks):
        return False
    return any(check.unwritten for check in checks) and not any(map(attempted, checks))


def known_scores(reports: Iterable[Report]) -> list[float]:
    """The scores that count: of graded submissions that are not held back for a person to look at."""
    return [r.score for r in reports if r.status is Status.GRADED and r.score is not None and not r.needs_review]


def _counts(reports: Sequence[Report | None]) -> dict[str, int]:
    present = [report for report in reports if report is not None]
    statuses = Counter(Status.INFRASTRUCTURE_ERROR if report is None else report.status for report in reports)
    return {
        "submissions": len(reports),
        **{status.value: statuses[status] for status in Status},
        "blank": sum(map(is_blank, present)),
        "needs_review": sum(report.needs_review for report in present),
    }


def _scores(reports: Iterable[Report]) -> dict[str, float] | None:
    scores = known_scores(reports)
    if not scores:
        return None
    return {
        "mean": round(statistics.fmean(scores), 2),
        "median": round(statistics.median(scores), 2),
        "lowest": min(scores),
        "highest": max(scores),
    }


def _entry(name: str, report: Report | None) -> OneLine:
    if report is None:
        return OneLine(id=name, status=Status.INFRASTRUCTURE_ERROR.value, score=None)
    entry = OneLine(id=name, status=report.status.value, score=report.score, pending=report.pending)
    entry["needs_review"] = report.needs_review
    if report.message:
        entry["message"] = report.message
    return entry


def _checks(reports: Iterable[Report]) -> list[dict[str, Any]]:
    """In the rubric's order, which is the order of every graded report."""
    found: dict[str, list[CheckReport]] = defaultdict(list)
    for report in reports:
        for problem in report.problems:
            for check in problem.checks:
                found[check.id].append(check)
    return [_check(name, checks) for name, checks in found.items()]


def _check(name: str, checks: Sequence[CheckReport]) -> dict[str, Any]:
    tried = [check for check in checks if attempted(check)]
    passed = sum(check.verdict is Verdict.PASSED for check in tried)
    verdicts = Counter(check.verdict for check in checks)
    wrong = Counter(field.name for check in tried for field in check.fields if field.filled is not Filled.RIGHT)
    fields = {"wrong_fields": OneLine(sorted(wrong.items()))} if wrong else {}
    return {
        "id": name,
        "title": checks[0].title,
        "attempted": len(tried),
        "passed": passed,
        "pass_rate": round(passed / len(tried), 2) if tried else None,
        "unwritten": sum(check.unwritten for check in checks),
        "verdicts": OneLine({verdict.value: verdicts[verdict] for verdict in Verdict if verdicts[verdict]}),
        **fields,
    }


def _quiz(found: Sequence[StatementReport]) -> list[dict[str, Any]]:
    """Rates among those who answered a statement; what most of them get wrong comes first, with where to reteach it."""
    entries = [_statement(asked, [one for one in found if one.id == asked.id]) for asked in quiz().values()]
    return sorted(entries, key=lambda entry: (1.0 if entry["right_rate"] is None else entry["right_rate"], entry["id"]))


def _statement(asked: Statement, found: Sequence[StatementReport]) -> dict[str, Any]:
    answered = [one for one in found if one.right is not None]
    right = sum(one.right is True for one in answered)
    entry: dict[str, Any] = {"id": asked.id, "answered": len(answered), "right": right}
    entry["right_rate"] = round(right / len(answered), 2) if answered else None
    if right < len(answered):
        share = round(100 * (len(answered) - right) / len(answered))
        entry["reteach"] = f"{share}% hold that {asked.belief}: section {asked.section}, lab {asked.lab}"
    return entry


def _misconceptions(reports: Iterable[Report]) -> list[dict[str, Any]]:
    """Most common first, counted once a submission however many checks show it; of a pair each by itself."""
    submissions: dict[str, set[str]] = defaultdict(set)
    checks: dict[str, set[str]] = defaultdict(set)
    for report in reports:
        for problem in report.problems:
            for check in problem.checks:
                for name in check.diagnosis.names if check.diagnosis else ():
                    submissions[name].add(report.submission.id)
                    checks[name].add(check.id)
    names = sorted(submissions, key=lambda name: (-len(submissions[name]), name))
    return [
        OneLine(misconception=name, submissions=len(submissions[name]), checks=sorted(checks[name])) for name in names
    ]
