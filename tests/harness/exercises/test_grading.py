"""The exercises on the way of every submission: only where asked, their points where they have some."""

from dataclasses import replace
from fractions import Fraction
from importlib import resources

import pytest

from grader import pipeline, preflight
from grader.errors import UsageError
from grader.fingerprint import ROOT
from grader.report.yaml import dump_report, load_report
from grader.rubric import Rubric, load
from grader.verdict import NOT_SELECTED, Status, Verdict

SHIPPED = {
    name: resources.files("grader").joinpath(name).read_text("utf-8") for name in ("rubric.yaml", "tolerances.yaml")
}
CHECK = "p1.loss.value"


def with_points(**points):
    """The shipped rubric with points for exercises: `with_points(ex_02=3)`."""
    text = SHIPPED["rubric.yaml"].replace("max_score: 100", f"max_score: {100 + sum(points.values())}")
    for name, value in points.items():
        line = f"id: {name.replace('_', '.')}, points: "
        text = text.replace(f"{line}0", f"{line}{value}")
    return Rubric(text, SHIPPED["tolerances.yaml"])


@pytest.fixture
def graded(bench, solution_with):
    """Grades the reference's code with a form: the report, and its exercises by id."""

    def run(form, *only, rubric=None):
        fitting = replace(bench, only=only, rubric=rubric or bench.rubric)
        report = pipeline.grade(replace(solution_with(), exercises=form), fitting).report
        return report, {c.id: c for problem in report.problems if problem.id == "ex" for c in problem.checks}

    return run


def test_a_run_that_does_not_ask_for_exercises_reads_no_form_and_says_nothing_of_them(graded):
    report, found = graded(b"\xff&a [*a", CHECK)
    assert (found, report.quiz, report.remarks, report.status) == ({}, [], [], Status.GRADED)
    assert [problem.id for problem in report.problems] == ["p1", "p2", "p3", "p4"]
    assert (report.score, report.pending, report.max_score) == (4, 96, 100)
    text = dump_report(report)
    assert b"quiz" not in text
    assert b"ex.0" not in text
    assert "exercises.yaml" in report.submission.files


def test_what_is_asked_for_is_assessed_and_the_rest_is_pending(graded, filled):
    report, found = graded(filled(("masked: 8128", "masked: 8256"), ("ex.04: |", "ex.40: |")), "ex.0[12]")
    assert {name: check.verdict for name, check in found.items()} == {
        "ex.01": Verdict.PASSED,
        "ex.02": Verdict.FAILED,
        **dict.fromkeys(["ex.03", "ex.05", "ex.06", "ex.07", "ex.08", "ex.10"], Verdict.PENDING),
    }
    assert found["ex.03"].message == NOT_SELECTED
    assert (report.score, report.pending, report.max_score) == (0, 100, 100)
    assert report.remarks == ["exercises.yaml: the form has no place called ex.40, so it was not read"]
    assert len(report.quiz) == 10
    assert load_report(dump_report(report)) == report


def test_points_for_exercises_make_them_part_of_every_run_and_of_the_score(graded, filled):
    rubric = with_points(ex_01=2, ex_02=3)
    report, found = graded(filled(("masked: 8128", "masked: 8256")), CHECK, "ex.*", rubric=rubric)
    # 4 points for the check, 2 for exercise 1, none for exercise 2; 96 of the other checks are pending
    assert (report.score, report.pending, report.max_score) == (6, 96, 105)
    assert (found["ex.01"].points.earned, found["ex.02"].points.earned) == (2, 0)
    assert rubric.selected(()) == {*load().selected(()), "ex.01", "ex.02"}


def test_points_of_exercises_that_are_left_out_are_pending(graded, filled):
    report, _ = graded(filled(), CHECK, rubric=with_points(ex_01=2))
    assert (report.score, report.pending, report.max_score) == (4, 98, 102)  # 96 of checks and 2


def test_a_submission_that_cannot_be_graded_has_its_exercises_not_tried(bench, make_submission):
    submission = make_submission(problem="expected nn.py, found nothing")
    report = pipeline.grade(submission, replace(bench, only=("ex.*",))).report
    assert {check.verdict for problem in report.problems for check in problem.checks} == {Verdict.SKIPPED}
    assert [problem.id for problem in report.problems][-1] == "ex"


def test_the_reference_has_all_right_and_the_stubs_nothing(bench):
    asking = replace(bench, only=("ex.*",), rubric=with_points(ex_01=2))
    reports = [
        pipeline.grade(preflight.submission_of(ROOT / folder, folder), asking).report
        for folder in ("solution", "assignment")
    ]
    assert [report.score for report in reports] == [2, 0]
    assert {check.verdict for check in reports[0].problems[-1].checks} == {Verdict.PASSED}
    assert {check.unwritten for check in reports[1].problems[-1].checks} == {True}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("{id: ex.10, points: 0, visibility: public}", "{id: ex.04, points: 0, visibility: public}"),  # a text
        ("{id: ex.10, points: 0, visibility: public}", "{id: ex.08, points: 0, visibility: public}"),
        ("{id: ex.10, points: 0, visibility: public}", "{id: ex.10, points: -1, visibility: public}"),
        ("{id: ex.10, points: 0, visibility: public}", "{id: ex.10, points: 0, visibility: public, needs: [p4.loss]}"),
    ],
)
def test_a_line_for_an_exercise_that_means_nothing_is_refused(old, new):
    text = SHIPPED["rubric.yaml"]
    assert text.count(old) == 1
    with pytest.raises(UsageError, match=r"among the exercises; expected one of ex\.01, ex\.02"):
        Rubric(text.replace(old, new), SHIPPED["tolerances.yaml"])


def test_points_that_do_not_add_up_are_refused():
    text = SHIPPED["rubric.yaml"].replace("id: ex.01, points: 0", "id: ex.01, points: 1")
    with pytest.raises(UsageError, match=r"the checks sum to 101\.0, max_score is 100\.0"):
        Rubric(text, SHIPPED["tolerances.yaml"])


def test_exercises_have_exact_points():
    assert sum(
        (line.exact_points for line in with_points(ex_01=0.1, ex_02=0.2).exercise_lines), Fraction(0)
    ) == Fraction(3, 10)
