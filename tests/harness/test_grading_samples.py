"""The sample class from files to points: every sample scores what the golden file says, in a real sandbox."""

from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
import yaml

from grader import checks, pipeline
from grader.intake import collect
from grader.report.schema import schema
from grader.report.yaml import report_as_data
from grader.verdict import Verdict

SAMPLES = Path(__file__).parent.parent / "samples"
TRAINED = {"s01_complete", "s04_no_scale", "s08_syntax_error"}
"""Graded with the checks that train, too: one that learns, one whose mistake was paid for, one that cannot."""
WITHOUT_A_MODEL = 65
"""What a submission that cannot be trained scores at most."""
IWSLT = 8
EXPECTED = yaml.safe_load((SAMPLES / "expected.yaml").read_text())


@pytest.fixture(scope="module")
def submissions():
    return {submission.id: submission for submission in collect(SAMPLES)}


def test_every_sample_has_an_expected_score(submissions):
    assert set(submissions) == set(EXPECTED)


@pytest.mark.timeout(300)  # models are trained
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_sample_scores_what_the_golden_file_says(name, submissions, bench):
    selected = () if name in TRAINED else tuple(line.id for line in bench.rubric.checks if not checks.trains(line.id))
    report = pipeline.grade(submissions[name], replace(bench, only=selected)).report
    jsonschema.validate(report_as_data(report), schema())
    if EXPECTED[name] == "ungradable":
        assert (report.status.value, report.score) == ("ungradable", 0)
        return
    untrained = 0 if name in TRAINED else sum(c.points.available for c in pending(report) if checks.trains(c.id))
    earned = untrained if EXPECTED[name] > WITHOUT_A_MODEL else 0  # `make grade` trains them all
    assert (report.status.value, report.score + earned) == ("graded", EXPECTED[name])
    assert report.pending == IWSLT + untrained


def pending(report):
    return [c for problem in report.problems for c in problem.checks if c.verdict is Verdict.PENDING]


def test_only_selected_checks_and_what_they_need_are_assessed(submissions, bench):
    report = pipeline.grade(submissions["s01_complete"], replace(bench, only=("p3.layer",))).report
    verdicts = {c.id: c.verdict for p in report.problems for c in p.checks}
    assert {check for check, verdict in verdicts.items() if verdict is Verdict.PASSED} == {
        "p3.mha.heads",
        "p3.ffn",
        "p3.layer",
    }
    assert (report.score, report.pending) == (11, 89)
