"""Whose fault is it? What breaks in the grader or the machine is never a student's zero: tried again, then told."""

import errno
import shutil
import sys
import tempfile
from dataclasses import replace

import pytest
import torch

from grader import batch, diagnose, evidence, intake, judge, pipeline, rebind
from grader.batch import Plan, grade_all
from grader.errors import InfrastructureError
from grader.sandbox import Sandbox, bubblewrap
from grader.sandbox.stage import WORKER
from grader.verdict import Verdict

FFN = ("transformer.py", "GELU(self.linear_in(x))", "self.linear_in(x).tanh()")
LOOP = ("nn.py", "return (input - largest).exp().sum(dim).log() + largest", "while True: pass")
ALWAYS = 1000
COLLECT = sys.modules["grader.intake.collect"]  # `intake.collect` is its function


@pytest.fixture
def boxed(bench):
    """The bench on bubblewrap, whose parts are what the tests break."""
    path = next(candidate.path for candidate in bubblewrap.candidates() if not candidate.problem)
    return replace(bench, sandbox=Sandbox("test", bubblewrap.starter(path)))


@pytest.fixture
def run(boxed, solution_with, tmp_path):
    """Grades the reference, or it with pieces replaced, by some checks; what a batch makes of it."""

    def grade(*replacements, only=("p1.lse.value",), sandbox=boxed.sandbox):
        own = replace(boxed, only=only, sandbox=sandbox)
        given = [solution_with(*replacements)]
        (done,) = grade_all(given, lambda submission: pipeline.grade(submission, own), Plan(out=tmp_path, run={}))
        return done

    return grade


def failing(times, error, otherwise):
    """A function that raises so many times, then does what it should."""
    left = [error] * times

    def act(*arguments, **named):
        if left:
            raise left.pop()
        return otherwise(*arguments, **named)

    return act


FAULTS = [
    (evidence.twins, "run", RuntimeError("a twin that cannot compute")),
    (evidence.twins, "run", MemoryError()),
    (judge, "compare", IndexError("a judge that stumbles over an answer")),
    (tempfile, "TemporaryDirectory", OSError(errno.ENOSPC, "No space left on device")),
    (bubblewrap, "Worker", FileNotFoundError(errno.ENOENT, "No such file or directory", "bwrap")),
    (bubblewrap, "Worker", BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")),
]
NAMES = ["a twin", "no memory", "the judge", "a full disk", "no bwrap", "no process"]


@pytest.mark.parametrize(("where", "name", "error"), FAULTS, ids=NAMES)
def test_a_fault_of_the_grader_is_no_verdict(where, name, error, run, monkeypatch):
    monkeypatch.setattr(where, name, failing(ALWAYS, error, None))
    done = run()
    assert done.report is None
    assert type(error).__name__ in done.fault


@pytest.mark.parametrize(("where", "name", "error"), FAULTS, ids=NAMES)
def test_a_fault_that_passes_leaves_no_trace_in_the_report(where, name, error, run, monkeypatch):
    right = run().report
    monkeypatch.setattr(where, name, failing(1, error, getattr(where, name)))
    assert run().report == right


@pytest.fixture
def sabotaged(tmp_path):
    """A sandbox whose worker's server has one text replaced by another."""

    def make(old, new):
        folder = tmp_path / "worker"
        shutil.copytree(WORKER, folder, ignore=shutil.ignore_patterns("__pycache__"))
        text = (folder / "server.py").read_text()
        assert text.count(old) == 1
        (folder / "server.py").write_text(text.replace(old, new))
        path = next(candidate.path for candidate in bubblewrap.candidates() if not candidate.problem)
        return Sandbox("test", bubblewrap.starter(path, folder))

    return make


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("    pid = os.fork()\n", "    raise BlockingIOError(11, 'no more processes')\n", "no more processes"),
        ("    reply_end, reply = os.pipe()\n", "    raise OSError(24, 'too many files')\n", "too many files"),
        ("born.said += data\n", "os.kill(born.pid, signal.SIGKILL); born.said += data\n", "short of memory"),
        ("born.said += data\n", "os.kill(born.pid, signal.SIGTERM); born.said += data\n", "no submission can send"),
        ("        del request\n", "        os._exit(9)\n", "the worker ended with status 9"),
    ],
    ids=["no fork", "no pipe", "the out-of-memory killer", "a service manager", "the server itself"],
)
def test_what_befalls_a_worker_is_no_verdict(old, new, says, run, sabotaged):
    done = run(LOOP, sandbox=sabotaged(old, new))
    assert done.report is None
    assert says in done.fault


