"""Where namespaces are forbidden, as by Docker's default profile: tier B with a warning, or a refusal; never less."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from grader.fingerprint import ROOT

FORBID = """
import ctypes, os, struct, sys
LOAD, EQUAL, ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06
ALLOW, EPERM, ENOSYS = 0x7FFF0000, 0x00050001, 0x00050026
UNSHARE, CLONE, CLONE3, NEW_NAMESPACES = 272, 56, 435, 0x7E020000
program = [
    (LOAD, 0, 0, 0),
    (EQUAL, 0, 1, UNSHARE), (RETURN, 0, 0, EPERM),
    (EQUAL, 0, 1, CLONE3), (RETURN, 0, 0, ENOSYS),
    (EQUAL, 0, 3, CLONE), (LOAD, 0, 0, 16), (ANY_BIT, 0, 1, NEW_NAMESPACES), (RETURN, 0, 0, EPERM),
    (RETURN, 0, 0, ALLOW),
]
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]
code = b"".join(struct.pack("<HBBI", *line) for line in program)
prctl = ctypes.CDLL(None).prctl
assert prctl(38, 1, 0, 0, 0) == 0 and prctl(22, 2, ctypes.byref(Program(len(program), code)), 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
"""
"""Forbids new namespaces to itself, then becomes another program."""


@pytest.fixture
def grade_without_namespaces(tmp_path):
    """Grades the smallest class there, with the sandbox asked for; what was printed, and the status."""
    (tmp_path / "class" / "s1").mkdir(parents=True)
    (tmp_path / "class" / "s1" / "nn.py").write_bytes((ROOT / "solution" / "nn.py").read_bytes())

    def run(choice: str) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-m", "grader", tmp_path / "class", "--out", tmp_path / "out", "--sandbox", choice]
        return subprocess.run(
            [sys.executable, "-c", FORBID, *words, "--only", "p1.lse.value"],
            env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_the_tier_without_namespaces_is_chosen_with_a_warning_and_stands_in_every_report(
    grade_without_namespaces, tmp_path: Path
):
    done = grade_without_namespaces("auto")
    assert done.returncode == 0, done.stderr
    assert "grader: warning: no user namespaces here" in done.stderr
    report = yaml.safe_load((tmp_path / "out" / "s1" / "report.yaml").read_text())
    assert report["environment"]["sandbox"] == "landlock+seccomp"
    assert report["score"] == 4.0


def test_the_tier_that_was_asked_for_is_refused_and_nothing_is_written(grade_without_namespaces, tmp_path: Path):
    done = grade_without_namespaces("bwrap")
    assert done.returncode == 3
    assert done.stderr.startswith("grader: no isolation works here:")
    assert not (tmp_path / "out" / "s1").exists()
