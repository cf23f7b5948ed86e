"""What GitHub Actions is told: annotations at the student's lines, a summary, and nothing that a student injects."""

import io
import re
from urllib.parse import unquote

import msgspec
import pytest

from grader.report import github
from grader.report.feedback import Detail, Style, feedback
from grader.report.gradebook import Row
from grader.report.text import clean
from grader.verdict import Diagnosis, Mismatch, Raised, Status, Verdict, Visibility

HOSTILE = [
    "x\n::error file=secret.py::owned",
    "\r::set-output name=result::100",
    "100%0A::add-mask::a",
    "a::b,title=c:d",
    "##[add-mask]a",
    "\x1b[31m\u2028::stop-commands::x\x85::warning::y",
    "]]>&lt;'\"<b>",
]
COMMAND = re.compile(r"^::(?P<name>[a-z-]+)(?: (?P<given>[^:]*))?::(?P<message>.*)$")
"""How a runner reads a line; `[^:]*` holds, for a colon in a property is escaped."""


def read(line):
    """A command as the runner takes it: name, properties, message."""
    assert len(line.splitlines()) == 1
    found = COMMAND.match(line)
    pairs = (pair.partition("=") for pair in (found["given"] or "").split(",") if pair)
    return found["name"], {key: unquote(value) for key, _, value in pairs}, unquote(found["message"])


def told(row, style=None, locate=lambda _, name: f"assignment/{name}"):
    return [read(line) for line in github.commands([row], style or Style(), locate)]


def row(report, make_submission, **fields):
    return Row(make_submission(report.submission.id, **fields), report)


def test_an_exception_is_annotated_at_the_students_line_and_the_score_is_a_notice(
    make_report, make_check, make_submission
):
    raised = Raised(kind="NameError", text="name 'head' is not defined", file="nn.py", line=12, source="x = head + 1")
    report = make_report(checks=[make_check(Verdict.ERROR, raised=raised)])
    error, notice = told(row(report, make_submission))
    assert error[0] == "error"
    assert error[1] == {
        "file": "assignment/nn.py",
        "line": "12",
        "title": "logsumexp over any dimension · points to gain: 4",
    }
    assert "It stopped with `NameError` in line 12 of your `nn.py`." in error[2].splitlines()
    assert "\n    x = head + 1\n    NameError: name 'head' is not defined\n" in error[2]
    assert notice == ("notice", {"title": "s001"}, "0 of 4")


def test_a_wrong_answer_is_annotated_where_the_function_begins_and_says_no_more_than_the_first_hint(
    make_report, make_check, make_submission
):
    error = Mismatch(what="0.out", kind="value", max_abs=0.31, max_rel=4.2, at=[0, 7], tolerance=1e-9)
    check = make_check(error=error, diagnosis=Diagnosis(misconception="mha.no_scale", match="exact", hint=""))
    files = {"nn.py": b"import math\n\n\ndef logsumexps(): ...\n\n\ndef logsumexp(input, dim):\n    ...\n"}
    found = told(row(make_report(checks=[check]), make_submission, files=files))[0]
    assert found[1]["line"] == "7"
    assert "off by up to 0.31" in found[2]
    assert "What you see." in found[2]
    assert "The mistake:" not in found[2]


def test_a_file_that_is_not_there_is_not_named(make_report, make_check, make_submission):
    report = make_report(checks=[make_check(message="nothing came")])
    assert told(row(report, make_submission), locate=lambda *_: "")[0][1].keys() == {"title"}
    assert told(row(report, make_submission, files={}))[0][1].keys() == {"title"}


