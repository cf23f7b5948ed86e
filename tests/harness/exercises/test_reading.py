"""What a student may write into the form: many ways of a number, and nothing that costs more than itself."""

import contextlib

import pytest
from harness.exercises.conftest import WANTED
from hypothesis import given
from hypothesis import strategies as st

from grader.errors import ExercisesError
from grader.exercises import assess, form
from grader.exercises.plain_yaml import read
from grader.submission import MAX_EXERCISES_BYTES
from grader.verdict import Filled, Verdict


def fields(content, name):
    return {field.name: field.filled for field in assess(content, [name]).outcomes[name].fields}


@pytest.mark.parametrize(
    "text",
    [
        "12596224",
        "12,596,224",
        '"12 596 224"',
        "12_596_224",
        "12596224.0",
        "1.2596224e+7",
        "1.2596224e7",
        "\uff11\uff12\uff15\uff19\uff16\uff12\uff12\uff14",  # full-width digits
        "+12596224",
        "'12596224 '",
    ],
)
def test_a_number_may_be_written_in_many_ways(filled, text):
    assert fields(filled(("parameters: 12596224", f"parameters: {text}")), "ex.05")["parameters"] is Filled.RIGHT


@pytest.mark.parametrize(
    "text",
    ["twelve", "12596224.5", ".nan", "nan", "inf", "1e999", "12.596.224", "[12596224]", "{a: 1}", "9" * 5000, "x" * 90],
)
def test_what_is_no_whole_number_is_told_from_a_wrong_one(filled, text):
    assert fields(filled(("parameters: 12596224", f"parameters: {text}")), "ex.05")["parameters"] is Filled.UNREADABLE


@pytest.mark.parametrize("text", ["", "~", "null", "''", "[]", "{}"])
def test_a_place_with_nothing_in_it_is_empty(filled, text):
    assert fields(filled(("joined: [4, 10, 64]", f"joined: {text}")), "ex.03")["joined"] is Filled.EMPTY


@pytest.mark.parametrize("text", ["[4, 10, x]", "[4, [10], 64]", "4 by 10 by 64", "{4: 10}"])
def test_what_is_no_shape_is_told_from_a_wrong_one(filled, text):
    assert fields(filled(("joined: [4, 10, 64]", f"joined: {text}")), "ex.03")["joined"] is Filled.UNREADABLE


@pytest.mark.parametrize(
    ("word", "right"), [("true", False), ("False", True), ("no", True), ("\u5bf9", False), ("~", None)]
)
def test_true_and_false_have_their_usual_names(filled, word, right):
    statement = assess(filled(("quiz.01: false", f"quiz.01: {word}")), []).quiz[0]
    assert statement.right is right


def test_an_empty_form_is_no_attempt():
    found = assess(form.blank().encode(), WANTED)
    assert [(outcome.verdict, outcome.unwritten) for outcome in found.outcomes.values()] == [(Verdict.ERROR, True)] * 8
    assert [statement.right for statement in found.quiz] == [None] * 10
    assert found.remarks == ()


def test_no_form_is_no_attempt():
    found = assess(None, ["ex.01"])
    assert found.outcomes["ex.01"].unwritten
    assert found.outcomes["ex.01"].message == "no exercises.yaml was handed in"
    assert found.quiz == ()


def test_all_fields_of_an_exercise_must_be_right(filled):
    outcome = assess(filled(("std_scaled: 1 ", "std_scaled:   ")), ["ex.01"]).outcomes["ex.01"]
    assert (outcome.verdict, outcome.share) == (Verdict.FAILED, 0)
    assert [(field.name, field.filled, field.given) for field in outcome.fields] == [
        ("std_scores", Filled.RIGHT, "16"),
        ("std_scaled", Filled.EMPTY, ""),
    ]


def test_a_text_may_say_anything_in_its_block(filled):
    prose = '  ex.04: |\n    a: b, *c* & {d}\n    "quoted" # no comment\n\n'
    found = assess(filled(("  ex.04: |\n\n", prose)), WANTED)
    assert {outcome.verdict for outcome in found.outcomes.values()} == {Verdict.PASSED}


