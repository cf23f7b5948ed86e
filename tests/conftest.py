"""How the public tests are reported: what is not written yet in one line each, and a table of points at the end.

A test that meets a stub is told apart by whose stub it is:

- of what the test asks for ("Problem 3: MultiHeadAttention.forward" in a test of MultiHeadAttention): it fails;
- of something that this builds on ("Problem 2: Linear.forward"): it waits, and is neither red nor green.

A file that cannot be imported stops every test that needs it: the first of them shows why, the others only count.

`--hint` and `--lang` say how much of a common mistake, where one is recognised, is told: see `hints.py`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hints
import pytest
from points import CHECKS, WIDTH, Scoreboard

if TYPE_CHECKING:
    from collections.abc import Generator

STUB = re.compile(r"(?P<part>Problem \d: (?P<name>\w+)(\.\w+)?) is not written yet")
CHECK, MET, BROKEN = "hw3_check", "hw3_stub", "hw3_broken"
"""Names of what is noted in a test's report: the id of its check; the stub, or the broken file, that it met."""
SHOWN = pytest.StashKey[set[str]]()
"""The broken files that have been shown."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("homework 3")
    group.addoption(
        "--hint",
        type=int,
        choices=(1, 2, 3),
        default=0,
        help="where a failure is a common mistake: 1 says what you see, 2 asks a question too, 3 names the mistake too",
    )
    group.addoption("--lang", choices=("en", "zh"), default="en", help="the language of the hints")
    group.addoption("--points-summary", metavar="FILE", help="add the table of points to this file, as Markdown")


def pytest_configure(config: pytest.Config) -> None:
    hints.ASKED = hints.Asked(config.getoption("hint"), config.getoption("lang"))
    config.addinivalue_line("markers", "points(check): the check, listed in points.py, that this test belongs to")


def pytest_itemcollected(item: pytest.Item) -> None:
    if marker := item.get_closest_marker("points"):
        (check,) = marker.args
        item.user_properties.append((CHECK, check))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    check = dict(item.user_properties).get(CHECK)
    if check and call.excinfo and call.excinfo.errisinstance(NotImplementedError):
        stub = STUB.fullmatch(str(call.excinfo.value))
        if stub:
            report.user_properties.append((MET, stub["part"]))
            report.longrepr = str(call.excinfo.value)
            if stub["name"] != CHECKS[check].subject:
                report.outcome = "skipped"
                report.longrepr = (str(item.path), (item.location[1] or 0) + 1, f"waiting for {stub['part']}")
    elif check and call.excinfo and (broken := broken_file(call.excinfo, item.config.rootpath)):
        report.user_properties.append((BROKEN, broken))
        shown = item.config.stash.setdefault(SHOWN, set())
        if broken in shown:
            report.longrepr = f"{broken}, as shown above"
        shown.add(broken)
    return report


def broken_file(error: pytest.ExceptionInfo[BaseException], folder: Path) -> str:
    """Say which file's import raised, where and what; "" where the error is none of an import."""
    if isinstance(error.value, SyntaxError):
        path, line = Path(error.value.filename or ""), error.value.lineno or 0
    elif any(entry.name == "<module>" for entry in error.traceback):
        path, line = Path(error.traceback[-1].path), error.traceback[-1].lineno + 1
    else:
        return ""
    shown = path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name
    return f"{shown}, line {line}: {error.typename}"


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str | tuple[str, dict[str, bool]]] | None:
    outcome = outcome_of(report)
    if outcome == "waiting":
        return "waiting", "w", "WAITING"
    if outcome == "unwritten":
        return "not written yet", "u", ("NOT WRITTEN", {"red": True})
    if BROKEN in dict(getattr(report, "user_properties", ())) and isinstance(report.longrepr, str):
        return "stopped at an import", "i", ("NOT IMPORTED", {"red": True})
    return None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: Any) -> Generator[None, None, None]:
    yield  # pytest's own summary of failures comes first: the table is what a student sees last
    board = Scoreboard()
    for category, reports in terminalreporter.stats.items():
        for report in reports if category else ():  # the others are of setting up and tearing down
            noted = dict(getattr(report, "user_properties", ()))
            if CHECK in noted and isinstance(report, pytest.TestReport):  # what -k leaves out is listed there too
                board.add(noted[CHECK], outcome_of(report), noted.get(MET, noted.get(BROKEN, "")))
    if board.outcomes:
        terminalreporter.write_sep("=", "points", fullwidth=WIDTH)
        for line in board.lines():
            terminalreporter.write_line(line)
        if path := terminalreporter.config.getoption("--points-summary"):
            with Path(path).open("a", encoding="utf-8") as file:
                file.write(board.markdown())


def outcome_of(report: Any) -> str:
    """Say what became of a test: pytest's word, or "waiting" or "unwritten" where a stub was met."""
    if MET not in dict(getattr(report, "user_properties", ())):
        return report.outcome
    return "waiting" if report.skipped else "unwritten"
