"""Stand-ins for what a job would fetch from a network, and a student's repository."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from harness.ci.actions import Run, writes

from grader.stubs import release_stubs

ROOT = Path(__file__).resolve().parents[3]
SHEBANG = "#!/bin/bash\n"


@pytest.fixture
def repository(tmp_path):
    """A student's repository, with a wrong sign in `softmax_loss` and an exception in `logsumexp`'s way."""
    folder = tmp_path / "repository"
    (folder / "assignment").mkdir(parents=True)
    for name, stub in release_stubs().items():
        (folder / "assignment" / name).write_bytes(stub)
    right = (ROOT / "solution" / "nn.py").read_text("utf-8")
    wrong = right.replace("(logsumexp(logits, dim=1) - chosen)", "(chosen - logsumexp(logits, dim=1))")
    assert wrong != right
    (folder / "assignment" / "nn.py").write_text(wrong)
    (folder / ".git").mkdir()
    return folder


@pytest.fixture
def tools(tmp_path):
    """Programs that come first on the PATH: `python -m venv` makes an environment whose `hw3-grade` is ours."""
    folder = tmp_path / "tools"
    folder.mkdir()
    grade = f'{SHEBANG}echo "$@" >> "{folder}/graded"\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -P -m grader "$@"\n'
    writes(folder / "hw3-grade", grade)
    writes(folder / "pip", f'{SHEBANG}echo "$@" >> "{folder}/installed"\n')
    writes(folder / "sudo", f"{SHEBANG}exec cat > /dev/null\n")
    venv = f'mkdir -p "$3/bin" && cp "{folder}/hw3-grade" "{folder}/pip" "$3/bin/"'
    rest = f'echo "$@" >> "{folder}/python-ran"'
    writes(folder / "python", f'{SHEBANG}if [ "$1 $2" = "-m venv" ]; then {venv}; else {rest}; fi\n')
    return folder


@pytest.fixture
def uses(repository):
    """Stand-ins for actions; what was asked of them is in `asked`."""

    def checkout(run: Run, given) -> None:
        asked.append(dict(given))
        assert given["persist-credentials"].lower() == "false", "a token must not stay where students' files are"
        target = run.workspace / given.get("path", ".")
        if given.get("path") == "grader":
            target.mkdir()
            shutil.copy(ROOT / "constraints.txt", target)
        else:
            shutil.copytree(repository, target, dirs_exist_ok=True)

    def upload(run: Run, given) -> None:
        run.uploads[given["name"]] = run.workspace / given["path"]

    asked: list[dict[str, str]] = []
    stand_ins = {
        "actions/checkout": checkout,
        "actions/setup-python": lambda *_: None,
        "actions/upload-artifact": upload,
    }
    return stand_ins, asked
