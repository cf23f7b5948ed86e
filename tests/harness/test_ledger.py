"""The ledger: trusted only where everything matches, whole whatever killed the run before."""

import hashlib

import pytest
from msgspec import structs

from grader import ledger
from grader.ledger import Ledger, Line

RUN = {"rubric": "r", "seed": "s", "grader": "g"}
REPORT = b"schema: hw3-report/1\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "report.yaml").write_bytes(REPORT)
    return tmp_path


@pytest.fixture
def line(make_submission):
    files = {"report.yaml": hashlib.sha256(REPORT).hexdigest()}
    return Line(id="s001", submission=ledger.identity(make_submission()), run=RUN, files=files)


def test_a_line_that_matches_in_everything_holds(folder, line, make_submission):
    assert ledger.holds(line, make_submission(), dict(RUN), folder)


@pytest.mark.parametrize("fact", RUN)
def test_no_line_holds_for_another_run(folder, line, make_submission, fact):
    assert not ledger.holds(line, make_submission(), RUN | {fact: "other"}, folder)
    assert not ledger.holds(line, make_submission(), {k: v for k, v in RUN.items() if k != fact}, folder)


@pytest.mark.parametrize(
    "change",
    [{"sha256": "sha256:1f"}, {"members": ("a", "b")}, {"source": "x"}, {"remarks": ("late",)}, {"problem": "none"}],
)
def test_no_line_holds_for_another_submission(folder, line, make_submission, change):
    assert not ledger.holds(line, make_submission(**change), RUN, folder)


def test_no_line_holds_for_a_report_that_was_changed_or_lost(folder, line, make_submission):
    (folder / "report.yaml").write_bytes(REPORT + b"score: 100\n")
    assert not ledger.holds(line, make_submission(), RUN, folder)
    (folder / "report.yaml").unlink()
    assert not ledger.holds(line, make_submission(), RUN, folder)


def test_no_line_holds_for_what_was_not_finished(folder, line, make_submission):
    assert not ledger.holds(structs.replace(line, unfinished=True), make_submission(), dict(RUN), folder)


def test_the_last_line_of_a_submission_counts(tmp_path, line):
    newer = Line(id="s001", submission="x", run=RUN, files={})
    with Ledger(tmp_path / "l", keep=True) as book:
        book.append(line)
        book.append(newer)
    assert ledger.read(tmp_path / "l") == {"s001": newer}


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_half_a_line_is_passed_over_and_not_continued(tmp_path, line, cut):
    path = tmp_path / "l"
    with Ledger(path, keep=True) as book:
        book.append(line)
    path.write_bytes(path.read_bytes()[:-cut])
    assert ledger.read(path) == ({"s001": line} if cut == 1 else {})
    other = Line(id="s002", submission="x", run=RUN, files={})
    with Ledger(path, keep=True) as book:
        book.append(other)
    assert ledger.read(path)["s002"] == other


def test_a_fresh_ledger_is_empty(tmp_path, line):
    with Ledger(tmp_path / "l", keep=True) as book:
        book.append(line)
    with Ledger(tmp_path / "l", keep=False):
        pass
    assert ledger.read(tmp_path / "l") == {}
    assert ledger.read(tmp_path / "none") == {}


def test_a_full_disk_is_an_error_and_no_half_truth(line):
    with Ledger("/dev/full", keep=True) as book, pytest.raises(OSError, match="No space left"):
        book.append(line)
