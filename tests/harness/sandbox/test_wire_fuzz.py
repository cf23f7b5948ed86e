"""Whatever a fork server says: an ending, or that it is lost or late; never a hang, and nothing is left behind.

No submission can speak for the server. This is what holds where one breaks out of its child all the same.
"""

from __future__ import annotations

import os
import random
import sys
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from grader.case import Fault, Limits
from grader.errors import InfrastructureError
from grader.sandbox import endings, process
from grader.sandbox.process import ASK, GREETING, TOLD, TOLD_MAGIC, Ending, LateError, LostError, Worker

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")

LIMITS = Limits(wall_s=10.0, cpu_s=10)
TICKET, REQUEST = b"the ticket's own", b"a request of a few bytes"
FRAME, OUTPUT = b"a frame, " * 40, b"what was printed"

FAKE = f"""
import os, sys, time
info, script = int(sys.argv[1]), sys.argv[2]
os.close(info)

def read(size):
    data = b""
    while len(data) < size and (more := os.read(0, size - len(data))):
        data += more
    return data

def say(data):
    while data:
        data = data[os.write(1, data):]

def answer(path):
    head = read({ASK.size})
    read(int.from_bytes(head[-8:], "little"))
    with open(path, "rb") as file:
        say(file.read().replace({TICKET!r}, head[4:20]))

GREETING = {GREETING!r}
exec(script)
"""
"""A fork server that does what it is told; the grader's end is the real one."""


@pytest.fixture
def hurry(monkeypatch) -> None:
    """What waits for minutes where a machine is busy waits for a moment."""
    monkeypatch.setattr(process, "START_S", 0.3)
    monkeypatch.setattr(process, "GRACE_S", 0.3)
    monkeypatch.setattr(process, "END_S", 0.3)


@contextmanager
def started(folder: Path, script: str) -> Iterator[Worker]:
    """A fake worker; when it is closed, its process and every descriptor are gone."""
    program = folder / "fake.py"
    program.write_text(FAKE)
    before = sorted(Path("/proc/self/fd").iterdir())
    worker = Worker(lambda info: [sys.executable, "-S", "-E", str(program), str(info), script], {}, folder)
    pid = worker._process.pid
    try:
        yield worker
    finally:
        worker.close()
    with pytest.raises(ProcessLookupError):
        os.killpg(pid, 0)
    assert sorted(Path("/proc/self/fd").iterdir()) == before


def outcome(worker: Worker, request: bytes = REQUEST, limits: Limits = LIMITS) -> Ending | LostError | LateError:
    try:
        return worker.ask(request, limits)
    except (LostError, LateError) as error:
        return error


def told(
    magic: bytes = TOLD_MAGIC,
    ticket: bytes = TICKET,
    how: int = 0,
    locked: int = 1,
    status: int = 0,
    cpu_s: float = 0.5,
    peak_kib: int = 9000,
    frame: int = len(FRAME),
    output: int = len(OUTPUT),
) -> bytes:
    return TOLD.pack(magic, ticket, how, locked, status, cpu_s, peak_kib, frame, output) + FRAME + OUTPUT


def answered(folder: Path, data: bytes, then: str = "") -> Ending | LostError | LateError:
    (folder / "answer").write_bytes(data)
    with started(folder, f"say(GREETING); answer({str(folder / 'answer')!r}); {then}") as worker:
        return outcome(worker)


def test_what_the_fake_says_as_it_should_be_said_arrives(tmp_path):
    assert answered(tmp_path, told()) == Ending(0, True, 0, 0.5, 9000, FRAME, OUTPUT)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        told()[:1],
        told()[: TOLD.size - 1],
        told()[: TOLD.size],
        told()[:-1],
        told(magic=b"tld2"),
        told(ticket=b"another's ticket"),
        told(how=4),
        told(how=255),
        told(locked=2),
        told(status=0x7F),  # of a process that is stopped, not ended
        told(status=0xFFFF),
        told(status=-1),
        told(cpu_s=float("nan")),
        told(cpu_s=float("inf")),
        told(cpu_s=-1.0),
        told(frame=2**63),
        told(frame=2**64 - 1, output=2),
        told(frame=process.MAX_TOLD_BYTES + 1, output=0),
        told(frame=process.MAX_TOLD_BYTES, output=1),
        told(output=len(OUTPUT) + 1),
        REQUEST * 100,
    ],
)
def test_an_answer_that_is_none_means_that_the_worker_is_lost(tmp_path, data):
    assert isinstance(answered(tmp_path, data), LostError)


