"""`junit.xml`: every check a case, whatever a student wrote in it."""

from xml.etree import ElementTree as ET

import pytest

from grader.report.feedback import Detail, Style
from grader.report.gradebook import Row
from grader.report.junit import dump_junit
from grader.verdict import Points, Raised, Status, Verdict

HOSTILE = ["]]><system-out>owned</system-out>", "\x00\x08\x1b[31m\ufffe\ud800", "a\"'&<b/>\n\u2028", "&#0;&lol;"]


def read(data):
    """Suites as {name: [(case, outcome, message, text)]}."""
    root = ET.fromstring(data)
    suites = {}
    for suite in root:
        suites[suite.get("name")] = [
            (case.get("name"), outcome.tag, outcome.get("message"), outcome.text or "")
            for case in suite
            for outcome in [*case, ET.Element("passed")][:1]
        ]
    return suites


def test_each_outcome_is_what_gitlab_shows_of_it(make_report, make_check, make_submission):
    raised = Raised(kind="NameError", text="no head", file="nn.py", line=12, source="x = head")
    carried = Points(earned=0.0, available=4.0, carried_forward=4.0)
    partly = Points(earned=1.5, available=4.0)
    checks = [
        make_check(Verdict.PASSED, title="one", id="p1.a"),
        make_check(Verdict.FAILED, title="two", id="p1.b", points=partly, message="nothing came"),
        make_check(Verdict.ERROR, title="three", id="p1.c", raised=raised),
        make_check(Verdict.TIMEOUT, title="four", id="p1.d"),
        make_check(Verdict.ERROR, title="five", id="p1.e", unwritten=True),
        make_check(Verdict.FAILED, title="six", id="p1.f", points=carried, carried_from=["p1.b"]),
        make_check(Verdict.SKIPPED, title="seven", id="p1.g", message="needs p1.c, which gave no answer"),
        make_check(Verdict.PENDING, title="eight", id="p1.h"),
    ]
    data = dump_junit([Row(make_submission(), make_report(checks=checks))], Style())
    cases = read(data)["s001"]
    assert [(name, outcome, message) for name, outcome, message, _ in cases] == [
        ("one", "passed", None),
        ("two", "failure", "wrong, points to gain: 2.5"),
        ("three", "error", "stopped with an error, points to gain: 4"),
        ("four", "error", "took too long, points to gain: 4"),
        ("five", "skipped", "not written yet"),
        ("six", "skipped", "right otherwise"),
        ("seven", "skipped", "not tried"),
        ("eight", "skipped", "not assessed yet"),
    ]
    assert "    x = head\n    NameError: no head\n" in cases[2][3]
    suite = ET.fromstring(data)[0]
    counted = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counted == {"tests": "8", "failures": "1", "errors": "2", "skipped": "4"}
    assert {case.get("classname") for case in suite} == {"1. Softmax loss"}


@pytest.mark.parametrize("text", HOSTILE)
def test_whatever_a_student_writes_it_stays_a_text_in_a_valid_file(make_report, make_check, make_submission, text):
    raised = Raised(kind=text, text=text, file="nn.py", line=3, source=text)
    graded = make_report(checks=[make_check(Verdict.ERROR, raised=raised, title=text)])
    wrong = make_report("s002", status=Status.UNGRADABLE, message=f"found {text}")
    rows = [Row(make_submission(), graded), Row(make_submission("s002"), wrong)]
    root = ET.fromstring(dump_junit(rows, Style()))
    assert {element.tag for element in root.iter()} == {"testsuites", "testsuite", "testcase", "error", "failure"}
    assert [len(suite) for suite in root] == [1, 1]


def test_a_submission_that_could_not_be_graded_and_one_that_the_grader_failed_on_are_told_apart(
    make_report, make_submission
):
    wrong = make_report("s002", status=Status.UNGRADABLE, message="found transformers.py, expected transformer.py")
    suites = read(dump_junit([Row(make_submission("s002"), wrong), Row(make_submission(), None)], Style()))
    assert list(suites) == ["s001", "s002"]
    ((_, outcome, message, _),) = suites["s001"]
    assert (outcome, message) == ("error", "the grader failed; this is no fault of the submission's")
    ((_, outcome, message, _),) = suites["s002"]
    assert (outcome, message) == ("failure", "found transformers.py, expected transformer.py")


def test_the_same_reports_give_the_same_bytes_in_any_order_and_no_times(make_report, make_check, make_submission):
    rows = [
        Row(make_submission(name), make_report(name, [make_check(message="nothing came")])) for name in ("b", "a", "c")
    ]
    data = dump_junit(rows, Style())
    assert data == dump_junit(rows[::-1], Style())
    assert b"time" not in data


def test_feedback_of_points_only_gives_no_text(make_report, make_check, make_submission):
    check = make_check(message="nothing came")
    data = dump_junit([Row(make_submission(), make_report(checks=[check]))], Style(detail=Detail.SCORE))
    ((_, outcome, message, text),) = read(data)["s001"]
    assert (outcome, message, text) == ("failure", "wrong, points to gain: 4", "")


def test_it_is_in_the_language_of_the_feedback(make_report, make_check, make_submission):
    data = dump_junit([Row(make_submission(), make_report(checks=[make_check()]))], Style("zh"))
    assert "logsumexp 可沿任一维计算" in data.decode()
