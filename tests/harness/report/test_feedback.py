"""What a student reads: the mistake in words, hints step by step, and where to go from there."""

import importlib.util
from pathlib import Path

import pytest

from grader.messages import LANGUAGES, placeholders, texts
from grader.messages.hints import ladders
from grader.misconceptions import known
from grader.report.feedback import Detail, Style, feedback, feedback_html
from grader.verdict import Diagnosis, Mismatch, Points, Raised, Status, Verdict, Visibility

VALUE = Mismatch(what="0.grad.param.ln.weights", kind="value", max_abs=0.31, max_rel=4.2, at=[0, 7], tolerance=1e-9)
NO_SCALE = Diagnosis(misconception="mha.no_scale", match="exact", hint="For staff.")
LADDER = ladders("en")["mha.no_scale"]
KINDS = ["value", "shape", "dtype", "finite", "property", "missing"]
RELATIONS = ["sign", "twice", "batch_times", "batch_divided", "factor", "offset", "transposed"]
RAISED = Raised(kind="NameError", text="name 'head' is not defined", file="nn.py", line=12, source="x = head + 1")


def read(report, language="en", detail=Detail.FULL):
    return feedback(report, Style(language, detail)).decode()


def test_both_languages_have_the_same_keys_and_placeholders():
    english, chinese = (texts(language).templates for language in LANGUAGES)
    assert {key: placeholders(text) for key, text in english.items()} == {
        key: placeholders(text) for key, text in chinese.items()
    }


def test_chinese_texts_are_chinese():
    templates = texts("zh").templates
    symbols = {"problem", "what_other", "received_file", "between", "points_pending"}  # nothing in them to translate
    assert [k for k, text in templates.items() if k not in symbols and not any("一" <= c <= "龥" for c in text)] == []


def test_a_failed_public_check_is_explained_up_to_the_name_of_the_mistake(make_report, make_check):
    text = read(make_report(checks=[make_check(error=VALUE, diagnosis=NO_SCALE)]))
    assert "### logsumexp over any dimension · points to gain: 4" in text
    assert "The gradient of the parameter `ln.weights` is off by up to 0.31 (4.2 of its size; 1e-9 is allowed)" in text
    assert "first at index (0, 7)" in text
    assert f"**What you see.** {LADDER.rung1}" in text
    assert f"**Ask yourself.** {LADDER.rung2}" in text
    assert f"**The mistake: {LADDER.name}.** {LADDER.rung3}" in text
    assert '    pytest tests/test_nn.py -k "logsumexp and not gradient"' in text
    assert "| logsumexp over any dimension | wrong | 0 / 4 |" in text
    assert "For staff" not in text


def test_a_failed_check_without_a_known_mistake_is_sent_to_the_lecture(make_report, make_check):
    text = read(make_report(checks=[make_check(error=VALUE)]))
    assert "Reread lecture 6, section 9.1" in text
    assert "pytest tests/test_nn.py" in text


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_relation_has_words(make_report, make_check, relation, language):
    factor = 0.35 if relation in {"factor", "offset"} else None
    error = Mismatch(what="0.out", kind="value", relation=relation, factor=factor)
    text = read(make_report(checks=[make_check(error=error)]), language)
    assert texts(language).templates[f"relation_{relation}"][:8] in text
    assert ("0.35" in text) == (factor is not None)


def test_a_relation_is_not_told_where_the_mistake_has_a_name_nor_where_numbers_are_not(make_report, make_check):
    error = Mismatch(what="0.out", kind="value", relation="factor", factor=0.35)
    for detail, diagnosis in ((Detail.FULL, NO_SCALE), (Detail.HINT, None)):
        assert "0.35" not in read(make_report(checks=[make_check(error=error, diagnosis=diagnosis)]), detail=detail)


def test_shapes_are_told(make_report, make_check):
    error = Mismatch(what="0.out", kind="shape", got=[4, 1], wanted=[4])
    text = read(make_report(checks=[make_check(error=error)]))
    assert "The output has shape (4, 1); the right shape is (4,)." in text


