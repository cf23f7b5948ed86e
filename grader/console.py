"""What the commands print: tables and progress on a terminal, plain lines elsewhere."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from grader.batch import Done
from grader.report.folder import FEEDBACK, FEEDBACK_HTML, GRADEBOOK, REPORT, SUMMARY
from grader.report.gradebook import number
from grader.report.summary import known_scores
from grader.report.text import one_line
from grader.submission import CANONICAL, Submission
from grader.verdict import Report, Status, Verdict

PLAIN_WIDTH = 160
SHOWN_CHECKS = 3
BUCKET = 10
_FAULTY = frozenset({Verdict.FAILED, Verdict.ERROR, Verdict.TIMEOUT, Verdict.MEMORY})


def console() -> Console:
    """Standard output; where it is no terminal, without colours, frames and line breaks at 80."""
    terminal = Console(highlight=False, markup=False)
    return terminal if terminal.is_terminal else Console(highlight=False, markup=False, width=PLAIN_WIDTH)


def show_layouts(screen: Console, submissions: Sequence[Submission]) -> None:
    """What was recognised, one submission a line."""
    table = _table(screen, "submission", "layout", "source", "files", "note")
    for submission in submissions:
        note = submission.problem or "; ".join(submission.remarks)
        table.add_row(*_cells(submission.id, submission.layout, submission.source, _files(submission), note))
    _show(screen, table)


class Bar:
    """Submissions done, the checks that fail most, time left; silent where there is no terminal."""

    def __init__(self, screen: Console, total: int) -> None:
        self._failures: Counter[str] = Counter()
        self._progress = Progress(
            TextColumn("graded"),
            MofNCompleteColumn(),
            BarColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[failing]}"),
            console=screen,
            disable=not screen.is_terminal,
        )
        self._task = self._progress.add_task("", total=total, failing="")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def advance(self, done: Done) -> None:
        """One more submission is finished."""
        self._failures.update(failing(done.report))
        worst = sorted(self._failures.items(), key=lambda item: (-item[1], item[0]))[:SHOWN_CHECKS]
        shown = ", ".join(f"{name} {count}" for name, count in worst)
        self._progress.update(self._task, advance=1, failing=f"failing: {shown}" if shown else "")


def failing(report: Report | None) -> list[str]:
    """The ids of the checks that a submission tried and did not pass."""
    problems = report.problems if report else []
    return [c.id for problem in problems for c in problem.checks if c.verdict in _FAULTY and not c.unwritten]


def show_results(screen: Console, batch: Sequence[Done]) -> None:
    """One line a submission, the distribution of scores, and the grader's own faults."""
    table = _table(screen, "submission", "status", "score", "pending", "note")
    for done in batch:
        table.add_row(*_cells(done.submission.id, *_result(done)))
    _show(screen, table)
    screen.print(distribution(done.report for done in batch if done.report))


def show_places(screen: Console, out: Path) -> None:
    """Where to look."""
    screen.print(f"class: {out / SUMMARY}   grades: {out / GRADEBOOK}")
    each = out / "<id>"
    screen.print(f"each submission: {each / REPORT} (staff), {each / FEEDBACK} and {FEEDBACK_HTML} (student)")


def distribution(reports: Iterable[Report]) -> str:
    """One line: mean, median, and how many scores lie in each tenth of the range."""
    counted = list(reports)
    scores = known_scores(counted)
    if not scores:
        return "scores: none"
    top = max(report.max_score for report in counted) or 1.0
    tenths = Counter(min(int(score * BUCKET / top), BUCKET - 1) for score in scores)
    bars = "  ".join(f"{number(tenth * top / BUCKET)}+: {tenths[tenth]}" for tenth in sorted(tenths))
    mean, median = statistics.fmean(scores), statistics.median(scores)
    return f"scores: {len(scores)}, mean {number(mean)}, median {number(median)} of {number(top)}   {bars}"


def _result(done: Done) -> tuple[str, str, str, str]:
    report = done.report
    if report is None:
        return (Status.INFRASTRUCTURE_ERROR.value if done.fault else "not graded", "", "", done.fault)
    note = "a person must look" if report.needs_review else report.message
    return report.status.value, number(report.score), number(report.pending), note or ("kept" if done.kept else "")


def _files(submission: Submission) -> str:
    names = set(submission.files)
    if names == set(CANONICAL):
        return f"all {len(CANONICAL)}"
    return ", ".join(sorted(names)) or "none"


def _show(screen: Console, table: Table) -> None:
    if screen.is_terminal:
        screen.print(table)
        return
    with screen.capture() as captured:
        screen.print(table)
    for line in captured.get().splitlines():
        screen.print(Text(line.rstrip()), soft_wrap=True)


def _table(screen: Console, *columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold" if screen.is_terminal else "")
    for column in columns:
        table.add_column(column, justify="right" if column in {"score", "pending"} else "left", overflow="fold")
    return table


def _cells(*texts: str) -> list[Text]:
    """Plain text: neither rich's markup nor a terminal's control sequences in a name do anything."""
    return [Text(one_line(text)) for text in texts]
