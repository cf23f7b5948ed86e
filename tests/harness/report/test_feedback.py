"""What a student reads: the mistake in words, and of a hidden check only its title and points."""

import pytest

from grader.messages import LANGUAGES, placeholders, texts
from grader.report.feedback import Detail, Style, feedback
from grader.verdict import Diagnosis, Mismatch, Points, Status, Verdict, Visibility

VALUE = Mismatch(what="0.grad.param.ln.weights", kind="value", max_abs=0.31, max_rel=4.2, at=[0, 7], tolerance=1e-9)
HINT = Diagnosis(misconception="mha.no_scale", match="exact", hint="Divide the scores by sqrt(Dh).")


def read(report, language="en", detail=Detail.FULL):
    return feedback(report, Style(language, detail)).decode()


def test_both_languages_have_the_same_keys_and_placeholders():
    english, chinese = (texts(language).templates for language in LANGUAGES)
    assert {key: placeholders(text) for key, text in english.items()} == {
        key: placeholders(text) for key, text in chinese.items()
    }


def test_chinese_texts_are_chinese():
    templates = texts("zh").templates
    symbols = {"problem", "what_other", "received_file"}  # nothing in them to translate
    assert [k for k, text in templates.items() if k not in symbols and not any("一" <= c <= "龥" for c in text)] == []


def test_a_failed_public_check_is_explained(make_report, make_check):
    text = read(make_report(checks=[make_check(error=VALUE, diagnosis=HINT)]))
    assert "### logsumexp over any dimension" in text
    assert "The gradient of the parameter `ln.weights` is off by up to 0.31 (4.2 of its size; 1e-9 is allowed)" in text
    assert "first at index [0, 7]" in text
    assert "**Hint.** Divide the scores by sqrt(Dh)." in text
    assert "| logsumexp over any dimension | wrong | 0 / 4 |" in text


@pytest.mark.parametrize("detail", Detail)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_hidden_check_shows_its_title_and_points_only(make_report, make_check, detail, language):
    hidden = make_check(visibility=Visibility.HIDDEN, error=VALUE, diagnosis=HINT, message="printed by the student")
    text = read(make_report(checks=[hidden]), language, detail)
    assert "| logsumexp over any dimension ◦ |" in text
    assert "0 / 4 |" in text
    for secret in ("0.31", "4.2", "ln.weights", "Divide", "printed", "###"):
        assert secret not in text


def test_feedback_of_level_hint_has_no_numbers(make_report, make_check):
    text = read(make_report(checks=[make_check(error=VALUE, diagnosis=HINT, message="got 0.31")]), detail=Detail.HINT)
    assert "The values of the gradient of the parameter `ln.weights` are not the right ones." in text
    assert "Divide" in text
    assert "0.31" not in text


def test_feedback_of_level_score_has_the_table_only(make_report, make_check):
    text = read(make_report(checks=[make_check(error=VALUE, diagnosis=HINT)]), detail=Detail.SCORE)
    assert "| wrong | 0 / 4 |" in text
    assert "###" not in text


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", ["value", "shape", "dtype", "finite", "property", "missing"])
@pytest.mark.parametrize("verdict", [Verdict.FAILED, Verdict.ERROR, Verdict.TIMEOUT, Verdict.MEMORY])
def test_every_verdict_and_kind_of_error_has_words(make_report, make_check, verdict, kind, language):
    check = make_check(verdict, error=Mismatch(what="0.out", kind=kind), message="m\ufe0f")
    assert len(read(make_report(checks=[check]), language).splitlines()) > 10


def test_an_exception_is_shown_as_it_came_and_does_nothing(make_report, make_check):
    message = "NameError: <script>alert(1)</script>\n| a | `b` \x1b[2J"
    text = read(make_report(checks=[make_check(Verdict.ERROR, message=message)]))
    assert "    NameError: <script>alert(1)</script>\n    | a | `b` �[2J" in text  # indented: a code block


def test_an_id_cannot_be_markup(make_report):
    assert read(make_report("<img src=x>@all")).startswith("# Feedback for &lt;img src=x&gt;&#64;all\n")


def test_a_blank_submission_is_told_what_came_and_where_to_start(make_report, make_check):
    checks = [make_check(Verdict.ERROR, unwritten=True), make_check(Verdict.SKIPPED)]
    text = read(make_report(checks=checks))
    assert "Score: **0 of 8**" in text
    assert "nothing to grade yet" in text
    assert "write `logsumexp` in `nn.py`" in text
    assert "- nn.py, sha256 1e5" in text
    assert "###" not in text


def test_a_submission_that_only_crashes_is_not_called_blank(make_report, make_check):
    text = read(make_report(checks=[make_check(Verdict.ERROR, message="SyntaxError")]))
    assert "nothing to grade yet" not in text
    assert "    SyntaxError" in text


def test_an_ungradable_submission_is_told_its_problem(make_report):
    text = read(make_report(status=Status.UNGRADABLE, message="found transformers.py, expected transformer.py"))
    assert "This submission could not be graded: found transformers.py, expected transformer.py" in text
    assert "- nn.py, sha256 1e5" in text
    assert "| ---" not in text


def test_points_carried_forward_and_pending_ones_are_named(make_report, make_check):
    carried = make_check(points=Points(earned=0.0, available=4.0, carried_forward=2.5))
    text = read(make_report(checks=[carried, make_check(Verdict.PENDING)]))
    assert "Score: **2.5 of 8**" in text
    assert "2.5 of these although something below it is wrong" in text
    assert "4 points could not be assessed in this run." in text


def test_a_score_under_review_is_held_back(make_report):
    text = read(make_report(needs_review=True))
    assert "Score:" not in text
    assert "a person will look at it" in text