def test_the_same_mistake_is_explained_once(make_report, make_check):
    checks = [make_check(error=VALUE, diagnosis=NO_SCALE, id=name, title=name) for name in ("p3.mha.scale", "p3.layer")]
    text = read(make_report(checks=checks))
    assert text.count(LADDER.rung1) == 1
    assert "It is the mistake that is explained under “p3.mha.scale”." in text


def test_two_mistakes_together_are_both_explained(make_report, make_check):
    pair = Diagnosis(misconception="mha.no_scale + lse.no_shift", match="exact", hint="")
    text = read(make_report(checks=[make_check(error=VALUE, diagnosis=pair)]))
    assert "Two mistakes together" in text
    assert LADDER.rung3 in text
    assert ladders("en")["lse.no_shift"].rung3 in text


def test_a_misconception_that_this_grader_does_not_know_is_left_out(make_report, make_check):
    unknown = Diagnosis(misconception="mha.of_another_version", match="exact", hint="")
    assert "another_version" not in read(make_report(checks=[make_check(error=VALUE, diagnosis=unknown)]))


@pytest.mark.parametrize("name", sorted({m.name for m in known()}))
def test_a_finding_is_neither_terse_nor_long(make_report, make_check, name):
    check = make_check(error=VALUE, diagnosis=Diagnosis(misconception=name, match="exact", hint=""))
    finding = read(make_report(checks=[check])).split("### ")[1].split("\n## ")[0]
    words = [word for line in finding.splitlines()[1:] if not line.startswith("    ") for word in line.split()]
    assert 80 <= len(words) <= 165


@pytest.mark.parametrize("language", LANGUAGES)
def test_feedback_of_level_hint_has_the_first_rung_and_no_numbers(make_report, make_check, language):
    raised = make_check(Verdict.ERROR, raised=RAISED)
    text = read(
        make_report(checks=[make_check(error=VALUE, diagnosis=NO_SCALE, message="got 0.31"), raised]),
        language,
        Detail.HINT,
    )
    ladder = ladders(language)["mha.no_scale"]
    assert ladder.rung1 in text
    for beyond in (ladder.rung2, ladder.rung3, ladder.name, "0.31", "4.2", "(0, 7)", RAISED.text):
        assert beyond not in text
    assert RAISED.source in text


def test_feedback_of_level_score_has_the_tables_only(make_report, make_check):
    text = read(make_report(checks=[make_check(error=VALUE, diagnosis=NO_SCALE)]), detail=Detail.SCORE)
    assert "| wrong | 0 / 4 |" in text
    assert "###" not in text


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("verdict", [Verdict.FAILED, Verdict.ERROR, Verdict.TIMEOUT, Verdict.MEMORY])
@pytest.mark.parametrize("detail", [Detail.FULL, Detail.HINT])
def test_every_verdict_and_kind_of_error_has_words(make_report, make_check, verdict, kind, language, detail):
    check = make_check(verdict, error=Mismatch(what="0.out", kind=kind), message="m")
    assert len(read(make_report(checks=[check]), language, detail).splitlines()) > 10


def test_an_exception_is_shown_with_the_students_own_line(make_report, make_check):
    text = read(make_report(checks=[make_check(Verdict.ERROR, raised=RAISED, message="nn.logsumexp: NameError: …")]))
    assert "It stopped with `NameError` in line 12 of your `nn.py`:" in text
    assert "    x = head + 1\n    NameError: name 'head' is not defined" in text
    assert "Traceback" not in text
    assert "logsumexp: NameError" not in text


def test_an_exception_that_several_checks_meet_is_shown_once(make_report, make_check):
    checks = [make_check(Verdict.ERROR, raised=RAISED, id=name, title=name) for name in ("p1.lse.value", "p1.lse.grad")]
    text = read(make_report(checks=checks))
    assert text.count(RAISED.source) == 1
    assert "It is the same error as under “p1.lse.value”." in text


