"""The command line: what it refuses and with which status, what it writes and what it prints."""

import csv
import dataclasses
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import msgspec
import pytest
import yaml

from grader import batch, cli
from grader.graded import Graded
from grader.grading import Grading
from grader.verdict import Verdict

SEED = "0123456789abcdef"


@pytest.fixture(autouse=True)
def quiet_home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("GRADER_SEED", SEED)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def classroom(tmp_path):
    """A class of three, by name: what each one's nn.py says."""
    for name in ("anna", "bert", "cleo"):
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "nn.py").write_text(f"# {name}\n")
    return tmp_path / "class"


@pytest.fixture
def prepared(make_report, make_check):
    """Makes a grader that gives full marks to all but stubs, and fails on the names given."""

    def make(*faulty):
        def grade_one(submission):
            if submission.id in faulty:
                raise RuntimeError(f"no luck with {submission.id}")
            check = (
                make_check(Verdict.ERROR, unwritten=True) if submission.id == "blank" else make_check(Verdict.PASSED)
            )
            return Graded(make_report(submission.id, [check]))

        return lambda *_: Grading(grade_one, make_report().environment, bench=None)

    return make


def test_a_class_is_graded_and_written(classroom, prepared, capsys):
    assert cli.main([str(classroom), "--out", "r"], prepared()) == 0
    written = sorted(str(path.relative_to("r")) for path in Path("r").rglob("*") if path.is_file())
    each = [
        f"{n}/{f}"
        for n in ("anna", "bert", "cleo")
        for f in ("feedback.md", "feedback.html", "report.yaml", "timings.yaml")
    ]
    assert written == sorted([*each, ".lock", "gradebook.csv", "ledger.jsonl", "run.yaml", "summary.yaml"])
    printed = capsys.readouterr()
    for text in (
        "sandbox: test",
        "submissions: 3",
        "anna",
        "scores: 3, mean 4, median 4 of 4",
        "summary.yaml",
        "gradebook.csv",
    ):
        assert text in printed.out
    assert "\x1b" not in printed.out
    assert printed.err == ""


def test_jobs_do_not_show_in_what_is_written(classroom, prepared):
    for jobs in "12":
        assert cli.main([str(classroom), "--out", jobs, "--jobs", jobs], prepared()) == 0
    for name in ("summary.yaml", "gradebook.csv", "anna/report.yaml", "anna/feedback.md"):
        assert Path("1", name).read_bytes() == Path("2", name).read_bytes()


def test_a_fault_of_the_grader_is_status_1_and_no_zero(classroom, prepared, capsys):
    assert cli.main([str(classroom), "--out", "r"], prepared("bert")) == 1
    assert "no luck with bert" in capsys.readouterr().out
    with Path("r/gradebook.csv").open(newline="") as file:
        assert [(row["student"], row["status"], row["score"]) for row in csv.DictReader(file)] == [
            ("anna", "graded", "4"),
            ("bert", "infrastructure_error", ""),
            ("cleo", "graded", "4"),
        ]
    run = yaml.safe_load(Path("r/run.yaml").read_text())
    assert run["infrastructure_errors"] == [{"id": "bert", "reason": "RuntimeError: no luck with bert"}]
    assert run["finished"]


def test_resume_repairs_what_failed(classroom, prepared):
    whole = cli.main([str(classroom), "--out", "whole"], prepared())
    assert cli.main([str(classroom), "--out", "r"], prepared("bert")) == 1
    assert cli.main([str(classroom), "--out", "r", "--resume"], prepared("anna", "cleo")) == whole == 0
    assert Path("r/summary.yaml").read_bytes() == Path("whole/summary.yaml").read_bytes()


def test_one_submission_is_graded_and_the_class_stays_whole(classroom, prepared):
    assert cli.main([str(classroom), "--out", "r"], prepared()) == 0
    before = Path("r/gradebook.csv").read_bytes()
    assert cli.main([str(classroom), "--out", "r", "--submission", "bert"], prepared("anna", "cleo")) == 0
    assert Path("r/gradebook.csv").read_bytes() == before


