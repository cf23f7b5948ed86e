"""`hw3-grade CLASS --translation TEXT`: from the command line to reports that are the same to the byte."""

import shutil
from importlib import resources
from pathlib import Path

import msgspec
import pytest
import yaml
from harness.translation.toy import TESTS, TINY

from grader import cli, rubric
from grader.fingerprint import ROOT
from grader.rubric import Rubric
from grader.student import Student

RUBRIC, TOLERANCES = (
    resources.files("grader").joinpath(name).read_text("utf-8") for name in ("rubric.yaml", "tolerances.yaml")
)


@pytest.fixture
def run(tmp_path, toy_folder, monkeypatch):
    """Grades a class of one, the reference under a student's name, on the toy text: status by folder and options."""
    told = yaml.safe_load(RUBRIC)
    told["translation"] |= {"cpu": msgspec.to_builtins(TINY), "test_sentences": TESTS}
    monkeypatch.setattr(rubric, "load", lambda: Rubric(yaml.safe_dump(told), TOLERANCES))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("GRADER_SEED", "0123456789abcdef")
    shutil.copytree(ROOT / "solution", tmp_path / "class" / "anna", ignore=shutil.ignore_patterns("__*"))

    def grade(out: str, *options: str, text: Path | None = toy_folder) -> int:
        asked = ["--translation", str(text)] if text else []
        place = str(tmp_path / out)
        return cli.main([str(tmp_path / "class"), "--out", place, "--only", "p4.iwslt.*", *asked, *options])

    return grade


def files(folder: Path) -> dict[str, bytes]:
    """What a second run must write alike."""
    names = ("report.yaml", "feedback.md", "feedback.html")
    return {name: (folder / "anna" / name).read_bytes() for name in names} | {
        name: (folder / name).read_bytes() for name in ("summary.yaml", "gradebook.csv")
    }


def checks_of(folder: Path) -> dict[str, dict]:
    report = yaml.safe_load((folder / "anna" / "report.yaml").read_text("utf-8"))
    return {check["id"]: check for problem in report["problems"] for check in problem["checks"]}


def test_a_class_is_trained_stopped_by_the_time_limit_resumed_and_ends_the_same(run, tmp_path, capsys, monkeypatch):
    assert run("whole") == 0
    printed = capsys.readouterr().out
    assert "training the reference on small-language" in printed
    whole = checks_of(tmp_path / "whole")
    assert whole["p4.iwslt.run"]["verdict"] == "passed"
    assert whole["p4.iwslt.bleu"]["verdict"] in {"passed", "failed"}  # another seed than the reference's
    remarks = " ".join(whole["p4.iwslt.bleu"]["remarks"])
    assert "BLEU of the reference on the same text" in remarks
    assert "sacrebleu nrefs:1" in remarks

    assert run("late", "--translation-minutes", "1e-9") == 0
    assert "training the reference" not in capsys.readouterr().out
    late = checks_of(tmp_path / "late")
    assert {late[check]["verdict"] for check in ("p4.iwslt.run", "p4.iwslt.bleu")} == {"pending"}
    assert run("late", "--resume") == 0
    assert files(tmp_path / "late") == files(tmp_path / "whole")

    monkeypatch.setattr(Student, "run", None)  # nothing is asked any more
    assert run("late", "--resume") == 0
    capsys.readouterr()
    assert run("late", text=None) == 2
    assert "without --translation this would overwrite the report of anna" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--only", "p1.*", "--translation", "{text}"], "is for checks that --only leaves out"),
        (
            ["--translation", "nowhere"],
            "--translation nowhere is no folder; expected one",
        ),
    ],
)
def test_a_text_that_cannot_be_used_is_one_line_and_status_2(options, says, tmp_path, toy_folder, capsys, monkeypatch):
    monkeypatch.setenv("GRADER_SEED", "0123456789abcdef")
    asked = [option.format(text=toy_folder) for option in options]
    assert cli.main([str(ROOT / "solution"), "--out", str(tmp_path / "r"), *asked]) == 2
    line = capsys.readouterr().err
    assert says in line
    assert line.count("\n") == 1


@pytest.mark.parametrize("minutes", ["0", "-1", "nan", "inf", "an hour"])
def test_minutes_that_make_no_sense_are_status_2(minutes, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["class", "--translation-minutes", minutes])
    assert stop.value.code == 2
    assert "expected a number of minutes above 0" in capsys.readouterr().err