def test_a_sandbox_lost_while_a_module_is_replaced_costs_nothing(run, monkeypatch):
    above = ("p3.ffn", "p3.layer")
    lost = InfrastructureError("a sandbox was lost")
    monkeypatch.setattr(rebind.Repaired, "student", failing(1, lost, rebind.Repaired.student))
    done = run(FFN, only=above)  # twice: the first time it is lost
    checks = {check.id: check for problem in done.report.problems for check in problem.checks}
    assert checks["p3.layer"].points.carried_forward == checks["p3.layer"].points.available
    monkeypatch.setattr(rebind.Repaired, "student", failing(ALWAYS, lost, None))
    assert run(FFN, only=above).fault == "grader.errors.InfrastructureError: a sandbox was lost"


def test_torch_without_memory_is_no_sign_of_a_mistake(run, monkeypatch):
    monkeypatch.setattr(diagnose, "equals", lambda *_: torch.empty(2**50))
    assert "torch ran out of memory in the grader" in run(FFN, only=("p3.ffn",)).fault


def test_a_wrong_twin_that_cannot_compute_a_case_explains_nothing(run, monkeypatch):
    monkeypatch.setattr(diagnose, "equals", failing(ALWAYS, RuntimeError("shapes do not fit"), None))
    done = run(FFN, only=("p3.ffn",))
    (check,) = [c for p in done.report.problems for c in p.checks if c.verdict is not Verdict.PENDING]
    assert (check.verdict, check.diagnosis) == (Verdict.FAILED, None)


def test_feedback_that_cannot_be_written_stops_nobody_else(make_submission, make_report, tmp_path, monkeypatch):
    write = batch.write_submission

    def stumble(out, graded, *rest):
        if graded.report.submission.id == "s1":
            raise KeyError("a message that is not there")
        return write(out, graded, *rest)

    monkeypatch.setattr(batch, "write_submission", stumble)
    submissions = [make_submission(name) for name in ("s0", "s1", "s2")]
    done = grade_all(submissions, lambda one: batch.Graded(make_report(one.id)), Plan(out=tmp_path, run={}))
    assert [entry.fault for entry in done] == ["", "KeyError: 'a message that is not there'", ""]


@pytest.mark.parametrize("number", [errno.EIO, errno.EMFILE, errno.ENOMEM])
def test_a_submission_that_this_machine_cannot_read_is_not_ungradable(number, tmp_path, monkeypatch, bench):
    (tmp_path / "anna.py").write_text("x = 1\n")

    def broken(*_):
        raise OSError(number, "the disk is bad")

    monkeypatch.setattr(COLLECT, "read_file", broken)
    (submission,) = intake.collect(tmp_path / "anna.py")
    assert (submission.problem, submission.unread) == ("", "anna.py could not be read here: the disk is bad")
    with pytest.raises(InfrastructureError, match=r"anna\.py could not be read here"):
        pipeline.grade(submission, bench)


def test_a_submission_that_nobody_may_read_is_ungradable(tmp_path, monkeypatch):
    (tmp_path / "anna.py").write_text("x = 1\n")

    def forbidden(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(COLLECT, "read_file", forbidden)
    (submission,) = intake.collect(tmp_path / "anna.py")
    assert submission.unread == ""
    assert "which cannot be read: Permission denied" in submission.problem
