"""What a student reads: the mistake in words, hints step by step, and where to go from there."""

import re

import msgspec
import pytest
from harness.report import make_goldens

from grader.messages import LANGUAGES, placeholders, texts
from grader.messages.hints import ladders
from grader.misconceptions import known
from grader.report.feedback import Detail, Style, feedback, feedback_html
from grader.verdict import NOT_SELECTED, Diagnosis, Mismatch, Points, Raised, Status, Verdict, Visibility

VALUE = Mismatch(what="0.grad.param.ln.weights", kind="value", max_abs=0.31, max_rel=4.2, at=[0, 7], tolerance=1e-9)
NO_SCALE = Diagnosis(misconception="mha.no_scale", match="exact", hint="For staff.")
LADDER = ladders("en")["mha.no_scale"]
KINDS = ["value", "shape", "dtype", "finite", "property", "missing"]
QUICK = ("p1.*", "p2.*", "p3.[mfl]*", "p4.loss", "p4.generate")
"""The checks without training."""
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
    symbols = {
        "problem",
        "what_other",
        "received_file",
        "received_source",
        "between",
        "titles_between",
        "points_pending",
        "exercise_fields",
        "exercise_between",
        "numbers_between",
    }  # nothing in them to translate
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
    assert "Several mistakes together" in text
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
    assert "It stopped with `NameError` in line 12 of your `nn.py`.\n" in text
    assert "    x = head + 1\n    NameError: name 'head' is not defined" in text
    assert "Traceback" not in text
    assert "logsumexp: NameError" not in text


def test_an_exception_that_several_checks_meet_is_shown_once(make_report, make_check):
    checks = [make_check(Verdict.ERROR, raised=RAISED, id=name, title=name) for name in ("p1.lse.value", "p1.lse.grad")]
    text = read(make_report(checks=checks))
    assert text.count(RAISED.source) == 1
    assert "| p1.lse.grad | the same error | 0 / 4 |" in text
    assert "At this very place also stopped, with 4 more points to gain:\n\n- p1.lse.grad\n" in text
    assert "### p1.lse.grad" not in text


def test_an_exception_that_a_hidden_check_meets_too_is_explained_where_it_may_be(make_report, make_check):
    hidden = make_check(Verdict.ERROR, raised=RAISED, id="p1.loss.stable", title="B", visibility=Visibility.HIDDEN)
    text = read(make_report(checks=[hidden, make_check(Verdict.ERROR, raised=RAISED, title="A")]))
    assert "| B ◦ | the same error | 0 / 4 |" in text
    assert "### B" not in text
    assert "**Start here:** A." in text


def test_an_exception_without_a_text_leaves_no_colon(make_report, make_check):
    for source in ("assert x", ""):
        bare = Raised(kind="AssertionError", text="", file="nn.py", line=3, source=source)
        text = read(make_report(checks=[make_check(Verdict.ERROR, raised=bare)]))
        assert "It stopped with `AssertionError` in line 3 of your `nn.py`.\n" in text
        assert "AssertionError:" not in text


def test_the_text_of_an_exception_is_cut_at_three_hundred_characters(make_report, make_check):
    long = Raised(kind="ValueError", text="a" * 1000, file="nn.py", line=3, source="f()")
    text = read(make_report(checks=[make_check(Verdict.ERROR, raised=long)]))
    assert f"    ValueError: {'a' * 299}…\n" in text


@pytest.mark.parametrize(
    "text",
    [
        "f() got an unexpected keyword argument 'd'",
        "f() missing 1 required positional argument: 'd'",
        "f() takes 2 positional arguments but 3 were given",
    ],
)
def test_a_call_by_other_names_is_told_that_names_are_the_contract(make_report, make_check, text):
    own = Raised(kind="TypeError", text=text, file="nn.py", line=3, source="f(d=1)")
    said = read(make_report(checks=[make_check(Verdict.ERROR, raised=own)]))
    assert "Put the call beside the signature, letter by letter" in said
    said = read(make_report(checks=[make_check(Verdict.ERROR, raised=Raised(kind="TypeError", text=text))]))
    assert "with the signature and the docstring of `logsumexp` in the `nn.py` of the release" in said


def test_an_argument_that_a_constructor_does_not_take_is_told_where_names_are_listed(make_report, make_check):
    message = "Linear.__init__ takes no argument bias"
    report = make_report(checks=[make_check(Verdict.ERROR, message=message, id="p2.linear.forward")])
    assert "the constructor of Linear takes no argument bias" in read(report)
    assert "the docstring of `Linear` in the `modules_basic.py` of the release" in read(report)
    assert "Linear 的构造函数没有参数 bias" in read(report, "zh")
    assert "**名字就是约定**" in read(report, "zh")


