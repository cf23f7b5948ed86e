"""Where the labs take the course's modules from."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

from grader.fingerprint import ROOT

PROGRAM = "from handouts.labs import course; print(course.transformer.__name__, course.HAS_REFERENCE)"


def printed_in(folder: Path) -> str:
    command = [sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, {str(folder)!r}); {PROGRAM}"]
    # -S: an editable installation would find the reference wherever the program runs; NumPy's folder is given back.
    packages = str(Path(np.__file__).parents[1])
    command.insert(1, "-S")
    return subprocess.run(
        command, check=True, capture_output=True, text=True, env={"PYTHONPATH": packages}
    ).stdout.strip()


def test_the_reference_is_taken_where_it_is_there() -> None:
    assert printed_in(ROOT) == "solution.transformer True"


def test_a_release_without_the_reference_takes_the_students_own_files(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "assignment", tmp_path / "assignment")
    (tmp_path / "handouts" / "labs").mkdir(parents=True)
    shutil.copy(ROOT / "handouts" / "labs" / "course.py", tmp_path / "handouts" / "labs")
    assert printed_in(tmp_path) == "assignment.transformer False"
