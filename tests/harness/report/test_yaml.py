"""`report.yaml`: the same bytes for the same report, and every number and text read back as it was."""

import json
import math

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from grader.errors import InfrastructureError
from grader.report import schema
from grader.report.text import clean
from grader.report.yaml import dump, dump_report, load_report, report_as_data
from grader.verdict import Diagnosis, Mismatch, Points, Verdict


@pytest.fixture
def failed(make_check):
    return make_check(
        points=Points(earned=0.5, available=4.0),
        error=Mismatch(what="0.out", kind="value", max_abs=0.3141592, max_rel=4.2e-7, at=[0, 1, 2, 7], tolerance=1e-9),
        diagnosis=Diagnosis(misconception="mha.no_scale", match="exact", hint="Divide."),
        message="on\nand",
        remarks=["float32"],
    )


def test_a_report_is_read_back_as_it_was(make_report, make_check):
    report = make_report(
        "张伟 [1]", [make_check(Verdict.PASSED), make_check(Verdict.TIMEOUT)], remarks=["a: b", "1e5", "no"]
    )
    assert load_report(dump_report(report)) == report


def test_a_report_is_what_the_schema_says(make_report, failed):
    jsonschema.validate(yaml.safe_load(dump_report(make_report(checks=[failed]))), schema.schema())
    jsonschema.validate(yaml.safe_load(dump_report(make_report(score=None, problems=[]))), schema.schema())


@pytest.mark.parametrize("wrong", [{"score": "86.5"}, {"status": "fine"}, {"extra": 1}, {"schema": "hw3-report/0"}])
def test_the_schema_refuses_what_is_no_report(make_report, wrong):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(report_as_data(make_report()) | wrong, schema.schema())


def test_the_committed_schema_is_the_generated_one():
    assert json.loads(schema.PATH.read_text(encoding="utf-8")) == schema.schema()
    assert schema.main(["--check"]) == 0


def test_numbers_are_plain_and_errors_have_two_digits(make_report, failed):
    text = dump_report(make_report(checks=[failed], score=86.5, max_score=100.0)).decode()
    assert "\nscore: 86.5\n" in text
    assert "\nmax_score: 100\n" in text
    error = yaml.safe_load(text)["problems"][0]["checks"][0]["error"]
    assert error == {
        "what": "0.out", "kind": "value", "max_abs": 0.31, "max_rel": 4.2e-7, "at": [0, 1, 2, 7], "tolerance": 1e-9
    }  # fmt: skip


def test_keys_stand_in_the_order_of_the_design(make_report):
    assert list(yaml.safe_load(dump_report(make_report()))) == [
        "schema", "submission", "status", "score", "max_score", "pending", "problems", "needs_review", "message",
        "remarks", "environment",
    ]  # fmt: skip


def test_what_is_no_finite_number_is_null(make_report, make_check):
    error = Mismatch(what="0.out", kind="value", max_abs=math.inf, max_rel=math.nan, at=[0], tolerance=1e-9)
    data = report_as_data(make_report(checks=[make_check(error=error)]))
    jsonschema.validate(data, schema.schema())
    assert data["problems"][0]["checks"][0]["error"]["max_abs"] is None


def test_student_text_cannot_add_a_key(make_report, make_check):
    evil = "x\nscore: 100\nstatus: graded # \x1b[2J\ud800"
    report = make_report(checks=[make_check(message=evil)])
    data = yaml.safe_load(dump_report(report))
    assert (data["score"], data["problems"][0]["checks"][0]["message"]) == (0, "x\nscore: 100\nstatus: graded # �[2J�")


@given(st.dictionaries(st.text("0123456789abcdefx_.:+-eEyn", min_size=1), st.text("0123456789abcdef_.:+-eEyno~")))
def test_text_that_looks_like_something_else_stays_text(data):
    assert yaml.safe_load(dump(data)) == {clean(key): clean(value) for key, value in data.items()}


@pytest.mark.parametrize("data", [b"", b"a: [", b"schema: hw3-report/1\n", b"\xff\xfe\xff"])
def test_what_is_no_report_is_refused(data):
    with pytest.raises(InfrastructureError, match=r"no report\.yaml"):
        load_report(data)
