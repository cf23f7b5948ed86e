"""Where a run's files lie, and how those of one submission and of the class are written."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from grader.atomic import write_together
from grader.graded import Graded
from grader.report.feedback import Style, feedback, feedback_html
from grader.report.gradebook import Row, dump_gradebook
from grader.report.junit import JUNIT
from grader.report.run import RunFacts
from grader.report.summary import dump_summary
from grader.report.yaml import dump, dump_report

STAFF = "staff"
REPORT = "report.yaml"
FEEDBACK = "feedback.md"
FEEDBACK_HTML = "feedback.html"
TIMINGS = "timings.yaml"
SUMMARY = "summary.yaml"
GRADEBOOK = "gradebook.csv"
RUN = "run.yaml"
LEDGER = "ledger.jsonl"
_RESERVED = frozenset({STAFF, RUN, SUMMARY, GRADEBOOK, LEDGER, JUNIT, "index.html"})


def folder_of(out: Path, identifier: str) -> Path:
    """The folder of one submission; no id can reach the grader's own files, `staff` or another folder."""
    name = identifier.replace("/", "~").replace("\0", "~")
    # No id that intake gives holds a "~", so these do not meet another submission's folder.
    return out / (f"{name}~" if name in _RESERVED or name.startswith(".") or not name else name)


def write_submission(out: Path, graded: Graded, wall_s: float, style: Style) -> dict[str, str]:
    """Write one submission's files, whole or not at all, the report last.

    Returns:
        The sha256 of those files that a second run would write alike.

    Raises:
        OSError: the disk is full or not writable; what was there is untouched.
    """
    folder = folder_of(out, graded.report.submission.id)
    folder.mkdir(parents=True, exist_ok=True)
    seconds = {name: round(value, 3) for name, value in graded.timings.items()}
    used = {
        name: {"requests": of.requests, "cpu_s": round(of.cpu_s, 3), "peak_mib": round(of.peak_mib, 1)}
        for name, of in graded.used.items()
    }
    timings = dump({"wall_s": round(wall_s, 3), "checks_s": seconds, "used": used})
    contents = {
        FEEDBACK: feedback(graded.report, style),
        FEEDBACK_HTML: feedback_html(graded.report, style),
        REPORT: dump_report(graded.report),
    }
    write_together({folder / name: content for name, content in {TIMINGS: timings, **contents}.items()})
    return {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}


def write_class(out: Path, rows: Sequence[Row], facts: RunFacts) -> None:
    """Write `summary.yaml` and `gradebook.csv`; they depend on the reports alone, not on the order of `rows`.

    Raises:
        OSError: the disk is full or not writable.
    """
    reports = {row.submission.id: row.report for row in rows}
    write_together({out / SUMMARY: dump_summary(reports, facts.decisive), out / GRADEBOOK: dump_gradebook(rows)})
