"""What GitHub Actions shows of a run: annotations beside a student's lines, and the job's summary.

A line of output that begins with `::` is a command to the runner (so is `##[…]`, anywhere in a line), whoever wrote it.
What a student wrote is therefore printed only while commands are off, or escaped inside a command of ours.

Source: GitHub Docs, "Workflow commands for GitHub Actions"; the escapes are those of `@actions/core`.
"""

from __future__ import annotations

import contextlib
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

from grader.report.feedback import Style, feedback, page
from grader.report.gradebook import Row, number
from grader.report.page import Finding
from grader.report.page_plain import as_plain
from grader.report.text import clean, markdown, one_line
from grader.report.voice import Voice, is_hidden
from grader.verdict import CheckReport, Report, Status

MOST_ERRORS = 10
"""GitHub drops the errors of a step from the eleventh on."""
SUMMARY_BYTES = 900 * 1024
"""GitHub drops a summary of more than 1 MiB."""

Locate = Callable[[Row, str], str]
"""(a submission, the name of one of its files) -> the file's path in the student's repository; "": not known."""


@contextlib.contextmanager
def commands_off(stream: TextIO, *, wanted: bool = True) -> Iterator[None]:
    """While this is open, the runner takes nothing for a command, until it sees a token that nobody can guess."""
    if not wanted:
        yield
        return
    token = secrets.token_hex(16)
    print(f"::stop-commands::{token}", file=stream, flush=True)
    try:
        yield
    finally:
        print(f"\n::{token}::", file=stream, flush=True)


def commands(rows: Sequence[Row], style: Style, locate: Locate) -> Iterator[str]:
    """The annotations, a command each: what was wrong, at its place in the student's files, and the score.

    Args:
        rows: the submissions with their reports.
        style: of the feedback; nothing else of a report is shown.
        locate: finds a file in the repository.
    """
    errors = [error for row in rows for error in _errors(row, style, locate)]
    yield from errors[:MOST_ERRORS]
    for row in rows:
        more = f"; {len(errors) - MOST_ERRORS} more errors are in the summary" if len(errors) > MOST_ERRORS else ""
        yield _command("notice", _score(row) + more, title=row.submission.id)


def summary(rows: Sequence[Row], style: Style) -> bytes:
    """Markdown for `$GITHUB_STEP_SUMMARY`: a submission's feedback; of several, a table of their scores."""
    if len(rows) == 1 and rows[0].report:
        return _short(feedback(rows[0].report, style))
    lines = ["| submission | result |", "| --- | --- |"]
    lines += [f"| {markdown(row.submission.id)} | {markdown(_score(row))} |" for row in rows]
    return _short(("\n".join(lines) + "\n").encode())


def in_folder(place: Path) -> Locate:
    """Finds files below the folder that was graded, itself a student's repository or a folder of such."""

    def locate(row: Row, name: str) -> str:
        source = "" if row.submission.source == place.resolve().name else f"{row.submission.source}/"
        paths = (f"{source}{folder}{name}" for folder in ("assignment/", ""))
        return next((path for path in paths if (place / path).is_file()), "")

    return locate


def _errors(row: Row, style: Style, locate: Locate) -> Iterator[str]:
    report = row.report
    if report is None:
        yield _command("error", "The grader failed on this submission. This is no fault of the submission's.")
    elif report.status is Status.UNGRADABLE:
        yield _command("error", Voice(style).told(report.message), title="This submission could not be graded")
    else:
        checks = {check.id: check for problem in report.problems for check in problem.checks}
        for block in page(report, style).blocks:
            if isinstance(block, Finding):
                yield _finding(block, checks[block.anchor], row, Voice(style), locate)


def _finding(finding: Finding, check: CheckReport, row: Row, voice: Voice, locate: Locate) -> str:
    file, line = _place(check, row, voice)
    path = locate(row, file) if file else ""
    place = {"file": path, "line": str(line)} if path and line else {"file": path} if path else {}
    return _command("error", as_plain(finding.blocks), **place, title=one_line(f"{finding.title} · {finding.lost}"))


def _place(check: CheckReport, row: Row, voice: Voice) -> tuple[str, int]:
    """The file and line that a check points at: where it stopped, else where what it looks at begins; 0: unknown."""
    files = row.submission.files
    if check.raised and check.raised.file in files and not is_hidden(check):
        return check.raised.file, check.raised.line
    known = voice.guide(check)
    if known is None or known.file not in files:
        return "", 0
    begins = re.search(rb"^(?:class|def)[ \t]+" + known.name.encode() + rb"\b", files[known.file], re.MULTILINE)
    return known.file, files[known.file].count(b"\n", 0, begins.start()) + 1 if begins else 0


def _score(row: Row) -> str:
    report = row.report
    if report is None:
        return "not graded: the grader failed"
    if report.status is Status.UNGRADABLE:
        return "could not be graded"
    if report.needs_review or report.score is None:
        return "a person will look at it"
    return f"{number(report.score)} of {number(report.max_score)}{_pending(report)}"


def _pending(report: Report) -> str:
    return f", {number(report.pending)} points not assessed yet" if report.pending else ""


def _command(name: str, message: str, **properties: str) -> str:
    given = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{name}{' ' * bool(given)}{given}::{_data(message)}"


def _data(text: str) -> str:
    return clean(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _short(text: bytes) -> bytes:
    """At most what GitHub takes, cut at the end of a line."""
    if len(text) <= SUMMARY_BYTES:
        return text
    whole = text[:SUMMARY_BYTES].rpartition(b"\n")[0]
    return whole + b"\n\n(The rest is in the feedback itself.)\n"
