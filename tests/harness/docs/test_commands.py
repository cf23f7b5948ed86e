"""Every command that the pages show is run, on a class of two with next to nothing in it.

The grader's own run in this process, with one check of those that a page asks for. A command that cannot be run here,
or is too slow, stands in `INSTEAD` with what is run in its place.
"""

from __future__ import annotations

import argparse
import fnmatch
import functools
import importlib
import os
import shlex
import shutil
import subprocess
import sys
import zipfile

import pytest
from harness.docs.pages import ROOT, commands

from grader import cli, grading, rubric, sandbox
from grader.stubs import release_stubs

NETWORK = "needs the network"
SLOW = "takes minutes; has tests of its own"
ELSEWHERE = "needs what this machine may not have"
COVERED = "another command of the page has the same options"
OPTIONS, DRY, HELP, COLLECT, NOTHING = "only its options are read", "make -n", "--help", "--collect-only", "not run"

INSTEAD = {
    # command -> (what is run instead, why)
    "make setup": (DRY, NETWORK),
    "make grade": (DRY, NETWORK),
    "make test": (DRY, SLOW),
    "make lint": (DRY, SLOW),
    "make check": (DRY, SLOW),
    "make generate": (DRY, SLOW),
    "make bench ONLY=F1": (DRY, SLOW),
    "python -m grader.selfcheck": (OPTIONS, SLOW),
    "python -m grader.selfcheck --full": (OPTIONS, SLOW),
    "python -m grader.calibrate": (OPTIONS, SLOW),
    "python -m grader.release --out dist/": (OPTIONS, SLOW),
    "hw3-grade submissions/ --translation text/ --translation-minutes 30 --out trained": (OPTIONS, SLOW),
    "python3 -m venv .venv && . .venv/bin/activate": (NOTHING, NETWORK),
    "python -m venv .venv": (NOTHING, NETWORK),
    "source .venv/bin/activate": (NOTHING, NETWORK),
    "pip install -c constraints.txt -e '.[dev]'": (NOTHING, NETWORK),
    "pip install -e .": (NOTHING, NETWORK),
    "pip install -e '.[translation]'": (NOTHING, NETWORK),
    "pip install -e '.[labs]'": (NOTHING, NETWORK),
    "jupyter lab handouts/labs/02_positions.en.ipynb": (NOTHING, ELSEWHERE),
    "python -m assignment.reversal": (HELP, "the stubs cannot train"),
    "python -m assignment.translation --data grammar": (HELP, "the stubs cannot train"),
    "python -m assignment.translation --data FOLDER": (NOTHING, COVERED),
    "python -m assignment.translation --data iwslt14": (NOTHING, NETWORK),
    "pytest tests/": (NOTHING, SLOW),
    "pytest tests/test_nn.py": (COLLECT, "fails, as nothing is written yet; has tests of its own"),
    "pytest tests/ -k attention": (COLLECT, SLOW),
    "pytest tests/ --hint 1": (NOTHING, COVERED),
    "pytest tests/ --hint 3 --lang zh": (HELP, SLOW),  # an option that it does not have, it refuses even so
}
PLACES = {"path/to/class": "submissions", "path/to/repository": "repository"}
"""Names that stand for the reader's own."""
PAGES = {
    name: ROOT / path
    for name, path in {
        "readme": "README.md",
        "ta": "handouts/docs/ta.md",
        "ci": "handouts/docs/ci.md",
        "instructor": "handouts/docs/instructor.md",
    }.items()
}
STUDENT = ROOT / "handouts" / "docs" / "student.md"


probe = functools.cache(sandbox.probe)
"""Of one machine, it finds the same each time."""


class Read(Exception):  # noqa: N818 - no error
    """The command's options have been read."""


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A folder with a class in it, where the commands are run."""
    nn = release_stubs()["nn.py"]
    (tmp_path / "submissions" / "bob").mkdir(parents=True)
    (tmp_path / "submissions" / "bob" / "notes.py").write_bytes(b"# cannot be graded, which is quick\n")
    with zipfile.ZipFile(tmp_path / "submissions" / "alice.zip", "w") as archive:
        archive.writestr("nn.py", nn)
    (tmp_path / "repository" / "assignment").mkdir(parents=True)
    (tmp_path / "repository" / "assignment" / "nn.py").write_bytes(nn)
    shutil.copytree(tmp_path / "submissions", tmp_path / "late")
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GRADER_SEED", raising=False)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    monkeypatch.setattr(sandbox, "probe", probe)
    return tmp_path


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """For the check of the reference, which is made once."""
    return tmp_path_factory.mktemp("cache")


def less(secret, choice, only):
    """The first check that each pattern of a page selects; a pattern without any is refused as ever."""
    ids = rubric.load().ids
    first = [next(iter(fnmatch.filter(ids, pattern)), pattern) for pattern in only or ("*",)]
    return grading.prepare(secret, choice, first)


def run_here(words):
    """Run one of the grader's commands in this process; give its exit status."""
    if words[0] == "hw3-grade":
        return cli.main(words[1:], less)
    module = {"grader.selfcheck": "grader.selfcheck.command"}.get(words[2], words[2])
    return importlib.import_module(module).main(words[3:])


def read_options(words, monkeypatch):
    """Read the options of a command, and stop there."""

    def parse(parser, arguments=None, namespace=None):
        raise Read(right(parser, arguments, namespace))

    right = argparse.ArgumentParser.parse_args
    with monkeypatch.context() as patched:
        patched.setattr(argparse.ArgumentParser, "parse_args", parse)
        with pytest.raises(Read):
            run_here(words)
    return 0


def run_outside(words, folder):
    """Run a program in a folder; give its exit status, and show what it says where a test fails."""
    kept = {**os.environ, "PYTHONPATH": str(folder), "PYTHON": sys.executable}
    done = subprocess.run(words, cwd=folder, env=kept, capture_output=True, text=True, timeout=60, check=False)
    sys.stdout.write(f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}\n")
    return done.returncode


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_a_page_for_staff_runs(page, course, cache, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    for command in commands(PAGES[page]):
        words = [PLACES.get(word, word) for word in shlex.split(command)]
        how, _ = INSTEAD.get(command, ("", ""))
        if how == DRY:
            status = run_outside(["make", "-n", *words[1:]], course)
        elif how == OPTIONS:
            status = read_options(words, monkeypatch)
        elif how == NOTHING:
            continue
        else:
            status = run_here(words)
        assert status == 0, f"{command}: status {status}\n{capsys.readouterr().err}"


def test_every_command_of_the_page_for_students_runs(students_folder):
    for command in commands(STUDENT):
        words = shlex.split(command)
        how, _ = INSTEAD.get(command, ("", ""))
        if how == NOTHING:
            continue
        program = {"pytest": [sys.executable, "-m", "pytest"], "python": [sys.executable]}.get(words[0], words[:1])
        status = run_outside([*program, *words[1:], *([how] if how else [])], students_folder)
        assert status == 0, f"{command}: status {status}"


def test_what_is_not_run_stands_on_a_page():
    shown = {command for page in (*PAGES.values(), STUDENT) for command in commands(page)}
    assert INSTEAD.keys() <= shown
