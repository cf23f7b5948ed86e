"""Handing in: what `python -m assignment.submit` says and packs, and that its receipt is the number in the report."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

from assignment import submit
from assignment.handing_in.review import DEFINES, PARTS
from assignment.handing_in.sources import FOUR, GIVEN, NOTEBOOK_BYTES, SOURCE_BYTES
from grader import cli
from grader.intake import collect, limits
from grader.intake.canonical import SIGNATURES
from grader.stubs import release_stubs
from grader.submission import CANONICAL, MAX_SOURCE_BYTES

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A student's folder with the stubs; the current one."""
    (tmp_path / "assignment").mkdir()
    for name, stub in release_stubs().items():
        (tmp_path / "assignment" / name).write_bytes(stub)
    monkeypatch.setattr(submit, "FOLDER", tmp_path / "assignment")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "assignment"


def fill(folder, *names):
    for name in names:
        shutil.copy(ROOT / "solution" / name, folder / name)


def notebook(*cells):
    """A notebook of code cells (source, tags)."""
    made = [
        {
            "cell_type": "code",
            "source": source,
            "metadata": {"tags": list(tags)},
            "outputs": [],
            "execution_count": None,
        }
        for source, *tags in cells
    ]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": made})


def packed(path="hw3-submission.zip"):
    with zipfile.ZipFile(path) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def receipt(screen):
    return re.search(r"^Receipt: sha256 ([0-9a-f]{64})$", screen, re.MULTILINE)[1]


def test_what_it_knows_of_the_assignment_is_what_the_stubs_and_the_graders_say():
    assert tuple(DEFINES) == FOUR == CANONICAL
    assert {name: frozenset(names) for name, names in DEFINES.items()} == SIGNATURES
    assert {name: stub.count(b"is not written yet") for name, stub in release_stubs().items()} == PARTS
    ours = {
        path.name for path in (ROOT / "assignment").iterdir() if path.suffix in (".py", "") and path.name[:2] != "__"
    }
    assert (ours - set(CANONICAL)) | {"__init__.py"} == GIVEN
    assert (SOURCE_BYTES, NOTEBOOK_BYTES) == (limits.SOURCE_BYTES, limits.NOTEBOOK_BYTES)


def test_stubs_are_named_with_file_and_line_and_packed_all_the_same(work, capsys):
    assert submit.main([]) == 0
    screen = capsys.readouterr().out
    line = (
        (work / "nn.py")
        .read_text()
        .splitlines()
        .index('    raise NotImplementedError("Problem 1: logsumexp is not written yet")')
    )
    assert "Written: 0 of 23 parts." in screen
    assert f"  assignment/nn.py, line {line + 1}: Problem 1: logsumexp\n" in screen
    assert packed() == {f"assignment/{name}": stub for name, stub in release_stubs().items()}


def test_when_all_is_written_nothing_is_left_to_say(work, capsys):
    fill(work, *FOUR)
    assert submit.main([]) == 0
    screen = capsys.readouterr().out
    assert screen.startswith("Written: 23 of 23 parts.\n\nhw3-submission.zip holds:\n")
    assert receipt(screen) == hashlib.sha256(Path("hw3-submission.zip").read_bytes()).hexdigest()


def test_the_same_files_give_the_same_bytes_whenever_and_however_they_were_written(work, capsys):
    fill(work, *FOUR)
    assert submit.main([]) == 0
    for path in sorted(work.iterdir(), reverse=True):
        content = path.read_bytes()
        path.unlink()
        path.write_bytes(content)
        path.chmod(0o755)
    assert submit.main(["--out", "again.zip"]) == 0
    assert Path("again.zip").read_bytes() == Path("hw3-submission.zip").read_bytes()
    one, other = map(receipt, capsys.readouterr().out.split("Keep it")[:2])
    assert one == other


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        (
            "nn.py",
            "x = 1\ndef logsumexp(:\n",
            "assignment/nn.py, line 2: invalid syntax: nothing in nn.py can be tested",
        ),
        ("nn.py", None, "nn.py is missing: nothing of it can be tested"),
        ("nn.py", "def logsumexp(a, dim): ...", "nn.py defines no softmax_loss: give it the name that it had"),
        (
            "translation.py",
            "import torch",
            "assignment/translation.py, line 1: torch is not there when your work is graded",
        ),
        ("nn.py", "import numpy, os\nfrom scipy.special import logsumexp", "line 2: scipy is not there"),
        ("nn.py", "from .helpers import x", "line 1: assignment.helpers is not there"),
        ("nn.py", "from . import helpers", "line 1: assignment.helpers is not there"),
        ("nn.py", "from assignment.reversal import show", "line 1: assignment.reversal is not there"),
        ("nn.py", "(" * 10_000, "assignment/nn.py"),
    ],
)
def test_what_cannot_work_is_named_and_packed_all_the_same(work, capsys, name, text, says):
    fill(work, *FOUR)
    (work / name).unlink()
    if text is not None:
        (work / name).write_text(text)
    assert submit.main([]) == 0
    screen = capsys.readouterr().out
    assert says in screen.partition("To be repaired:")[2]
    assert (f"assignment/{name}" in packed()) == (text is not None)


