"""The student release: what is in it, and that NumPy and pytest are enough to use it."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from grader import release
from grader.fixtures import FIXTURES
from grader.manifest import CLOSED_LABS, OPEN_LABS, as_they_are, lab_modules
from grader.readable import runnable
from grader.stubs import release_stubs

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    assert release.main(["--out", str(folder)]) == 0
    return folder / "hw3.zip"


@pytest.fixture
def unpacked(archive, tmp_path):
    shutil.unpack_archive(archive, tmp_path)
    return tmp_path / "hw3"


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A copy of what a release is cut from."""
    sources = [*as_they_are(ROOT).values(), *(ROOT / "solution").glob("*.py")]
    sources += [ROOT / "assignment" / name for name in release_stubs()]
    sources += [ROOT / "handouts" / "labs" / f"{lab}.py" for lab in OPEN_LABS]
    for path in sources:
        (tmp_path / path.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, tmp_path / path.relative_to(ROOT))
    monkeypatch.setattr(release, "ROOT", tmp_path)
    monkeypatch.setattr(release.fixtures, "stale", lambda _: {})  # tested in test_fixtures; takes a second
    return tmp_path


def test_two_releases_have_the_same_bytes(archive, tmp_path):
    assert release.main(["--out", str(tmp_path / "new" / "folder")]) == 0
    assert (tmp_path / "new" / "folder" / "hw3.zip").read_bytes() == archive.read_bytes()


def test_the_release_is_what_is_given_the_stubs_the_public_tests_and_the_handouts(archive):
    with zipfile.ZipFile(archive) as opened:
        names = {name.removeprefix("hw3/") for name in opened.namelist()}
    given = {
        f"assignment/{folder}/{path.name}"
        for folder in ("framework", "handing_in", "training")
        for path in (ROOT / "assignment" / folder).glob("*.py")
    }
    files = {
        f"assignment/{name}" for name in ("__init__.py", "reversal.py", "submit.py", "exercises.yaml", *release_stubs())
    }
    tests = {f"tests/{path.name}" for path in (ROOT / "tests").glob("*.py") if path.name != "gpu.py"}
    arrays = {f"tests/fixtures/{name}" for name in (*(f"{fixture}.npz" for fixture in FIXTURES), "hints.json")}
    own = {
        "README.md",
        "pyproject.toml",
        "LICENSE",
        "Makefile",
        ".gitignore",
        ".github/workflows/tests.yml",
        "hw3.ipynb",
    }
    handouts = {f"handouts/hw3.{language}.{kind}" for language in ("en", "zh") for kind in ("md", "pdf")}
    handouts |= {f"handouts/exercises.{language}.md" for language in ("en", "zh")}
    labs = {f"handouts/labs/{lab}.{language}.ipynb" for lab in OPEN_LABS for language in ("en", "zh")}
    labs |= {f"handouts/labs/{lab}.{language}.html" for lab in CLOSED_LABS for language in ("en", "zh")}
    modules = {name for name in names if name.startswith("handouts/") and name.endswith(".py")}
    assert names == given | files | tests | arrays | own | handouts | labs | modules
    assert {"handouts/__init__.py", "handouts/labs/__init__.py", "handouts/labs/figures.py"} < modules
    assert sorted(lab[:2] for lab in OPEN_LABS + CLOSED_LABS) == ["01", "02", "03", "04", "05", "06", "07"]


def test_a_lab_has_the_modules_that_it_imports_and_those_that_these_import_but_none_with_torch(tmp_path):
    sources = {
        OPEN_LABS[0]: "import numpy\nfrom handouts.labs import one, two\nfrom handouts.labs.three import f\n",
        OPEN_LABS[1]: "import handouts.labs.four\n",
        "one": "from . import five\n",
        "two": "import torch\nfrom handouts.labs import eight\n",
        "three": "from .six import g\n",
        "four": "def f():\n    from torch import nn\n",
        "five": "", "six": "", "seven": "", "eight": "",
        **dict.fromkeys(OPEN_LABS[2:], ""),
    }  # fmt: skip
    for name, source in sources.items():
        (tmp_path / f"{name}.py").write_text(source)
    assert {path.stem for path in lab_modules(tmp_path)} == {"one", "three", "five", "six"}


def test_what_students_run_needs_numpy_and_pytest_only_and_imports_nothing_of_the_staff(contents):
    """Whatever is imported anywhere in the release, in a function too."""
    tops = {}
    for path, content in contents.items():
        for source in runnable(path, content):
            for node in ast.walk(ast.parse(source)):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                if isinstance(node, ast.ImportFrom) and not node.level:
                    names = [node.module]
                for name in names:
                    tops.setdefault(name.partition(".")[0], set()).add(path)
    strange = tops.keys() - sys.stdlib_module_names
    assert "grader" not in strange
    assert tops["solution"] == {"handouts/labs/course.py"}  # only where it is there
    assert all(path.endswith(".ipynb") for path in tops.get("torch", ()))
    helpers = {Path(path).stem for path in contents if path.startswith("tests/")}
    bare = {top for top in strange if any(not path.startswith("handouts/labs/") for path in tops[top])} - helpers
    assert bare == {"numpy", "pytest", "assignment", "tokenizers", "sacrebleu", "matplotlib", "datasets"} & strange


