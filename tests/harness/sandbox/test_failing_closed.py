"""Where a limit cannot be set, nothing of a submission runs; each test sabotages a copy of the worker's program."""

import re
import shutil

import pytest

from grader.case import Call, Case, Limits
from grader.errors import InfrastructureError
from grader.protocol import encode_request
from grader.sandbox import Sandbox, attempts, bubblewrap, landlock
from grader.sandbox.stage import WORKER

REQUEST = encode_request([Case("nn.f", (Call({}),))], "nonce")
LOUD = {"nn.py": b"import os\nos.write(2, b'student code ran')\n"}


@pytest.fixture
def sabotaged(tmp_path):
    """A sandbox whose worker has one text of one file replaced by another."""

    def make(file: str, old: str, new: str, tier: str = "A") -> Sandbox:
        folder = tmp_path / "worker"
        shutil.copytree(WORKER, folder, ignore=shutil.ignore_patterns("__pycache__"))
        text = (folder / file).read_text()
        assert text.count(old) == 1, f"{file} no longer holds {old!r} once"
        (folder / file).write_text(text.replace(old, new))
        if tier == "B":
            return Sandbox("test", landlock.starter(folder), "B")
        bwrap = next(candidate.path for candidate in bubblewrap.candidates() if not candidate.problem)
        return Sandbox("test", bubblewrap.starter(bwrap, folder))

    return make


@pytest.mark.parametrize(
    ("file", "old", "new", "reason"),
    [
        ("lockdown.py", "SECCOMP_MODE_FILTER, ctypes", "99, ctypes", "prctl.22. failed"),
        ("lockdown.py", '"x86_64" or', '"pdp11" or', "no list of system calls"),
        ("filters.py", "REFUSE),\n    ]\n    return", "ALLOW),\n    ]\n    return", "still allowed"),
        ("syscalls.py", '"mmap": 9', '"mmap": 9, "socket": 41', "socket.2. is still allowed"),
    ],
)  # fmt: skip
def test_a_server_without_its_filter_never_greets(sabotaged, file, old, new, reason):
    with sabotaged(file, old, new).open(LOUD) as session, pytest.raises(InfrastructureError, match=reason) as caught:
        session.exchange(REQUEST, Limits())
    assert "student code ran" not in str(caught.value)


@pytest.mark.parametrize(
    ("file", "old", "new", "reason"),
    [
        ("landlock.py", "VERSION)\n", "99)\n", "Landlock is not available"),
        ("landlock.py", "    _call(RESTRICT_SELF, ruleset, 0)", "    pass", "the root folder can still be opened"),
        ("landlock.py", "PATH_BENEATH, rule", "99, rule", "the system call 445 of Landlock failed: Invalid argument"),
        ("lockdown.py", "header, bytes(24)", "bytes(8), bytes(24)", "capabilities could not be dropped"),
        ("lockdown.py", "SECCOMP_MODE_FILTER, ctypes", "99, ctypes", "prctl.22. failed"),
        ("main.py", "mode, *paths = sys.argv[1:]", "mode, *paths = 'walled'", "asked to be 'w' with 5 paths"),
    ],
)  # fmt: skip
def test_a_server_without_its_landlock_never_greets(sabotaged, file, old, new, reason):
    with sabotaged(file, old, new, "B").open(LOUD) as session, pytest.raises(InfrastructureError) as caught:
        session.exchange(REQUEST, Limits())
    assert re.search(reason, str(caught.value))
    assert "student code ran" not in str(caught.value)


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5, 6, 7])
def test_landlock_of_every_version_keeps_what_a_submission_must_not_do(sabotaged, version):
    old, new = "*_sized(_handled(version))", f"*_sized(_handled(min(version, {version})))"
    assert attempts.failure(sabotaged("landlock.py", old, new, "B")) == ""


@pytest.mark.parametrize(
    ("file", "old", "new", "reason"),
    [
        ("lockdown.py", "resource.setrlimit(kind, pair)", "raise OSError('no limits here')", "no limits here"),
        ("walls.py", "lockdown.limit(limits,", "lockdown.limit(None,", "not locked down"),
        ("walls.py", "os.getppid() != server", "os.getppid() == server", "the server has ended"),
        (
            "walls.py",
            "lockdown.restrict_child(gpu=self._mode == WITH_GPU)",
            "raise lockdown.LockdownError('broken')",
            "broken",
        ),
        ("filters.py", "*_prlimit(may_set=False), *", "*_allow([62]), *", "kill.2. is still allowed"),
        ("server.py", "os.dup2(reply, REPLY_PIPE)", "os.dup2(999, REPLY_PIPE)", "it said nothing"),
    ],
)
def test_a_child_that_cannot_lock_itself_in_runs_no_student_code(sabotaged, file, old, new, reason):
    with sabotaged(file, old, new).open(LOUD) as session:
        with pytest.raises(InfrastructureError, match=reason) as caught:
            session.exchange(REQUEST, Limits())
        assert b"student code ran" not in session.output
    assert "student code ran" not in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("lockdown.restrict_child(gpu=self._mode == WITH_GPU)", "pass", "starting a process"),
        ("module = importlib.import_module(full)", "raise OSError('broken')", "a harmless program does not run in it"),
    ],
)
def test_the_attempts_of_the_probe_notice_a_sandbox_that_does_not_hold(sabotaged, old, new, named):
    file = "walls.py" if "lockdown" in old else "loader.py"
    assert named in attempts.failure(sabotaged(file, old, new))


def test_the_attempts_of_the_probe_notice_a_missing_landlock(sabotaged):
    sandbox = sabotaged("walls.py", "landlock.restrict_files(readable, [listable])", "pass", "B")
    assert "reading /etc/passwd, reading the grader, listing the grader" in attempts.failure(sandbox)
