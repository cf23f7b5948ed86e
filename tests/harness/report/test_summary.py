"""The class summary: rates among those who tried, most common misconception first, one order always."""

import itertools

import pytest
import yaml

from grader.report.summary import dump_summary, is_blank
from grader.verdict import NOT_SELECTED, Diagnosis, Status, Verdict


def summary(reports, **run):
    """Of reports, or of ids where the grader failed."""
    by_id = {r if isinstance(r, str) else r.submission.id: None if isinstance(r, str) else r for r in reports}
    return yaml.safe_load(dump_summary(by_id, run))


def mistaken(make_check, *names):
    return [
        make_check(id=f"c{i}", diagnosis=Diagnosis(misconception=name, match="exact", hint="h"))
        for i, name in enumerate(names)
    ]


def test_rates_are_among_those_who_tried(make_report, make_check):
    checks = [
        make_check(Verdict.PASSED),
        make_check(Verdict.FAILED),
        make_check(Verdict.TIMEOUT),
        make_check(Verdict.ERROR, unwritten=True),
        make_check(Verdict.SKIPPED),
    ]
    (entry,) = summary(make_report(f"s{i}", [check]) for i, check in enumerate(checks))["checks"]
    assert (entry["attempted"], entry["passed"], entry["pass_rate"], entry["unwritten"]) == (3, 1, 0.33, 1)
    assert entry["verdicts"] == {"passed": 1, "failed": 1, "error": 1, "timeout": 1, "skipped": 1}


def test_a_check_that_nobody_tried_has_no_rate(make_report, make_check):
    (entry,) = summary([make_report(checks=[make_check(Verdict.PENDING)])])["checks"]
    assert entry["pass_rate"] is None


def test_misconceptions_are_counted_once_a_submission_most_common_first(make_report, make_check):
    reports = [
        make_report("a", mistaken(make_check, "no_scale", "no_scale")),
        make_report("b", mistaken(make_check, "no_mask")),
        make_report("c", mistaken(make_check, "no_bias", "no_mask")),
    ]
    found = summary(reports)["misconceptions"]
    assert [(entry["misconception"], entry["submissions"]) for entry in found] == [
        ("no_mask", 2),
        ("no_bias", 1),
        ("no_scale", 1),
    ]
    assert found[2]["checks"] == ["c0", "c1"]


def test_each_of_two_mistakes_that_show_together_is_counted(make_report, make_check):
    reports = [
        make_report("a", mistaken(make_check, "no_mask + no_scale")),
        make_report("b", mistaken(make_check, "no_mask")),
    ]
    found = {entry["misconception"]: entry["submissions"] for entry in summary(reports)["misconceptions"]}
    assert found == {"no_mask": 2, "no_scale": 1}


def test_a_run_that_left_checks_out_does_not_call_a_submission_blank(make_report, make_check):
    checks = [make_check(Verdict.ERROR, unwritten=True), make_check(Verdict.PENDING, message=NOT_SELECTED)]
    assert not is_blank(make_report(checks=checks))


def test_statuses_and_scores_are_counted(make_report, make_check):
    reports = [
        make_report("full"),
        make_report("half", score=2.0),
        make_report("held", score=4.0, needs_review=True),
        make_report("bad", status=Status.UNGRADABLE, score=0.0, message="no file"),
        make_report("blank", [make_check(Verdict.ERROR, unwritten=True)]),
        "lost",
    ]
    data = summary(reports, rubric="sha256:ab")
    assert data["counts"] == {
        "submissions": 6, "graded": 4, "ungradable": 1, "infrastructure_error": 1, "blank": 1, "needs_review": 1
    }  # fmt: skip
    assert data["scores"] == {"mean": 2, "median": 2, "lowest": 0, "highest": 4}
    assert [entry["id"] for entry in data["submissions"]] == ["bad", "blank", "full", "half", "held", "lost"]
    assert data["submissions"][-1] == {"id": "lost", "status": "infrastructure_error", "score": None}
    assert data["run"] == {"rubric": "sha256:ab"}


def test_a_submission_has_one_line(make_report):
    text = dump_summary({"s001": make_report()}, {}).decode()
    assert "\n- {id: s001, status: graded, score: 4, pending: 0, needs_review: false}\n" in text


def test_the_order_in_which_submissions_finish_does_not_show(make_report, make_check):
    reports = [make_report(name, mistaken(make_check, name)) for name in ("a", "b", "c")]
    orders = itertools.permutations(reports)
    assert len({dump_summary({report.submission.id: report for report in order}, {}) for order in orders}) == 1


@pytest.mark.parametrize(
    ("verdict", "unwritten", "blank"),
    [(Verdict.ERROR, True, True), (Verdict.ERROR, False, False), (Verdict.SKIPPED, False, False)],
)
def test_blank_means_that_a_stub_is_left_and_nothing_was_tried(make_report, make_check, verdict, unwritten, blank):
    assert is_blank(make_report(checks=[make_check(verdict, unwritten=unwritten)])) is blank