def test_a_file_is_looked_for_where_students_have_it(make_submission, make_report, tmp_path):
    for name in ("one/assignment/nn.py", "class/s001/nn.py"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("")
    report = make_report()
    one = Row(make_submission("one", source="one"), report)
    assert github.in_folder(tmp_path / "one")(one, "nn.py") == "assignment/nn.py"
    assert github.in_folder(tmp_path / "one")(one, "translation.py") == ""
    assert github.in_folder(tmp_path / "class")(Row(make_submission(source="s001"), report), "nn.py") == "s001/nn.py"
    assert github.in_folder(tmp_path / "x.zip")(one, "nn.py") == ""


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_a_student_becomes_a_command_or_a_property(make_report, make_check, make_submission, text):
    files = {f"{text}.py": b"", "nn.py": b""}
    raised = Raised(kind=text, text=text, file=f"{text}.py", line=3, source=text)
    checks = [make_check(Verdict.ERROR, raised=raised), make_check(id="p1.x", title=text, message=text)]
    graded = row(make_report("s001", checks), make_submission, files=files)
    wrong = make_report("s001", status=Status.UNGRADABLE, message=f"expected nn.py, found {text}")
    lines = [*told(graded), *told(row(wrong, make_submission))]
    assert [name for name, _, _ in lines] == ["error", "error", "notice", "error", "notice"]
    assert set().union(*(given for _, given, _ in lines)) == {"file", "line", "title"}
    assert lines[0][1]["file"] == f"assignment/{clean(f'{text}.py')}"
    assert lines[1][1]["title"] == f"{' '.join(clean(text).split())} · points to gain: 4"


@pytest.mark.parametrize("text", HOSTILE)
def test_an_escaped_text_arrives_as_it_was_once_cleaned(text):
    assert unquote(github._data(text)) == clean(text)
    assert unquote(github._property(text)) == clean(text)
    for character in "\r\n:,":
        assert character not in github._property(text)


def test_while_students_texts_are_printed_commands_are_off_until_a_token_that_nobody_can_guess():
    def print_until_told_to_stop(screen):
        with github.commands_off(screen):
            print("::error::mine", file=screen)
            raise KeyboardInterrupt

    tokens = set()
    for _ in range(2):
        screen = io.StringIO()
        with pytest.raises(KeyboardInterrupt):
            print_until_told_to_stop(screen)
        off, student, _, on = screen.getvalue().splitlines()
        token = off.removeprefix("::stop-commands::")
        assert re.fullmatch("[0-9a-f]{32}", token)
        assert (student, on) == ("::error::mine", f"::{token}::")
        tokens.add(token)
    assert len(tokens) == 2


def test_no_more_errors_than_github_shows_and_the_rest_is_counted(make_report, make_check, make_submission):
    checks = [make_check(id=f"p1.{n}", title=f"check {n}", message="nothing came") for n in range(13)]
    lines = told(row(make_report(checks=checks), make_submission))
    assert [name for name, _, _ in lines] == ["error"] * 10 + ["notice"]
    assert lines[-1][2] == "0 of 52; 3 more errors are in the summary"


def test_of_a_hidden_check_only_the_title_and_the_place_to_look_at_are_told(make_report, make_check, make_submission):
    raised = Raised(kind="E", text="secret", file="nn.py", line=9, source="secret()")
    check = make_check(Verdict.ERROR, visibility=Visibility.HIDDEN, raised=raised)
    files = {"nn.py": b"\ndef logsumexp(): ...\n"}
    error = told(row(make_report(checks=[check]), make_submission, files=files))[0]
    assert error[1]["line"] == "2"
    assert "secret" not in error[2]


def test_a_fault_of_the_grader_is_told_as_one_and_feedback_of_points_only_annotates_nothing(
    make_report, make_check, make_submission
):
    (fault, notice) = told(Row(make_submission(), None))
    assert fault[0] == "error"
    assert "no fault of the submission" in fault[2]
    assert notice[2] == "not graded: the grader failed"
    only_points = told(row(make_report(checks=[make_check()]), make_submission), Style(detail=Detail.SCORE))
    assert [name for name, _, _ in only_points] == ["notice"]


def test_a_score_that_a_person_must_look_at_is_not_told(make_report, make_check, make_submission):
    report = make_report(checks=[make_check(Verdict.PASSED)], needs_review=True)
    assert told(row(report, make_submission))[-1][2] == "a person will look at it"


def test_the_summary_of_one_submission_is_its_feedback_and_of_several_a_table(make_report, make_submission):
    one = Row(make_submission(), make_report())
    assert github.summary([one], Style("zh")) == feedback(one.report, Style("zh"))
    text = github.summary([one, Row(make_submission("x|y<b>"), None)], Style()).decode()
    assert "| s001 | 4 of 4 |\n| x\\|y&lt;b&gt; | not graded: the grader failed |\n" in text


def test_a_summary_is_never_larger_than_github_takes(make_report, make_submission):
    one = make_report(remarks=[f"{n} {'x' * 1900}" for n in range(1000)])
    found = github.summary([Row(make_submission(), one)], Style())
    assert len(found) < 1024 * 1024
    assert found.endswith(b"\n\n(The rest is in the feedback itself.)\n")


def test_the_score_says_what_is_pending(make_report, make_check, make_submission):
    report = make_report(checks=[make_check(Verdict.PASSED), make_check(Verdict.PENDING, id="p1.y")])
    assert msgspec.structs.asdict(report)["pending"] == 4
    assert told(row(report, make_submission))[-1][2] == "4 of 8, 4 points not assessed yet"