def test_what_a_student_installs_is_numpy_and_pytest_with_its_timeout_and_nothing_else_unasked(contents):
    project = tomllib.loads(contents["pyproject.toml"].decode())["project"]
    assert [re.split("[<>=]", name)[0] for name in project["dependencies"]] == ["numpy", "pytest", "pytest-timeout"]
    assert project["optional-dependencies"].keys() == {"labs", "translation"}


def test_the_four_files_are_the_stubs(unpacked):
    found = {name: (unpacked / "assignment" / name).read_bytes() for name in release_stubs()}
    assert found == dict(release_stubs())


@pytest.mark.parametrize("module", ["torch", "grader", "solution", "yaml"])
def test_a_student_has_no_torch_and_nothing_of_the_staff(bare_python, unpacked, module):
    done = subprocess.run(
        [bare_python, "-c", f"import {module}"], cwd=unpacked, capture_output=True, text=True, timeout=30, check=False
    )
    assert f"No module named '{module}'" in done.stderr


def test_with_numpy_and_pytest_only_every_test_says_what_is_not_written(bare_python, unpacked):
    done = subprocess.run(
        [bare_python, "-m", "pytest", "tests/"], cwd=unpacked, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Problem 3: MultiHeadAttention.__init__" in done.stdout
    assert "not written yet in" in done.stdout.splitlines()[-1]
    for word in ("failed", "passed", "error"):
        assert word not in done.stdout.splitlines()[-1]


def test_with_numpy_and_pytest_only_the_reference_passes(bare_python, unpacked):
    for path in (ROOT / "solution").glob("*.py"):
        shutil.copy(path, unpacked / "assignment" / path.name)
    done = subprocess.run(
        [bare_python, "-m", "pytest", "tests/"], cwd=unpacked, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_with_numpy_only_the_reversal_command_says_what_is_missing_and_then_shows_what_was_learned(
    bare_python, unpacked
):
    command = [bare_python, "-m", "assignment.reversal", "--device", "cpu", "--steps", "2"]
    blank = subprocess.run(command, cwd=unpacked, capture_output=True, text=True, timeout=30, check=False)
    assert blank.returncode == 1
    assert blank.stderr.startswith("Problem 2: Embedding.__init__ is not written yet")
    for path in (ROOT / "solution").glob("*.py"):
        shutil.copy(path, unpacked / "assignment" / path.name)
    done = subprocess.run(command, cwd=unpacked, capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "with positions" in done.stdout


def test_a_stale_stub_stops_the_release(checkout, capsys):
    with (checkout / "assignment" / "nn.py").open("a") as file:
        file.write("# edited by hand\n")
    assert release.main(["--out", str(checkout / "dist")]) == 3
    assert capsys.readouterr().err == "assignment/nn.py is not what solution/ gives; run: python -m grader.stubs\n"
    assert not (checkout / "dist").exists()


def test_a_stale_fixture_stops_the_release(checkout, capsys, monkeypatch):
    monkeypatch.setattr(release.fixtures, "stale", lambda _: {"linear.npz": b""})
    assert release.main(["--out", str(checkout / "dist")]) == 3
    assert "tests/fixtures/linear.npz" in capsys.readouterr().err


def test_a_leak_stops_the_release_with_one_line_that_names_it(checkout, capsys):
    (checkout / "tests" / "test_nn.py").write_text("import torch\n")
    assert release.main(["--out", str(checkout / "dist")]) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert "tests/test_nn.py" in line
    assert "torch" in line
    assert not (checkout / "dist").exists()


def test_a_missing_text_is_named(checkout, capsys):
    (checkout / "LICENSE").unlink()
    assert release.main(["--out", str(checkout / "dist")]) == 2
    assert "LICENSE" in capsys.readouterr().err


def test_a_part_that_is_not_built_stops_the_release_and_says_what_builds_it(checkout, capsys):
    for path in (checkout / "handouts").glob("hw3.*.pdf"):
        path.unlink()
    assert release.main(["--out", str(checkout / "dist")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == "a release needs handouts/hw3.*.pdf, which is not there; `make generate` makes what is built"


def test_a_leak_in_a_cell_of_a_notebook_stops_the_release(checkout, capsys):
    (path,) = (checkout / "handouts" / "labs" / "built").glob("02_positions.en.ipynb")
    book = json.loads(path.read_text())
    line = "return (input - largest).exp().sum(dim).log() + largest"
    assert line in (ROOT / "solution" / "nn.py").read_text()
    book["cells"][0]["source"] = [f"Write `{line[:20]}", f"{line[20:]}`."]
    path.write_text(json.dumps(book))
    assert release.main(["--out", str(checkout / "dist")]) == 3
    assert "handouts/labs/02_positions.en.ipynb holds" in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_is_named(checkout, capsys):
    (checkout / "taken").write_text("a file")
    assert release.main(["--out", str(checkout / "taken")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "taken/hw3.zip" in line
