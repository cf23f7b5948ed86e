"""`gradebook.csv`: one row a student; a score that is not certain is an empty cell, never a zero."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from grader.report.text import cell
from grader.submission import Submission
from grader.verdict import Report, Status, Verdict

IWSLT = "p4.iwslt."
_BEFORE = ("student", "submission", "status", "score", "max_score", "pending")
_AFTER = ("iwslt_pending", "needs_review")


@dataclass(frozen=True)
class Row:
    """A submission and what became of it; `report` is None where the grader failed."""

    submission: Submission
    report: Report | None


def dump_gradebook(rows: Sequence[Row]) -> bytes:
    """The gradebook in UTF-8: every cell quoted, rows by submission, then member."""
    parts = (problem for row in rows if row.report for problem in row.report.problems)
    problems = sorted({problem.id for problem in parts if problem.max_score})  # exercises without points are no grade
    columns = (*_BEFORE, *problems, *_AFTER)
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(columns)
    for row in sorted(rows, key=lambda row: row.submission.id):
        cells = _cells(row.report)
        for member in sorted(row.submission.members):
            named = cells | {"student": cell(member), "submission": cell(row.submission.id)}
            writer.writerow([named.get(column, "") for column in columns])
    return text.getvalue().encode()


def number(value: float | None) -> str:
    """A number as people write it: 3, 86.5; nothing for None."""
    return "" if value is None else f"{value:.2f}".rstrip("0").rstrip(".")


def iwslt_pending(report: Report) -> float:
    """The points of the IWSLT checks that this run could not assess."""
    checks = [check for problem in report.problems for check in problem.checks]
    return sum(c.points.available for c in checks if c.id.startswith(IWSLT) and c.verdict is Verdict.PENDING)


def _cells(report: Report | None) -> dict[str, str]:
    if report is None:
        return {"status": Status.INFRASTRUCTURE_ERROR.value}
    cells = {
        "status": report.status.value,
        "max_score": number(report.max_score),
        "pending": number(report.pending),
        "iwslt_pending": number(iwslt_pending(report)),
        "needs_review": "yes" if report.needs_review else "no",
    }
    if report.needs_review or report.status is Status.INFRASTRUCTURE_ERROR:
        return cells
    return cells | {"score": number(report.score)} | {p.id: number(p.score) for p in report.problems}