@pytest.mark.usefixtures("classroom")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere"], "nowhere"),
        (["class", "--submission", "bart"], "did you mean one of bert"),
        (["class", "--seed-file", "none"], "seed file none cannot be read"),
        (["class", "--out", "class/anna/nn.py"], "is a file"),
        (["class", "--out", "class/reports"], "lies among the submissions in class; name a folder outside"),
        (["class", "--out", "class"], "lies among the submissions in class"),
        (["class", "--only", " ,"], "' ,' names no check; expected ids or patterns such as 'p1.*,p3.mha.*'"),
        (["/etc/passwd"], "found the file /etc/passwd, which is none of these"),
    ],
)
def test_wrong_usage_is_one_line_and_status_2(prepared, capsys, arguments, says):
    assert cli.main(arguments, prepared()) == 2
    line = capsys.readouterr().err
    assert line.startswith("grader: ")
    assert says in line
    assert line.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["class", "--jobs", "0"],
        ["class", "--resume", "--fresh"],
        ["class", "--lang", "fr"],
        ["class", "--format", "github,pdf"],
        ["class", "--format", ""],
        ["class", "--out", ""],
        ["class", "--seed-file", ""],
        [""],
        [],
    ],
)
def test_arguments_that_make_no_sense_are_status_2(prepared, arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(arguments, prepared())
    assert stop.value.code == 2
    assert "usage:" in capsys.readouterr().err
    assert list(Path().glob("*")) == []


@pytest.mark.parametrize(
    "given", [["--only", "p1.*,p2.*, p3.mha*"], ["--only", "p1.*", "--only", "p2.*,p1.*", "--only", "p3.mha*,"]]
)
def test_checks_are_selected_with_commas_or_one_by_one(classroom, prepared, given):
    def recorded(secret, sandbox, only):
        asked.append(only)
        return prepared()(secret, sandbox, only)

    asked = []
    assert cli.main([str(classroom), "--out", "r", *given], recorded) == 0
    assert asked == [("p1.*", "p2.*", "p3.mha*")]
    assert yaml.safe_load(Path("r/run.yaml").read_text())["options"]["only"] == ["p1.*", "p2.*", "p3.mha*"]


@pytest.mark.parametrize(
    ("first", "second"),
    [([], ["--only", "p1.*"]), (["--only", "p3.layer"], ["--only", "p3.ffn"]), ([], ["--only", "p1.*", "--resume"])],
)
def test_reports_are_not_overwritten_by_ones_with_fewer_checks(classroom, prepared, capsys, first, second):
    assert cli.main([str(classroom), "--out", "r", *first], prepared()) == 0
    before = Path("r/gradebook.csv").read_bytes(), Path("r/ledger.jsonl").read_bytes()
    capsys.readouterr()
    assert cli.main([str(classroom), "--out", "r", *second], prepared()) == 2
    line = capsys.readouterr().err
    assert re.fullmatch(
        rf"grader: --only {re.escape(second[1])} would overwrite the report of anna in r, which has \d+ checks more; "
        r"name another folder with --out, or leave --only away\n",
        line,
    )
    assert (Path("r/gradebook.csv").read_bytes(), Path("r/ledger.jsonl").read_bytes()) == before


def test_reports_on_the_exercises_are_not_overwritten_by_ones_without(classroom, prepared, capsys):
    assert cli.main([str(classroom), "--out", "r", "--only", "*"], prepared()) == 0
    capsys.readouterr()
    assert cli.main([str(classroom), "--out", "r"], prepared()) == 2
    assert capsys.readouterr().err == (
        "grader: without --only, which leaves the exercises out, this would overwrite the report of anna in r, which "
        "has 8 checks more; name another folder with --out, or give --only '*'\n"
    )
    assert cli.main([str(classroom), "--out", "r", "--only", "*"], prepared()) == 0


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (["--only", "p1.*"], ["--only", "p1.*"]),
        (["--only", "p3.ffn,p3.mha.heads"], ["--only", "p3.layer"]),  # which needs both
        (["--only", "p1.*"], []),
        (["--submission", "bert"], ["--submission", "anna", "--only", "p1.*"]),
    ],
)
def test_reports_are_overwritten_by_ones_with_as_many_checks(classroom, prepared, first, second):
    for options in (first, second):
        assert cli.main([str(classroom), "--out", "r", *options], prepared()) == 0


def test_one_submission_alone_may_hold_its_own_reports(classroom, prepared):
    assert cli.main([str(classroom / "anna"), "--out", str(classroom / "anna" / "reports")], prepared()) == 0