@pytest.mark.parametrize(
    ("verdict", "message", "english", "chinese"),
    [
        (Verdict.TIMEOUT, "time limit 10 s (20 s on the clock)", "The limit: 10 s of computing", "计算时间 10 秒"),
        (Verdict.MEMORY, "memory limit 1 GiB", "The limit: 1 GiB of memory.", "1 GiB 内存。"),
        (Verdict.ERROR, "printed more than 8 MiB", "the program printed more than", "打印的内容超过了 8 MiB"),
        (Verdict.ERROR, "the program was killed by SIGSEGV", "by the signal SIGSEGV", "程序被信号 SIGSEGV 终止了"),
    ],
)
def test_limits_and_ends_are_told_in_both_languages(make_report, make_check, verdict, message, english, chinese):
    report = make_report(checks=[make_check(verdict, message=message)])
    assert english in read(report)
    assert chinese in read(report, "zh")
    assert message not in read(report, "zh")


@pytest.mark.parametrize(
    ("message", "english", "chinese"),
    [
        ("open files limit 64: nn.f: OSError", "The limit: 64 open files.", "限制是：同时打开 64 个文件。"),  # noqa: RUF001
        ("file size limit 16 MiB: nn.f: OSError", "The limit: files of 16 MiB.", "限制是：每个文件 16 MiB。"),  # noqa: RUF001
        (
            "threads limit 1: nn.f: RuntimeError: can't start new thread",
            "The limit: 1 thread: no more can be started.",
            "限制是：只能有 1 个线程，不能再启动。",  # noqa: RUF001
        ),
    ],
)
def test_an_exception_that_comes_of_a_limit_names_it(make_report, make_check, message, english, chinese):
    report = make_report(checks=[make_check(Verdict.ERROR, raised=RAISED, message=message)])
    assert english in read(report)
    assert chinese in read(report, "zh")
    assert "limit:" not in read(report, detail=Detail.HINT)
    assert "The limit:" not in read(make_report(checks=[make_check(Verdict.ERROR, raised=RAISED, message="nn.f: E")]))


def test_a_limit_that_several_checks_meet_is_explained_once(make_report, make_check):
    names = ("p1.lse.value", "p1.loss.value")
    checks = [make_check(Verdict.TIMEOUT, message="time limit 10 s (20 s on the clock)", id=n, title=n) for n in names]
    text = read(make_report(checks=checks))
    assert text.count("Look for a loop that never ends") == 1
    assert "This limit was met under “p1.lse.value” too" in text


def test_faults_without_a_name_in_one_class_are_asked_about_once(make_report, make_check):
    ids = ("p3.mha.heads", "p3.mha.scale", "p3.ffn")
    text = read(make_report(checks=[make_check(error=VALUE, id=name, title=name) for name in ids]))
    assert text.count("Which is the first step whose numbers you could not defend?") == 2
    assert text.count("the same fault as under “p3.mha.heads”") == 1


def test_a_finding_says_in_which_file_to_look(make_report, make_check):
    report = make_report(checks=[make_check(error=VALUE, id="p3.mha.heads")])
    assert "**Where:** `MultiHeadAttention` in `transformer.py`." in read(report)
    assert "`transformer.py` 里的 `MultiHeadAttention`" in read(report, "zh")


def test_texts_of_a_wrong_length_are_counted_and_the_right_length_is_not_told(make_report, make_check):
    error = Mismatch(what="0.out", kind="shape", got=[3, 4], wanted=[3, 61])
    text = read(make_report(checks=[make_check(error=error, id="p4.generate")]))
    assert "You returned 3 texts, the longest of 4 tokens" in text
    assert "(3, 61)" not in text


def test_what_was_not_tried_names_what_must_be_repaired_first(make_report, make_check):
    checks = [
        make_check(Verdict.ERROR, id="p3.ffn", title="Network", message="transformer.py defines no FeedForward"),
        make_check(Verdict.SKIPPED, id="p3.layer", title="Layer", message="needs p3.ffn, which gave no answer"),
        make_check(Verdict.SKIPPED, id="p3.lm.forward", title="LM", message="needs p3.layer, which gave no answer"),
    ]
    assert "builds on what does not work yet: “Network”. Repair that first." in read(make_report(checks=checks))


def test_a_run_that_assessed_nothing_does_not_say_well_done(make_report, make_check):
    report = make_report(checks=[make_check(Verdict.PENDING, message=NOT_SELECTED)])
    assert "**None of your work was assessed in this run**" in read(report)
    assert "- 4 points: not part of this run" in read(report)
    assert "Well done" not in read(report)
    assert "- 4 分：不在这次运行的范围内" in read(report, "zh")  # noqa: RUF001 - Chinese punctuation
    assert "做得好" not in read(report, "zh")