def test_imports_of_what_is_there_are_no_trouble(work, capsys):
    fill(work, *FOUR)
    (work / "mine").mkdir()
    (work / "mine" / "tools.py").write_text("from ..nn import GELU\n")
    lines = "import assignment, assignment.nn, numpy.linalg, collections.abc, nn\nfrom .mine.tools import GELU\n"
    lines += "from . import mine, framework\nfrom assignment import nn\nfrom assignment.framework import Tensor\n"
    (work / "helpers.py").write_text(lines)
    assert submit.main([]) == 0
    assert "To be repaired" not in capsys.readouterr().out
    assert {"assignment/helpers.py", "assignment/mine/tools.py"} < packed().keys()


def test_what_is_given_is_not_packed(work):
    for name in ("framework/tensor.py", "training/loop.py", "handing_in/pack.py", "reversal.py", "__init__.py"):
        (work / name).parent.mkdir(exist_ok=True)
        (work / name).write_text("")
    assert submit.main([]) == 0
    assert packed().keys() == {f"assignment/{name}" for name in FOUR}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"#" * (MAX_SOURCE_BYTES + 1), "assignment/nn.py has 262,145 bytes, 262,144 are the most"),
        (b"x = '\xe9'\n", "assignment/nn.py is not in UTF-8"),
        ("x = 1\n".encode("utf-16"), "assignment/nn.py is not in UTF-8"),
        (b"x = 1\0\n", "assignment/nn.py is no text"),
    ],
)
def test_a_file_that_would_make_all_the_work_worth_nothing_stops_it_in_one_line(work, capsys, content, says):
    (work / "nn.py").write_bytes(content)
    assert submit.main([]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"nothing was packed: {says}")
    assert not Path("hw3-submission.zip").exists()


def test_a_folder_without_any_of_the_files_is_an_error_that_says_where_to_go(work, capsys):
    for name in FOUR:
        (work / name).unlink()
    assert submit.main([]) == 1
    assert "run it in the folder that you unpacked" in capsys.readouterr().err


@pytest.mark.timeout(20)  # a pipe that is opened waits for whoever writes into it
@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_what_stands_where_a_file_should_and_is_none_stops_it_in_one_line(work, capsys, make):
    (work / "nn.py").unlink()
    make(work / "nn.py")
    assert submit.main([]) == 1
    expected = "nothing was packed: assignment/nn.py is not a file; put one there, or take away what is\n"
    assert capsys.readouterr().err == expected


def test_a_place_that_cannot_be_written_is_named_with_a_way_out(work, capsys):
    assert submit.main(["--out", str(work)]) == 1
    expected = f"nothing was packed: {work} cannot be written: Is a directory; choose another place with --out\n"
    assert capsys.readouterr().err == expected


@pytest.mark.usefixtures("work")
def test_a_notebook_with_work_in_it_is_handed_in_when_the_files_are_stubs(capsys):
    cells = [("import numpy as np",), ((ROOT / "solution" / "nn.py").read_text(), "file:nn.py")]
    Path("hw3.ipynb").write_text(notebook(*cells, ("!ls\ndef loss_fn(:", "file:translation.py")))
    assert submit.main([]) == 0
    screen = capsys.readouterr().out
    assert packed().keys() == {"hw3.ipynb"}
    assert "hw3.ipynb, cell 3, line 2: invalid syntax: nothing in translation.py can be tested" in screen
    assert "transformer.py is missing" in screen
    (graded,) = collect(Path("hw3-submission.zip"))
    assert (graded.layout, graded.problem) == ("notebook", "")
    assert b"def logsumexp" in graded.files["nn.py"]


