"""What an attack could leave behind is seen, and what is not an attack's is not blamed on one."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

from grader.fingerprint import ROOT
from grader.sandbox.workroom import workroom
from grader.selfcheck import surroundings
from grader.selfcheck.surroundings import around, changes, near

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")

SHARED_MEMORY = """       key      shmid perms                  size  cpid  lpid nattch   uid
{key:10d}         19   600               1048576     1     1      0     0
"""


@pytest.fixture
def processes(monkeypatch, tmp_path):
    """A made-up /proc in the place of the real one."""
    (tmp_path / "sysvipc").mkdir()
    (tmp_path / "self").mkdir()
    (tmp_path / "self" / "mountinfo").write_text("")
    monkeypatch.setattr(surroundings, "_PROC", tmp_path)
    return tmp_path


def test_nothing_has_changed_where_nothing_was_done(tmp_path):
    (tmp_path / "file").write_text("x")
    assert changes(near(tmp_path), near(tmp_path)) == ""
    assert changes(around(), around()) == ""


@pytest.mark.parametrize("name", ["hw3-attack", "x-hw3-attack-OURS-1"])
def test_a_file_with_the_mark_in_the_temporary_folder_is_seen(name, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    file = tmp_path / name.replace("OURS", str(os.getpid()))
    before = near()
    file.write_text("")
    assert changes(before, near()) == f"left behind: {file}"


@pytest.mark.parametrize("name", ["anything", "hw3-attack-1-1"])
def test_a_file_of_another_program_or_of_another_process_with_attacks_is_not(name, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = near()
    (tmp_path / name).write_text("")
    assert changes(before, near()) == ""


@pytest.mark.parametrize("place", ["home", "current"])
def test_a_file_with_the_mark_in_ones_own_folders_is_seen(place, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path if place == "current" else Path("/"))
    before = near()
    (tmp_path / "hw3-attack").mkdir()
    assert changes(before, near()) == f"left behind: {tmp_path / 'hw3-attack'}"


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda file: file.write_text("other"), "left behind: {0} (sha256"),
        (lambda file: file.unlink(), "gone or changed: {0} (sha256"),
        (lambda file: file.with_name("more").write_text(""), "left behind: {1} (sha256"),
        (lambda file: file.with_name("more").mkdir(), "left behind: {1} (no file)"),
    ],
)
def test_a_watched_folder_is_seen_to_its_bytes(act, words, tmp_path):
    file = tmp_path / "file"
    file.write_text("x")
    before = near(tmp_path)
    act(file)
    assert words.format(file, tmp_path / "more") in changes(before, near(tmp_path))


@pytest.mark.parametrize("kind", ["shm", "sem", "msg"])
def test_a_system_v_object_with_the_key_is_seen_and_no_other(kind, processes):
    before = near()
    (processes / "sysvipc" / kind).write_text(SHARED_MEMORY.format(key=surroundings.KEY + 1))
    assert changes(before, near()) == ""
    (processes / "sysvipc" / kind).write_text(SHARED_MEMORY.format(key=surroundings.KEY))
    assert changes(before, near()) == f"left behind: System V {kind} 19"


def test_a_mount_is_seen(processes):
    before = around()
    line = "40 23 0:35 / /mnt rw,relatime - tmpfs none rw"
    (processes / "self" / "mountinfo").write_text(line + "\n")
    assert changes(before, around()) == f"left behind: mount {line}"


def test_a_child_and_its_child_are_seen_until_somebody_has_waited_for_them():
    before = around()
    program = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(1, flush=True); input()'])"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout.readline() == "1\n"
        seen = changes(before, around())
        assert seen.count("left behind: process ") == 2
        assert f"left behind: process {child.pid} (python" in seen
        child.communicate("\n")
    assert changes(before, around()) == ""


def test_an_ended_child_that_nobody_waited_for_is_seen():
    before = around()
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert changes(before, around()).endswith(", a zombie")
    assert changes(before, around()) == ""


def test_a_staged_submission_is_seen():
    before = around()
    left = workroom() / "left"
    left.mkdir()
    seen = changes(before, around())
    left.rmdir()
    assert seen == f"left behind: {left}"


KILLED = """
import os
from grader import pipeline
from grader.selfcheck.ground import prepared
from grader.submission import Submission

pipeline.grade = lambda submission, bench: None  # what the bystander gets does not matter here
reference = Submission("reference", ("reference",), "solution", "plain", "", {"nn.py": b""})
with prepared(pipeline.Bench(None, None, {}, b"", None, {}), reference, {}, ()) as ground:
    (cleaner,) = open("/proc/thread-self/children").read().split()
    print(ground.folder, cleaner, flush=True)
    os.read(0, 1)
"""


def test_the_ground_of_attacks_is_gone_after_the_kill_of_a_selfcheck():
    command = [sys.executable, "-c", KILLED]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        folder, cleaner = process.stdout.readline().split()
        handle = os.pidfd_open(int(cleaner))
        was_there = (Path(folder) / "canary" / "secret").is_file()
        process.kill()
    assert was_there
    assert select.select([handle], [], [], 10)[0], "what should clean up did not end"
    os.close(handle)
    assert not Path(folder).exists()
