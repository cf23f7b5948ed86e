"""What ends a run: one line, an exit status of its own, whole files, no process left, a resume that grades the rest."""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from grader.stop import Stop, Stopper

SCRIPT = """
import sys, threading, types
for name in ("grader.pipeline", "grader.translation"):  # not used here, and slow to import: torch
    sys.modules[name] = types.ModuleType(name)
from grader import cli, preflight, sandbox
from grader.case import Call, Case, Limits
from grader.graded import Graded
from grader.grading import Grading
from grader.student import Student
from grader.verdict import Environment, Report, Status, SubmissionReport

ENVIRONMENT = Environment(grader="", python="", numpy="", torch="", sandbox="", rubric="", seed="")
LOOP = b"def f():\\n    while True: pass\\n"

def grade_one(submission):
    print("grading", submission.id, flush=True)
    if submission.id == "bert" and "--resume" not in sys.argv:
        written.wait()
        with box.open({"nn.py": LOOP}) as session:
            Student(session).run([Case("nn.g", (Call({}),))], Limits())
            print("the second one hangs in", session.folder, flush=True)
            Student(session).run([Case("nn.f", (Call({}),))], Limits(wall_s=600, cpu_s=600))
    received = SubmissionReport(id=submission.id, members=[], source="", layout="", sha256="", files={})
    return Graded(Report(schema="hw3-report/1", submission=received, status=Status.GRADED, score=0.0, max_score=0.0,
        pending=0.0, problems=[], needs_review=False, message="", remarks=[], environment=ENVIRONMENT))

box = sandbox.probe("auto")
written = threading.Event()
advance = cli.Bar.advance
cli.Bar.advance = lambda self, done: (advance(self, done), written.set())
preflight.check = lambda *_, **__: None
sys.exit(cli.main([*sys.argv[1:], "--out", "r", "--jobs", "1"], lambda *_: Grading(grade_one, ENVIRONMENT, bench=None)))
"""


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Grades a class of three, of whom the second never ends unless it is resumed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRADER_SEED", "0123456789abcdef")
    for name in ("anna", "bert", "cleo"):
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "nn.py").write_text(f"# {name}\n")
    Path("script.py").write_text(SCRIPT)
    return [sys.executable, "script.py", "class"]


@pytest.fixture(autouse=True)
def nothing_ignored():
    """These tests, and what they start, listen to every signal, under nohup and in the background too."""
    usual = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: signal.SIG_DFL,
        signal.SIGHUP: signal.SIG_DFL,
    }
    before = {number: signal.signal(number, handler) for number, handler in usual.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize(
    ("ending", "status", "says"),
    [
        (signal.SIGINT, 130, "interrupted"),
        (signal.SIGTERM, 143, "told to end (SIGTERM)"),
        (signal.SIGHUP, 129, "hung up on (SIGHUP)"),
        (signal.SIGKILL, -9, None),
    ],
)
def test_whatever_ends_a_run_leaves_whole_files_and_a_resume_that_grades_the_rest(command, ending, status, says):
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            if "hangs in" in line:
                folder = Path(line.split()[-1])
                handles = [os.pidfd_open(number) for number in _descendants(process.pid)]
                process.send_signal(ending)
        errors = process.stderr.read()
    rest = "1 of 3 submissions are finished and in r, and the same command with --resume grades the rest"
    assert (process.returncode, errors) == (status, f"grader: {says}; {rest}\n" if says else "")
    assert handles
    for handle in handles:
        assert select.select([handle], [], [], 10)[0], "a process outlived the grader"
        os.close(handle)
    assert not folder.exists()
    assert [path.parent.name for path in Path("r").glob("*/report.yaml")] == ["anna"]
    assert not list(Path("r").rglob("*.tmp"))
    resumed = subprocess.run([*command, "--resume"], capture_output=True, text=True, check=False)
    assert (resumed.returncode, resumed.stderr) == (0, "")
    again = [line for line in resumed.stdout.splitlines() if line.startswith("grading")]
    assert again == ["grading bert", "grading cleo"]
    assert sorted(path.parent.name for path in Path("r").glob("*/report.yaml")) == ["anna", "bert", "cleo"]


def test_a_run_that_was_started_to_ignore_the_terminals_end_goes_on(command):
    nohup = [
        sys.executable,
        "-c",
        "import os, signal, sys; signal.signal(1, signal.SIG_IGN); os.execv(*eval(sys.argv[1]))",
    ]
    started = [*nohup, repr((sys.executable, command))]
    with subprocess.Popen(started, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            if "hangs in" in line:
                process.send_signal(signal.SIGHUP)
                process.send_signal(signal.SIGTERM)
        process.stderr.read()
    assert process.returncode == 143


@pytest.mark.parametrize(("ending", "status"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_while_everything_is_still_being_loaded_ends_alike(tmp_path, ending, status):
    (tmp_path / "torch.py").write_text(f"import os, signal\nos.kill(os.getpid(), signal.{ending})\n")
    command = [sys.executable, "-m", "grader", "nowhere"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == status
    assert done.stderr.endswith("; no submission was graded yet; run the same command again\n")
    assert done.stderr.count("\n") == 1


def test_a_step_that_is_held_is_finished_before_the_run_stops():
    steps = []
    with pytest.raises(Stop), Stopper() as stopper:  # noqa: PT012 - what happens between the signal and the end is the test
        with stopper.held():
            signal.raise_signal(signal.SIGTERM)
            steps.append("finished")
        steps.append("never reached")
    assert steps == ["finished"]
    assert stopper.told is signal.SIGTERM


def test_only_the_first_signal_counts():
    with Stopper() as stopper:
        with pytest.raises(Stop):
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)
        with stopper.held():
            signal.raise_signal(signal.SIGHUP)
    assert stopper.told is signal.SIGINT


def test_afterwards_signals_do_what_they_did_before():
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    with Stopper():
        pass
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == before


def _descendants(ancestor: int) -> list[int]:
    """Every process that a process has started, directly or not."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rsplit(")")[-1].split()[1])
        except OSError:
            continue  # it has just ended
    found = [ancestor]
    for number in found:
        found += [child for child, parent in parents.items() if parent == number]
    return found[1:]