@pytest.mark.usefixtures("classroom")
def test_a_machine_without_threads_is_one_line_and_status_1(prepared, capsys, monkeypatch):
    def refuse(_thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert cli.main(["class", "--out", "r"], prepared()) == 1
    assert capsys.readouterr().err.startswith("grader: no thread could be started (can't start new thread); ")


def test_a_reference_without_full_marks_is_status_3_and_nothing_is_graded(classroom, prepared, capsys):
    def half(secret, sandbox, only):
        grading = prepared()(secret, sandbox, only)

        def grade_one(submission):
            return Graded(msgspec.structs.replace(grading.grade_one(submission).report, score=2.0))

        return dataclasses.replace(grading, grade_one=grade_one)

    assert cli.main([str(classroom), "--out", "r"], half) == 3
    assert "the reference scores 2.0" in capsys.readouterr().err
    assert not list(Path("r").glob("*/report.yaml"))


def test_another_grader_on_the_same_output_is_status_3(classroom, prepared, capsys):
    with batch.sole_use(Path("r")):
        assert cli.main([str(classroom), "--out", "r"], prepared()) == 3
    assert "another grader is writing to r" in capsys.readouterr().err


def test_a_full_disk_at_the_end_is_status_1(classroom, prepared, capsys, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device", "summary.yaml")

    monkeypatch.setattr(cli, "write_class", full)
    assert cli.main([str(classroom), "--out", "r"], prepared()) == 1
    assert "summary.yaml could not be read or written: No space left on device" in capsys.readouterr().err


def test_names_cannot_speak_to_the_terminal(prepared, capsys, make_submission, monkeypatch):
    evil = make_submission("a", source="\x1b[2J[red]x", problem="[link=http://x]\x1b]0;t\x07")
    monkeypatch.setattr(cli.intake, "collect", lambda _path: [evil])
    assert cli.main(["class", "--out", "r"], prepared()) == 0
    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    assert "[red]x" in printed


def test_for_github_nothing_of_a_student_is_printed_while_commands_are_on(
    prepared, capsys, make_submission, monkeypatch
):
    evil = make_submission("a", source="x\n::error::owned", problem="y\r::add-mask::a ##[error]z")
    monkeypatch.setattr(cli.intake, "collect", lambda _path: [evil])
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    Path("summary.md").write_text("before\n")
    assert cli.main(["class", "--out", "r", "--format", "github"], prepared()) == 0
    lines = capsys.readouterr().out.splitlines()
    token = lines[0].removeprefix("::stop-commands::")
    assert lines.index(f"::{token}::") == len(lines) - 2
    assert lines[-1] == "::notice title=a::4 of 4"
    assert Path("summary.md").read_text() == "before\n" + Path("r/a/feedback.md").read_text()


def test_for_github_an_early_end_turns_commands_on_again(prepared, capsys):
    assert cli.main(["nowhere", "--format", "github"], prepared()) == 2
    first, _, last = capsys.readouterr().out.splitlines()
    assert first.replace("stop-commands::", "") + "::" == last


def test_junit_is_written_where_asked_for_and_the_other_files_always(classroom, prepared):
    assert cli.main([str(classroom), "--out", "r", "--format", "csv,junit"], prepared("bert")) == 1
    text = Path("r/junit.xml").read_text()
    assert [text.count(f'<testsuite name="{name}"') for name in ("anna", "bert", "cleo")] == [1, 1, 1]
    assert Path("r/anna/report.yaml").exists()
    assert Path("r/anna/feedback.html").exists()
    assert cli.main([str(classroom), "--out", "s"], prepared()) == 0
    assert not Path("s/junit.xml").exists()


def test_the_chinese_feedback_is_chinese(classroom, prepared):
    assert cli.main([str(classroom), "--out", "r", "--lang", "zh"], prepared()) == 0
    assert Path("r/anna/feedback.md").read_text().startswith("# anna 的反馈\n")


LIBRARIES = ("yaml", "random", "numpy", "argparse", "rich", "msgspec", "torch", "assignment", "solution")
AT_START = ("typing", "pathlib", "json", "runpy", "pkgutil", "warnings", "traceback", "sitecustomize")


@pytest.mark.parametrize(
    ("python_path", "poisons"),
    [({}, LIBRARIES + AT_START), ({"PYTHONPATH": "."}, LIBRARIES)],
    ids=["no PYTHONPATH", "the current folder on PYTHONPATH"],
)
def test_nothing_beside_the_submissions_ever_runs(tmp_path, python_path, poisons):
    for name in poisons:
        (tmp_path / f"{name}.py").write_text(f"import sys; sys.stderr.write('{name} ran'); sys.exit(7)\n")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | python_path
    command = [sys.executable, "-m", "grader", "nowhere"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr[:8]) == (2, "grader: "), done.stderr
