"""How the public tests are reported: what is not written yet in one line each, and a table of points at the end.

A test that meets a stub is told apart by whose stub it is:

- of what the test asks for ("Problem 3: MultiHeadAttention.forward" in a test of MultiHeadAttention): it fails;
- of something that this builds on ("Problem 2: Linear.forward"): it waits, and is neither red nor green.

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
CHECK, MET = "hw3_check", "hw3_stub"
"""Names of what is noted in a test's report: the id of its check; the stub that it met."""


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
    return report


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str | tuple[str, dict[str, bool]]] | None:
    outcome = outcome_of(report)
    if outcome == "waiting":
        return "waiting", "w", "WAITING"
    if outcome == "unwritten":
        return "not written yet", "u", ("NOT WRITTEN", {"red": True})
    return None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: Any) -> Generator[None, None, None]:
    yield  # pytest's own summary of failures comes first: the table is what a student sees last
    board = Scoreboard()
    for category, reports in terminalreporter.stats.items():
        for report in reports if category else ():  # the others are of setting up and tearing down
            noted = dict(getattr(report, "user_properties", ()))
            if CHECK in noted and isinstance(report, pytest.TestReport):  # what -k leaves out is listed there too
                board.add(noted[CHECK], outcome_of(report), noted.get(MET, ""))
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