@pytest.mark.parametrize(
    ("old", "new", "remark"),
    [
        (
            "  ex.04: |",
            "  ex.13: 1\n  ex.04: |",
            "exercises.yaml: the form has no place called ex.13, so it was not read",
        ),
        ("    std_scores:", "    std:", "exercises.yaml: the form has no place called ex.01.std, so it was not read"),
        ("answers:\n", "name: x\nanswers:\n", "exercises.yaml: the form has no place called name, so it was not read"),
        ("quiz.01: false", "quiz.01: perhaps", "exercises.yaml: expected true or false for quiz.01"),
        (
            "  ex.02:\n    visible: 10 ",
            "  ex.02: 10\n  x:\n    visible: 10",
            "exercises.yaml: expected every answer of ex.02 after the name of its field",
        ),
    ],
)
def test_what_has_no_place_in_the_form_is_noted_and_costs_nothing_else(filled, old, new, remark):
    found = assess(filled((old, new)), WANTED)
    assert remark in found.remarks
    assert sum(outcome.verdict is Verdict.PASSED for outcome in found.outcomes.values()) >= 7


def test_a_form_of_much_that_is_unknown_is_noted_briefly():
    found = assess(b"answers: {" + b",".join(b"k%d: 1" % i for i in range(2000)) + b", " + b"y" * 500 + b": 1}", [])
    assert len(found.remarks) == 5
    assert max(map(len, found.remarks)) < 120


LAUGHS = b"answers:\n  a: &a [x, x]\n  b: &b [*a, *a]\n  c: [*b, *b]\n"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"answers:\n\tex.01: 3\n", "cannot be read in line 2"),
        (b"answers:\n  ex.01: [1\n", "cannot be read in line 3"),
        (b"answers:\n  ex.01: a: b\n", "cannot be read in line 2"),
        (b"answers: \x01", "cannot be read in line 1"),
        (b"answers: {}\n---\nquiz: {}", "cannot be read in line 3"),
        (b"answers: {a: {b: {c: {d: {e: {f: g}}}}}}", "cannot be read in line 1"),
        (b"answers: {[a]: b}", "cannot be read in line 1"),
        (LAUGHS, "line 2 that begins with a sign of YAML's own"),
        (b"answers: !!python/object/apply:os.system [id]", "begins with a sign of YAML's own"),
        (b"answers: !x y", "begins with a sign of YAML's own"),
        (b"quiz: {}\nquiz: {}", "the same name again in line 2"),
        (b"answers:\n  ex.01: \xff\n", "found other bytes in line 2; save it as UTF-8"),
        ("answers: {}".encode("utf-16"), "save it as UTF-8"),
        (b" " * (MAX_EXERCISES_BYTES + 1), "at most 64 KiB, found more"),
        (b"", "expected `answers:` and `quiz:`"),
        (b"[1, 2]", "expected `answers:` and `quiz:`"),
        (b"answers: all of them", "with a value each below `answers:`"),
    ],
)
def test_a_form_that_cannot_be_read_is_told_in_one_line_and_no_attempt(content, told):
    found = assess(content, WANTED)
    (outcome,) = set(found.outcomes.values())
    assert outcome.verdict is Verdict.SKIPPED
    assert told in outcome.message
    assert "\n" not in outcome.message
    assert len(outcome.message) < 250
    assert (found.quiz, found.remarks) == ((), ())


def test_a_mark_of_the_byte_order_is_no_obstacle(filled):
    assert fields(b"\xef\xbb\xbf" + filled(), "ex.02")["visible"] is Filled.RIGHT


@pytest.mark.hypothesis
@given(st.binary(max_size=300) | st.text("answers:quiz \n-[]{}&*!|>'\"#%@`~?,\t0ex.1", max_size=120).map(str.encode))
def test_any_bytes_are_read_or_refused(content):
    with contextlib.suppress(ExercisesError):  # any other exception fails the test
        assert isinstance(read(content), str | list | dict)


@pytest.mark.parametrize("piece", [b"[", b"- ", b"{a: ", b"? ", b"&a ", b": ", b"k:\n ", b"'' "])
def test_no_form_takes_long_to_refuse(piece):
    """Over a deep nesting PyYAML's time grows with the square of the depth; a test that takes a minute fails."""
    content = piece * (MAX_EXERCISES_BYTES // len(piece))
    assert assess(content, ["ex.01"]).outcomes["ex.01"].verdict is Verdict.SKIPPED
