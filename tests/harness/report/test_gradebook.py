"""The gradebook: one row a student, an empty cell where a score is not certain."""

import csv
import io
import itertools

import pytest

from grader.report.gradebook import Row, dump_gradebook, number
from grader.verdict import Status, Verdict


def read(*rows):
    return list(csv.DictReader(io.StringIO(dump_gradebook(rows).decode())))


def test_each_member_of_a_group_has_a_row(make_submission, make_report):
    rows = read(Row(make_submission("g1", members=("zoe", "Li, Na")), make_report("g1")))
    assert [(row["student"], row["submission"], row["score"], row["p1"]) for row in rows] == [
        ("Li, Na", "g1", "4", "4"),
        ("zoe", "g1", "4", "4"),
    ]


@pytest.mark.parametrize("held", [{"needs_review": True}, {"status": Status.INFRASTRUCTURE_ERROR}])
def test_an_uncertain_score_is_an_empty_cell(make_submission, make_report, held):
    (row,) = read(Row(make_submission(), make_report(**held)))
    assert (row["score"], row["p1"], row["max_score"]) == ("", "", "4")


def test_a_failure_of_the_grader_is_an_empty_cell(make_submission, make_report):
    rows = read(Row(make_submission("s1"), None), Row(make_submission("s2"), make_report("s2")))
    assert [(row["status"], row["score"], row["p1"]) for row in rows] == [
        ("infrastructure_error", "", ""),
        ("graded", "4", "4"),
    ]


def test_iwslt_is_a_column_of_its_own_while_it_is_pending(make_submission, make_report, make_check):
    checks = [make_check(Verdict.PENDING, id="p4.iwslt.bleu"), make_check(Verdict.PENDING, id="p3.reversal.order")]
    (row,) = read(Row(make_submission(), make_report(checks=checks)))
    assert (row["pending"], row["iwslt_pending"]) == ("8", "4")


def test_a_name_cannot_be_a_formula_and_everything_is_quoted(make_submission, make_report):
    text = dump_gradebook([Row(make_submission(members=('=HYPERLINK("x")',)), make_report())]).decode()
    assert '"\'=HYPERLINK(""x"")"' in text
    assert all(line.startswith('"') and line.endswith('"') for line in text.splitlines())


def test_the_order_of_rows_does_not_depend_on_who_finished_first(make_submission, make_report):
    rows = [Row(make_submission(name), make_report(name)) for name in ("a", "b", "c")]
    assert len({dump_gradebook(order) for order in itertools.permutations(rows)}) == 1


@pytest.mark.parametrize(
    ("value", "text"), [(3.0, "3"), (86.5, "86.5"), (0.25, "0.25"), (0.0, "0"), (100.0, "100"), (None, "")]
)
def test_numbers_are_written_as_people_do(value, text):
    assert number(value) == text
