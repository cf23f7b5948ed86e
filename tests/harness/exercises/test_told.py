"""What students and staff read of the exercises: which field is wrong and never what is right; rates of the class."""

import re

import pytest
import yaml
from harness.exercises.conftest import WANTED

from grader.exercises import assess, exercises, form, quiz
from grader.report.feedback import Detail, Style, feedback, feedback_html
from grader.report.gradebook import Row, dump_gradebook
from grader.report.summary import dump_summary
from grader.rubric import load
from grader.score import problems
from grader.verdict import NOT_SELECTED, Outcome, Verdict

PENDING = Outcome(verdict=Verdict.PENDING, message=NOT_SELECTED)


@pytest.fixture
def report_on(make_report):
    """The report of a run that assessed the exercises alone."""

    def make(content, identifier="s001"):
        found, rubric = assess(content, WANTED), load()
        parts = problems(rubric, {**dict.fromkeys(rubric.ids, PENDING), **found.outcomes})
        told = {"problems": parts, "quiz": list(found.quiz), "remarks": list(found.remarks), "max_score": 100.0}
        return make_report(identifier, **told)

    return make


def read(report, language="en", detail=Detail.FULL):
    return feedback(report, Style(language, detail)).decode()


MISTAKES = (
    ("masked: 8128", "masked: 8256"),
    ("parameters: 12596224", "parameters: many"),
    ("lr_16000: 0.00034939", "lr_16000:"),
    ("quiz.04: false", "quiz.04: true"),
    ("quiz.07: false", "quiz.07:"),
)


def test_feedback_names_the_field_and_gives_the_hint(report_on, filled):
    text = read(report_on(filled(*MISTAKES)))
    assert "## Exercises: 5 of 8 right" in text
    assert "| Exercise 2: What a causal mask hides | not right yet | – |" in text  # noqa: RUF001 - a dash where no points are
    assert "- **Exercise 2: What a causal mask hides.** `masked`: 8256 is not right. A position sees itself." in text
    assert "`parameters`: many is not a whole number. Attention has four linear maps" in text
    assert "`lr_16000` is empty. One of the steps" in text
    assert "Exercises 4, 9, 11, 12 ask for a text" in text
    assert "Softmax" not in text  # nothing of the checks that were left out


def test_feedback_in_chinese_is_chinese(report_on, filled):
    text = read(report_on(filled(*MISTAKES)), "zh")
    assert "`masked` 填的 8256 不对。每个位置都能看到自己" in text
    assert "`parameters` 填的 many 不是整数。" in text
    assert "`lr_16000` 没有填。" in text
    kept = re.sub(
        r"`[^`]*`|Pre-LN|Post-LN|LayerNorm|PyTorch|softmax|Softmax|token|slides|many|FLOP|sha256|Adam", "", text
    )
    assert re.findall(r"[A-Za-z]{4,} [A-Za-z]{3,}", kept) == []


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("detail", list(Detail))
def test_no_right_number_is_in_any_feedback(report_on, language, detail):
    """Every field is filled in wrongly and the quiz left out: a right number can only come from the grader."""
    report, style = report_on(re.sub(r"(    \w+:)", r"\1 77777", form.blank()).encode()), Style(language, detail)
    assert {check.verdict for check in report.problems[-1].checks} == {Verdict.FAILED}
    told = feedback(report, style).decode() + feedback_html(report, style).decode().partition("<body>")[2]
    right = [expected.value for exercise in exercises().values() for expected in exercise.expected.values()]
    written = {
        str(value) if isinstance(value, list) else f"{value:{way}}" for value in right for way in (".12g", ",.12g")
    }
    telling = {value for value in written if len(re.sub(r"\D", "", value)) > 2}  # 1 and 10 stand there anyway
    assert {"8128", "12,596,224", "66.637", "[4, 10, 64]"} <= telling
    assert {value for value in telling if value in told} == set()