def test_an_exception_does_nothing(make_report, make_check):
    evil = Raised(kind="N`x`", text="<script>alert(1)</script>\n| a | `b` \x1b[2J", file="`a`.py", line=1, source="<b>")
    text = read(make_report(checks=[make_check(Verdict.ERROR, raised=evil)]))
    assert "    <b>\n    N`x`: <script>alert(1)</script>\n    | a | `b` �[2J" in text  # indented: a code block
    assert "It stopped with `N'x'` in line 1 of your `'a'.py`:" in text


def test_an_id_cannot_be_markup(make_report):
    assert read(make_report("<img src=x>@all")).startswith("# Feedback for &lt;img src=x&gt;&#64;all\n")
    assert "<img" not in feedback_html(make_report("<img src=x>@all"), Style()).decode()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_blank_submission_is_told_what_came_and_where_to_start(make_report, make_check, language):
    checks = [make_check(Verdict.ERROR, unwritten=True), make_check(Verdict.SKIPPED)]
    text = read(make_report(checks=checks), language)
    assert "    pytest tests/test_nn.py -k logsumexp" in text
    assert "`nn.py`" in text
    assert "`1e5`" in text
    assert "###" not in text
    assert "|" not in text


def test_a_submission_that_only_crashes_is_not_called_blank(make_report, make_check):
    text = read(make_report(checks=[make_check(Verdict.ERROR, message="nn.py defines no logsumexp")]))
    assert "nothing to grade yet" not in text
    assert "    nn.py defines no logsumexp" in text


def test_an_ungradable_submission_is_told_its_problem_and_what_to_do(make_report):
    text = read(make_report(status=Status.UNGRADABLE, message="found transformers.py, expected transformer.py"))
    assert "This submission could not be graded: found transformers.py, expected transformer.py" in text
    assert "**What to do:**" in text
    assert "- `nn.py`, sha256 `1e5`" in text
    assert "| ---" not in text


def test_what_is_carried_forward_says_so(make_report, make_check):
    paying = make_check(error=VALUE, diagnosis=NO_SCALE, id="p3.mha.scale", title="Scale")
    carried = make_check(
        error=VALUE,
        diagnosis=NO_SCALE,
        points=Points(earned=0.0, available=4.0, carried_forward=4.0),
        carried_from=["p3.mha.scale"],
        title="Layer",
        id="p3.layer",
    )
    text = read(make_report(checks=[carried, paying]))
    assert "**Right otherwise** earned 4 of 4 points: it is right but for “Scores not scaled”." in text
    assert "counted under “Scale”" in text
    assert "| Layer | right otherwise | 4 / 4 |" in text
    assert "### Layer" not in text
    assert "**Start here:** Scale." in text
    assert "Scores not scaled" not in read(make_report(checks=[carried, paying]), detail=Detail.HINT)


def test_points_that_are_pending_are_no_zero(make_report, make_check):
    text = read(make_report(checks=[make_check(Verdict.PENDING), make_check(Verdict.PASSED)]))
    assert "4 points could not be assessed in this run." in text
    assert f"| not assessed yet | {texts('en')('points_pending')} / 4 |" in text
    assert "Everything that could be assessed is right." in text


def test_a_score_under_review_is_held_back(make_report):
    for text in (read(make_report(needs_review=True)), feedback_html(make_report(needs_review=True), Style()).decode()):
        assert "Score:" not in text
        assert "a person will look at it" in text


def test_remarks_are_listed_once_and_those_of_hidden_checks_not_at_all(make_report, make_check):
    single = make_check(Verdict.PASSED, remarks=["computed in float32"])
    hidden = make_check(Verdict.PASSED, remarks=["hidden remark"], visibility=Visibility.HIDDEN)
    text = read(make_report(checks=[single, single, hidden], remarks=["transformer.py was renamed"]))
    assert text.count("- computed in float32") == 1
    assert "- transformer.py was renamed" in text
    assert "hidden remark" not in text


def test_the_committed_examples_are_what_the_grader_writes():
    spec = importlib.util.spec_from_file_location("make_goldens", Path(__file__).with_name("make_goldens.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert {path.name: path.read_bytes() for path in module.GOLDENS.iterdir()} == module.made()
