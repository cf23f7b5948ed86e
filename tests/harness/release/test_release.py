"""The student release: what is in it, and that NumPy and pytest are enough to use it."""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from grader import release
from grader.fixtures import FIXTURES
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
    for name in ("assignment", "solution", "handouts/release", "handouts/exercises", "tests/fixtures"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for path in (ROOT / "LICENSE", *(ROOT / "tests").glob("*.py")):
        shutil.copy(path, tmp_path / path.relative_to(ROOT))
    monkeypatch.setattr(release, "ROOT", tmp_path)
    monkeypatch.setattr(release.fixtures, "stale", lambda _: {})  # tested in test_fixtures; takes a second
    return tmp_path


def test_two_releases_have_the_same_bytes(archive, tmp_path):
    assert release.main(["--out", str(tmp_path / "new" / "folder")]) == 0
    assert (tmp_path / "new" / "folder" / "hw3.zip").read_bytes() == archive.read_bytes()


def test_the_release_is_what_is_given_the_stubs_the_public_tests_the_exercises_and_two_texts(archive):
    with zipfile.ZipFile(archive) as opened:
        names = set(opened.namelist())
    framework, training = (
        {f"hw3/assignment/{folder}/{path.name}" for path in (ROOT / "assignment" / folder).glob("*.py")}
        for folder in ("framework", "training")
    )
    files = {f"hw3/assignment/{name}" for name in ("__init__.py", "reversal.py", *release_stubs())}
    tests = {f"hw3/tests/{path.name}" for path in (ROOT / "tests").glob("*.py") if path.name != "gpu.py"}
    arrays = {f"hw3/tests/fixtures/{name}" for name in (*(f"{fixture}.npz" for fixture in FIXTURES), "hints.json")}
    texts = {"hw3/README.md", "hw3/pyproject.toml", "hw3/LICENSE"}
    exercises = {"hw3/handouts/exercises.en.md", "hw3/handouts/exercises.zh.md", "hw3/assignment/exercises.yaml"}
    assert names == framework | training | files | tests | arrays | texts | exercises


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


def test_a_folder_that_cannot_be_made_is_named(checkout, capsys):
    (checkout / "taken").write_text("a file")
    assert release.main(["--out", str(checkout / "taken")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "taken/hw3.zip" in line