def test_memory_is_not_set_aside_for_what_is_only_announced(tmp_path):
    tracemalloc.start()
    try:
        assert isinstance(answered(tmp_path, told(frame=2**40)), LostError)
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("seed", range(6))
def test_an_answer_with_changed_bytes_is_an_ending_or_a_lost_worker(tmp_path, seed):
    chance = random.Random(seed)
    for _ in range(20):
        data = changed(chance)
        found = answered(tmp_path, data)
        assert isinstance(found, Ending | LostError), data
        if isinstance(found, Ending):
            assert len(found.frame) + len(found.output) <= len(data) - TOLD.size
            assert isinstance(judged(found), bytes | Fault | InfrastructureError)


def changed(chance: random.Random) -> bytes:
    data = bytearray(told())
    for _ in range(chance.choice((1, 1, 2, 4))):
        at = chance.choice((chance.randrange(TOLD.size), chance.randrange(len(data) or 1)))
        match chance.choice(("bit", "bit", "byte", "cut", "added", "lost")):
            case "bit" if at < len(data):
                data[at] ^= 1 << chance.randrange(8)
            case "byte" if at < len(data):
                data[at] = chance.randrange(256)
            case "cut":
                del data[at:]
            case "added":
                data[at:at] = chance.randbytes(chance.choice((1, 8, 1000)))
            case "lost":
                del data[at : at + chance.choice((1, 8))]
    return bytes(data)


def judged(ending: Ending) -> bytes | Fault | InfrastructureError:
    try:
        return endings.judge(ending, LIMITS)
    except InfrastructureError as error:
        return error


@pytest.mark.parametrize(
    "script",
    [
        "",
        "say(GREETING[:-1])",
        "say(b'x' * len(GREETING))",
        "say(GREETING.upper()); time.sleep(60)",
        "say(GREETING[:-1]); time.sleep(60)",
        "os.close(1); time.sleep(60)",
        "os.close(0); say(GREETING)",
        "say(GREETING); os.close(0); os.close(1); time.sleep(60)",
        "say(GREETING); os.kill(os.getpid(), 9)",
        "os.write(2, b'\\xff\\x1b[2J' * 1000)",
    ],
)
@pytest.mark.usefixtures("hurry")
def test_a_worker_that_does_not_greet_or_goes_away_is_lost(tmp_path, script):
    with started(tmp_path, script) as worker:
        found = outcome(worker, b"x" * 2**20)
    assert isinstance(found, LostError)
    assert len(str(found)) < 2 * process.KEPT_ERROR_BYTES


@pytest.mark.parametrize(
    "script",
    [
        "say(GREETING); time.sleep(60)",
        "say(GREETING); read(100); time.sleep(60)",
        "say(GREETING); read(100); os.close(1); time.sleep(60)",
        "say(GREETING); read(2**30); time.sleep(60)",
        "say(GREETING); say(bytes(2**30))",
        "say(GREETING); os.write(2, bytes(2**30)); time.sleep(60)",
        "say(GREETING); import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)",
        "say(GREETING); os.fork(); time.sleep(60)",
    ],
)
@pytest.mark.usefixtures("hurry")
def test_a_worker_that_does_not_answer_is_late(tmp_path, script):
    with started(tmp_path, script) as worker:
        assert isinstance(outcome(worker, b"x" * 2**20, Limits(wall_s=0.1)), LateError)


@pytest.mark.usefixtures("hurry")
def test_a_worker_that_answers_bit_by_bit_is_late(tmp_path):
    script = "say(GREETING); read(10)\nwhile True: say(b't'); time.sleep(0.02)"
    with started(tmp_path, script) as worker:
        assert isinstance(outcome(worker, limits=Limits(wall_s=0.1)), LateError)


def test_what_is_said_too_much_spoils_the_next_answer_and_no_other(tmp_path):
    (tmp_path / "answer").write_bytes(told() + b"more")
    again = f"answer({str(tmp_path / 'answer')!r}); " * 2
    with started(tmp_path, f"say(GREETING); {again}") as worker:
        assert isinstance(outcome(worker), Ending)
        assert isinstance(outcome(worker), LostError)
