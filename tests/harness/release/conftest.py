"""A student's folder to run the public tests in."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from grader import release

ROOT = Path(__file__).resolve().parents[3]
ONLY_NAMED_PLUGINS = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""A student has no others, and they take half of the time."""
STUDENT_HAS = ("numpy", "pytest", "pytest-timeout", "pluggy", "iniconfig", "packaging", "pygments")

NOT_A_STUDENTS = {"HW3_PACKAGE", "CI", "BUILD_NUMBER"}
"""Variables that change what is tested or what pytest prints: on CI it repeats whole messages in its summary."""


@dataclass(frozen=True)
class Run:
    """One run of pytest in a student's folder; a test is (check, outcome, message)."""

    status: int
    screen: str
    tests: tuple[tuple[str, str, str], ...]
    errors: str

    def checks(self, outcome: str) -> set[str]:
        """The checks of which at least one test came out so."""
        return {check for check, came_out, _ in self.tests if came_out == outcome}

    def messages(self, outcome: str) -> set[str]:
        return {message for _, came_out, message in self.tests if came_out == outcome}


@dataclass(frozen=True)
class Student:
    """A folder with the release unpacked into it."""

    folder: Path

    def write(self, name: str, text: str) -> None:
        """Write one of the four files."""
        (self.folder / "assignment" / f"{name}.py").write_text(text, encoding="utf-8")

    def fill(self, *names: str, extra: str = "") -> None:
        """Put the reference into the four files (or those named), with more code below it."""
        for name in names or ("nn", "modules_basic", "transformer", "translation"):
            self.write(name, (ROOT / "solution" / f"{name}.py").read_text(encoding="utf-8") + extra)

    def run(self, *arguments: str, python: Path = Path(sys.executable), **environment: str) -> Run:
        """Run the public tests as a student does."""
        kept = {name: value for name, value in os.environ.items() if name not in NOT_A_STUDENTS}
        options = ("-p", "no:cacheprovider", "-p", "pytest_timeout", "--junitxml=junit.xml")
        done = subprocess.run(
            [python, "-m", "pytest", *options, *(arguments or ["tests/"])],
            cwd=self.folder,
            env=kept | ONLY_NAMED_PLUGINS | environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        cases = ET.parse(self.folder / "junit.xml").iter("testcase")
        return Run(done.returncode, done.stdout, tuple(map(outcome_of, cases)), done.stderr)


def outcome_of(case: ET.Element) -> tuple[str, str, str]:
    (check,) = (item.get("value") for item in case.iter("property") if item.get("name") == "hw3_check")
    for outcome in ("failure", "error", "skipped"):
        found = case.find(outcome)
        if found is not None:
            return check, outcome, found.get("message")
    return check, "passed", ""


@pytest.fixture(scope="session")
def contents():
    """The files of the release."""
    return release.contents(ROOT)


@pytest.fixture(scope="session")
def new_student(tmp_path_factory, contents):
    """Makes student's folders."""

    def make() -> Student:
        folder = tmp_path_factory.mktemp("student")
        for path, content in contents.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
        return Student(folder)

    return make


@pytest.fixture
def student(new_student):
    return new_student()


@pytest.fixture(scope="session")
def bare_python(tmp_path_factory):
    """A Python of its own that has what the release's README installs, and nothing else."""
    folder = tmp_path_factory.mktemp("venv")
    venv.create(folder, with_pip=False, symlinks=True)
    (site_packages,) = folder.glob("lib/python*/site-packages")
    for name in STUDENT_HAS:
        distribution = metadata.distribution(name)
        for top in {file.parts[0] for file in distribution.files} - {"..", "__pycache__"}:
            (site_packages / top).symlink_to(distribution.locate_file(top))
    return folder / "bin" / "python"