@pytest.mark.parametrize("first", ["%%writefile assignment/nn.py", "%%writefile -a nn.py", "# file: nn.py"])
def test_a_cell_may_name_its_file_in_its_first_line(work, capsys, first):
    for path in work.iterdir():
        path.unlink()
    cell = f"{first}\ndef logsumexp(input, dim):\n    return input\ndef softmax_loss(logits, target:\n"
    Path("hw3.ipynb").write_text(notebook((cell,)))
    assert submit.main(["--notebook"]) == 0
    assert "  hw3.ipynb, cell 1, line 4: '(' was never closed: nothing in nn.py can be" in capsys.readouterr().out


def test_where_files_and_notebook_hold_work_the_files_are_taken_and_the_other_is_named(work, capsys):
    fill(work, "nn.py")
    Path("hw3.ipynb").write_text(notebook(((ROOT / "solution" / "nn.py").read_text(), "file:nn.py")))
    assert submit.main([]) == 0
    assert "hw3.ipynb is left out, although something is written in it" in capsys.readouterr().out
    assert "hw3.ipynb" not in packed()
    assert submit.main(["--notebook"]) == 0
    assert "The files in assignment/ are left out" in capsys.readouterr().out
    assert packed().keys() == {"hw3.ipynb"}


@pytest.mark.parametrize("text", ["{", "[]", '{"cells": [{"cell_type": "code"}]}', "#" * (4 * 1024 * 1024 + 1)])
def test_a_notebook_that_is_none_matters_only_where_it_is_wanted(work, capsys, text):
    Path("hw3.ipynb").write_text(text)
    assert submit.main([]) == 1
    assert "nothing was packed: hw3.ipynb" in capsys.readouterr().err
    fill(work, "nn.py")
    assert submit.main([]) == 0


@pytest.mark.parametrize(
    ("text", "is_packed"),
    [
        (
            "# a remark\n\nanswers:\n  ex.01:\n    std:      # number\n  ex.04: |\n\nquiz:\n  q1:   # true or false\n",
            False,
        ),
        ("answers:\n  ex.01:\n    std: 16   # number\n", True),
        ("answers:\n  ex.04: |\n    Because of the mask.\n", True),
        ("quiz:\n  q1: false\n", True),
        ("", False),
    ],
)
def test_answers_to_the_exercises_go_along_where_one_is_filled_in(work, text, is_packed):
    (work / "exercises.yaml").write_text(text)
    assert submit.main([]) == 0
    assert ("assignment/exercises.yaml" in packed()) == is_packed


def test_it_runs_nothing_of_the_student_and_needs_no_numpy(work, contents):
    given = [
        name for name in contents if name.startswith(("assignment/handing_in/", "assignment/submit", "assignment/__"))
    ]
    for name in given:
        (work.parent / name).parent.mkdir(exist_ok=True)
        (work.parent / name).write_bytes(contents[name])
    (work / "nn.py").write_text("raise SystemExit('this was run')\n")
    command = [sys.executable, "-I", "-S", "-c", "import sys; sys.path.insert(0, '.'); from assignment import submit; "]
    command[-1] += "code = submit.main([]); assert 'numpy' not in sys.modules; sys.exit(code)"
    done = subprocess.run(command, cwd=work.parent, capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "this was run" not in done.stdout


def test_the_receipt_is_the_number_in_the_report_and_in_the_feedback(work, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("GRADER_SEED", "0123456789abcdef")
    fill(work, "nn.py")
    Path("class/zoe").mkdir(parents=True)
    assert submit.main(["--out", "class/zoe/hw3-submission.zip"]) == 0
    number = receipt(capsys.readouterr().out)
    assert cli.main(["class", "--out", "r", "--only", "p1.lse.value", "--sandbox", "auto"]) == 0
    report = yaml.safe_load(Path("r/zoe/report.yaml").read_text())
    assert report["submission"]["sha256"] == number
    assert report["score"] == 4
    for page in ("feedback.md", "feedback.html"):
        assert number in Path("r/zoe", page).read_text()
    assert f"`zoe/hw3-submission.zip`, sha256 `{number}`" in Path("r/zoe/feedback.md").read_text()
