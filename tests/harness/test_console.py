"""What is printed: a bar and colours on a terminal, plain lines elsewhere."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from grader.batch import Done
from grader.console import Bar, distribution, failing, show_layouts, show_places, show_results
from grader.verdict import Status, Verdict


@pytest.fixture
def screen():
    return Console(file=io.StringIO(), force_terminal=False, width=160, highlight=False, markup=False)


@pytest.fixture
def terminal():
    return Console(file=io.StringIO(), force_terminal=True, width=120, highlight=False, markup=False)


def test_scores_are_counted_in_tenths(make_report):
    scores = (0.0, 55.0, 59.99, 81.0, 100.0)
    reports = [make_report(f"s{i}", score=score, max_score=100.0) for i, score in enumerate(scores)]
    assert distribution(reports) == ("scores: 5, mean 59.2, median 59.99 of 100   0+: 1  50+: 2  80+: 1  90+: 1")


def test_scores_that_are_not_certain_are_not_counted(make_report):
    assert (
        distribution([make_report(needs_review=True), make_report(status=Status.UNGRADABLE, score=0.0)])
        == "scores: none"
    )
    assert distribution([]) == "scores: none"


def test_the_bar_names_the_checks_that_fail_most(terminal, make_submission, make_report, make_check):
    checks = [make_check(id="p1.rare"), make_check(id="p1.often"), make_check(Verdict.PASSED, id="p1.never")]
    with Bar(terminal, 2) as bar:
        bar.advance(Done(make_submission(), make_report(checks=checks)))
        bar.advance(Done(make_submission(), make_report(checks=checks[1:])))
    printed = terminal.file.getvalue()
    assert "2/2" in printed
    assert "failing: p1.often 2, p1.rare 1" in printed


def test_the_bar_is_silent_without_a_terminal(screen, make_submission, make_report):
    with Bar(screen, 1) as bar:
        bar.advance(Done(make_submission(), make_report()))
    assert screen.file.getvalue().strip() == ""


def test_a_stub_is_no_failure(make_report, make_check):
    assert failing(make_report(checks=[make_check(Verdict.ERROR, unwritten=True), make_check(Verdict.SKIPPED)])) == []
    assert failing(None) == []


def test_plain_tables_end_without_blanks_and_one_line_is_one_submission(screen, make_submission, make_report):
    batch = [
        Done(make_submission("s1"), make_report("s1"), kept=True),
        Done(make_submission("s2"), None, fault="OSError: disk"),
        Done(make_submission("s3"), make_report("s3", needs_review=True)),
        Done(make_submission("s4"), None),
    ]
    show_results(screen, batch)
    lines = screen.file.getvalue().splitlines()
    assert [line.split() for line in lines[:5]] == [
        ["submission", "status", "score", "pending", "note"],
        ["s1", "graded", "4", "0", "kept"],
        ["s2", "infrastructure_error", "OSError:", "disk"],
        ["s3", "graded", "4", "0", "a", "person", "must", "look"],
        ["s4", "not", "graded"],
    ]
    assert all(line == line.rstrip() for line in lines)


def test_the_closing_lines_name_every_file_that_someone_will_look_for(screen):
    show_places(screen, Path("reports"))
    printed = screen.file.getvalue()
    assert all(f"reports/{name}" in printed for name in ("summary.yaml", "gradebook.csv", "<id>/report.yaml"))
    assert "reports/<id>/feedback.md and feedback.html (student)" in printed


def test_the_layout_table_shows_what_was_received(screen, make_submission):
    four = dict.fromkeys(("nn.py", "modules_basic.py", "transformer.py", "translation.py"), b"")
    show_layouts(screen, [make_submission("a", files=four), make_submission("b"), make_submission("c", files={})])
    assert [line.split()[3:] for line in screen.file.getvalue().splitlines()[1:]] == [["all", "4"], ["nn.py"], ["none"]]