def test_why_points_are_pending_is_told_the_most_points_first(make_report, make_check):
    reasons = ("needs the IWSLT data and time to train", NOT_SELECTED, NOT_SELECTED)
    text = read(make_report(checks=[make_check(Verdict.PENDING, message=reason) for reason in reasons]))
    assert "- 8 points: not part of this run\n- 4 points: this needs the IWSLT data" in text


def test_problems_and_remarks_of_intake_are_told_in_chinese(make_report):
    problem = "expected a whole .zip archive, found one that is damaged or incomplete"
    ungradable = make_report(status=Status.UNGRADABLE, message=problem)
    assert "应当是完整的 .zip 压缩包" in read(ungradable, "zh")
    assert "expected" not in read(ungradable, "zh")
    assert "- 没有交：nn.py" in read(make_report(remarks=["not handed in: nn.py"]), "zh")  # noqa: RUF001 - Chinese punctuation


def test_a_broken_rule_is_told_in_both_languages(make_report, make_check):
    seen = "changing the token at position 2 changes the output at position 1, which is before it"
    error = Mismatch(what="1.out", kind="property", at=[0, 1])
    check = make_check(error=error, message=f"transformer.MultiHeadAttention: {seen}", id="p3.mha.causal")
    assert f"What was seen: {seen}." in read(make_report(checks=[check]))
    assert "看到的情况：改变位置 2 的 token，位置 1 的输出也变了" in read(make_report(checks=[check]), "zh")  # noqa: RUF001 - Chinese punctuation


def test_an_exception_does_nothing(make_report, make_check):
    evil = Raised(kind="N`x`", text="<script>alert(1)</script>\n| a | `b` \x1b[2J", file="`a`.py", line=1, source="<b>")
    text = read(make_report(checks=[make_check(Verdict.ERROR, raised=evil)]))
    assert "    <b>\n    N`x`: <script>alert(1)</script> | a | `b` �[2J" in text  # indented: a code block
    assert "It stopped with `N'x'` in line 1 of your `'a'.py`." in text


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
    assert "Nothing has been written yet" not in text
    assert "What was seen: nn.py defines no logsumexp." in text
    assert "**Names are the contract.**" in text


def test_an_ungradable_submission_is_told_its_problem_and_what_to_do(make_report):
    text = read(make_report(status=Status.UNGRADABLE, message="found transformers.py, expected transformer.py"))
    assert "This submission could not be graded: found transformers.py, expected transformer.py" in text
    assert "**What to do:**" in text
    assert "- `nn.py`, sha256 `1e5`" in text
    assert "| ---" not in text


def test_what_came_as_one_file_is_named_with_its_receipt_and_a_folder_is_not(make_report):
    report = make_report()
    assert "- `s001.zip`, sha256 `0f`\n- `nn.py`, sha256 `1e5`" in read(report)
    folder = msgspec.structs.replace(report, submission=msgspec.structs.replace(report.submission, source="s001"))
    assert "`s001`" not in read(folder)


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
    assert "Everything that was assessed in this run is right." in text


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
    assert {path.name: path.read_bytes() for path in make_goldens.GOLDENS.iterdir()} == make_goldens.made()


@pytest.mark.parametrize("name", sorted(make_goldens.EXAMPLES.keys() - {"slow"}))  # that one waits for its limits
def test_the_committed_examples_are_what_real_grading_gives(name):
    now, then = make_goldens.graded((name,), QUICK)[name], make_goldens.committed()[name]
    checks = {check.id: check for problem in then.problems for check in problem.checks}
    assessed = [check for problem in now.problems for check in problem.checks if check.message != NOT_SELECTED]
    # Where they differ because grading has changed: python -m tests.harness.report.make_goldens --grade
    assert assessed == [checks[check.id] for check in assessed]
    assert (now.status, now.message, now.submission) == (then.status, then.message, then.submission)


@pytest.mark.parametrize("name", sorted(make_goldens.EXAMPLES))
def test_no_sentence_of_a_chinese_example_is_english(name):
    text = (make_goldens.GOLDENS / f"{name}.zh.md").read_text(encoding="utf-8")
    ours = [line for line in text.splitlines() if not line.startswith("    ")]  # what is indented is code
    assert [line for line in ours if re.search("[a-z]{3,} [a-z]{2,} [a-z]{2,}", line)] == []


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("hw (1) [abc]+x.zip", "`hw (1) [abc]+x.zip`"),
        ("作业 3.zip", "`作业 3.zip`"),
        ('"><script>.zip', "`….zip`"),
        ("@everyone\n---.tar.gz", "`….tar.gz`"),
    ],
)
def test_the_name_of_what_was_handed_in_is_told_if_it_is_no_more_than_a_name(make_report, name, told):
    report = make_report(checks=[])
    received = msgspec.structs.replace(report.submission, source=name)
    assert f"- {told}, sha256 `" in read(msgspec.structs.replace(report, submission=received))