def test_the_quiz_tells_the_reason_of_what_was_answered_and_keeps_the_rest(report_on, filled):
    text = read(report_on(filled(*MISTAKES)))
    assert "## Quiz: 8 of 10 right" in text
    assert f"{quiz()['quiz.04'].statement.en} **False, and you said true.** The heads share the width" in text
    assert "**True, as you said.** Attention compares contents only" in text
    assert "leaves that path free" not in text  # the reason of quiz.07
    assert "Statements not answered: 1." in text


@pytest.mark.parametrize(
    ("detail", "hint", "reason", "judged"),
    [(Detail.FULL, True, True, True), (Detail.HINT, True, False, True), (Detail.SCORE, False, False, False)],
)
def test_less_is_told_where_staff_want_it(report_on, filled, detail, hint, reason, judged):
    text = read(report_on(filled(*MISTAKES)), detail=detail)
    assert ("A position sees itself" in text) is hint
    assert ("The heads share the width: eight" in text) is reason
    assert ("**False, and you said true.**" in text) is judged
    assert "## Quiz: 8 of 10 right" in text


@pytest.mark.parametrize(("language", "told"), [("en", "cannot be read in line 1"), ("zh", "的第 1 行")])
def test_a_form_that_cannot_be_read_is_one_line(report_on, language, told):
    text = read(report_on(b"answers: ]"), language)
    assert text.count(told) == 1
    assert "| ---" not in text


def test_what_a_student_wrote_is_shown_as_text(report_on, filled):
    wrong = ("masked: 8128", "masked: '<b>[x](http://x)`|'")
    markdown, html = (make(report_on(filled(wrong)), Style()).decode() for make in (feedback, feedback_html))
    assert "&lt;b&gt;" in html
    assert "<b>" not in markdown + html
    assert "\\[x\\](http" in markdown


def test_exercises_beside_code_stand_at_the_end_and_are_not_the_next_step(make_report, make_check, report_on, filled):
    asked = report_on(filled(*MISTAKES))
    passed = make_report(checks=[make_check(Verdict.PASSED)]).problems
    text = read(make_report(problems=[*passed, asked.problems[-1]], quiz=asked.quiz))
    assert "Start here" not in text
    assert (
        text.index("Softmax loss")
        < text.index("## Exercises")
        < text.index("## Quiz")
        < text.index("## What was received")
    )


def test_exercises_without_points_are_no_column_of_the_gradebook(make_submission, report_on, filled):
    row = Row(make_submission(), report_on(filled()))
    assert b'"ex"' not in dump_gradebook([row])


def summary(*reports):
    return yaml.safe_load(dump_summary({report.submission.id: report for report in reports}, {}))


def test_the_summary_has_the_rate_of_every_exercise_and_statement(report_on, filled):
    heads = ("quiz.04: false", "quiz.04: true")
    data = summary(
        report_on(filled(*MISTAKES), "a"),
        report_on(filled(heads), "b"),
        report_on(filled(), "c"),
        report_on(form.blank().encode(), "d"),
        report_on(b"\xff", "e"),
        report_on(None, "f"),
    )
    checks = {check["id"]: check for check in data["checks"]}
    # a, b and c filled in exercise 2, and b and c rightly: 2 of 3
    assert (checks["ex.02"]["attempted"], checks["ex.02"]["passed"], checks["ex.02"]["pass_rate"]) == (3, 2, 0.67)
    assert checks["ex.02"]["wrong_fields"] == {"masked": 1}
    assert "wrong_fields" not in checks["ex.01"]
    first, *others = data["quiz"]
    assert first == {
        "id": "quiz.04",
        "answered": 3,
        "right": 1,
        "right_rate": 0.33,
        "reteach": "67% hold that h heads cost h times as much as one: section 3.2, lab 03",
    }
    assert {entry["id"]: entry["answered"] for entry in others}["quiz.07"] == 2
    assert not any("reteach" in entry for entry in others)


def test_a_summary_without_exercises_has_no_quiz(make_report):
    assert "quiz" not in summary(make_report())
