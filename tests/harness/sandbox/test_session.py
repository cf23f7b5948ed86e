"""What becomes of a request that misbehaves, and that the next one of the same session is none the worse."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from grader.case import Call, Case, Fault, FaultKind, Limits, Status
from grader.errors import InfrastructureError
from grader.protocol import encode_request
from grader.sandbox import addresses, process
from grader.student import Student

SHORT = Limits(wall_s=0.7, cpu_s=10)

REPLY = "MAX = 3\ndef say(data):\n    os.write(MAX, data)\n"
SOURCE = f"""
import atexit, os, resource, signal, sys, time
import numpy as np
{REPLY}
def works():
    return np.ones(1)

def hang():
    while True:
        time.sleep(1)

def ignore():
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    while True:
        pass

def catch():
    while True:
        try:
            hang()
        except BaseException:
            pass

def close_and_hang():
    os.close(1), os.close(2), os.close(3)
    hang()

def allocate():
    return np.ones(10 * 2**30 // 8)

def allocate_slowly():
    kept = []
    while True:
        kept.append(np.ones(2**20))

def flood():
    while True:
        os.write(1, b"x" * 65536)

def leave():
    os._exit(0)

def leave_71():
    os._exit(71)

def system_exit():
    sys.exit(0)

def interrupt():
    raise KeyboardInterrupt

def abort():
    os.abort()

def crash():
    import ctypes
    ctypes.string_at(0)

def recurse():
    return recurse()

def recurse_without_limit():
    sys.setrecursionlimit(10**9)
    class Nested:
        def __repr__(self):
            return repr([self])
    return repr(Nested())

def second_frame():
    say(b"\\x02\\x00\\x00\\x00{{}}")
    return np.ones(1)

def forged():
    import gc
    frame = b'{{"nonce":"' + b"0" * 32 + b'","answers":[{{"status":"ok","calls":[{{"status":"ok"}}],'
    frame += b'"absent":[],"surplus":[],"reshaped":[]}}],"words":[],"arrays":[]}}'
    say(len(frame).to_bytes(4, "little") + frame)
    os._exit(0)

def endless_frame():
    while True:
        say(b"x" * 65536)

def rubbish():
    say(b"\\xff" * 100)
    os._exit(0)

def huge():
    return np.ones(2**23 + 1)

def at_exit():
    atexit.register(print, "ran at exit")
    return np.ones(1)

class Error(Exception):
    def __str__(self):
        raise SystemExit("no")

def evil_text():
    raise Error

def long_text():
    raise ValueError("x" * 10**7)

class Base(BaseException):
    pass

def base():
    raise Base("\\x1b[2J \\ud800 at 0x7fffdeadbeef \\u202e <b>=cmd")

def stub():
    raise NotImplementedError("Problem 1: f is not written yet")

def evil_names():
    made_up = "(_ for _ in ()).throw(type('=cmd', (Exception,), dict())('x'))"
    eval(compile(made_up, "/submission/assignment/=cmd.py", "eval"))

def replaced():
    os._exit = os.write = sys.exit = None
    np.allclose = np.array_equal = lambda *_, **__: True
    sys.modules.clear()
    return np.ones(1)

def count():
    works.calls = getattr(works, "calls", 0) + 1
    return np.array([works.calls])
"""


@pytest.fixture(scope="module")
def student(sandbox):
    with sandbox.open({"nn.py": SOURCE.encode()}) as session:
        yield session


@pytest.mark.parametrize(
    ("name", "limits", "kind", "text"),
    [
        ("hang", SHORT, FaultKind.TIMEOUT, "time limit 10 s (0.7 s on the clock)"),
        ("catch", SHORT, FaultKind.TIMEOUT, "time limit 10 s (0.7 s on the clock)"),
        ("ignore", SHORT, FaultKind.TIMEOUT, "time limit 10 s (0.7 s on the clock)"),
        ("close_and_hang", SHORT, FaultKind.TIMEOUT, "time limit 10 s (0.7 s on the clock)"),
        ("ignore", Limits(wall_s=20, cpu_s=1), FaultKind.TIMEOUT, "time limit 1 s (20 s on the clock)"),
        ("flood", Limits(), FaultKind.OUTPUT, "printed more than 8 MiB"),
        ("leave", Limits(), FaultKind.DIED, "the program ended itself with exit status 0 before it had answered"),
        ("leave_71", Limits(), FaultKind.DIED, "the program ended itself with exit status 71 before it had answered"),
        ("abort", Limits(), FaultKind.DIED, "the program was killed by SIGABRT"),
        ("crash", Limits(), FaultKind.DIED, "the program was killed by SIGSEGV"),
        ("recurse_without_limit", Limits(), FaultKind.DIED, "the program was killed by SIGSEGV"),
        ("endless_frame", Limits(), FaultKind.PROTOCOL, "an answer of more than 64 MiB"),
        ("endless_frame", Limits(reply_mib=96), FaultKind.PROTOCOL, "an answer of more than 96 MiB"),
    ],
)  # fmt: skip
def test_a_request_that_fails_as_a_whole_gives_its_fault_and_spares_the_next(student, call, name, limits, kind, text):
    assert call(student, name, limits) == Fault(kind, text)
    assert call(student, "works").status is Status.OK


@pytest.mark.parametrize("name", ["second_frame", "forged", "rubbish"])
def test_what_is_no_single_valid_frame_is_a_protocol_fault(student, call, name):
    fault = call(student, name)
    assert fault.kind is FaultKind.PROTOCOL
    assert call(student, "works").status is Status.OK


def test_a_frame_with_a_made_up_nonce_is_known_by_its_nonce(student, call):
    assert call(student, "forged") == Fault(
        FaultKind.PROTOCOL, "what came back is no answer: the nonce is that of another request"
    )


@pytest.mark.parametrize(
    ("name", "status", "kind"),
    [
        ("allocate", Status.MEMORY, "MemoryError"),
        ("allocate_slowly", Status.MEMORY, "MemoryError"),
        ("system_exit", Status.RAISED, "SystemExit"),
        ("interrupt", Status.RAISED, "KeyboardInterrupt"),
        ("recurse", Status.RAISED, "RecursionError"),
        ("evil_text", Status.RAISED, "Error"),
        ("long_text", Status.RAISED, "ValueError"),
        ("base", Status.RAISED, "Base"),
        ("stub", Status.UNWRITTEN, "NotImplementedError"),
    ],
)
def test_whatever_is_raised_is_a_status_with_a_place(student, call, name, status, kind):
    outcome = call(student, name, Limits(memory_mib=300))
    assert outcome.status is status
    assert (outcome.trouble.kind, outcome.trouble.file) == (kind, "nn.py")
    assert SOURCE.splitlines()[outcome.trouble.line - 1].strip() == outcome.trouble.source
    assert call(student, "works").status is Status.OK


def test_text_arrives_capped_printable_and_without_addresses(student, call):
    assert call(student, "long_text").trouble.text == "x" * 999 + "…"
    assert call(student, "base").trouble.text == "[2J ? at 0x… <b>=cmd"


def test_where_things_lie_in_memory_is_the_same_in_every_session(open_session, call):
    with addresses.alike() as is_granted:
        pass
    if not is_granted:
        pytest.skip("this container refuses the system call personality")
    source = (
        "import numpy as np\ndef f():\n    raise ValueError([id(object()), np.ones(9).ctypes.data, id(np.ones(10**6))])"
    )
    first, second = (call(open_session(source)).trouble.text for _ in range(2))
    assert first == second
    assert first.count(", ") == 2


def test_the_graders_own_layout_stays_a_matter_of_chance():
    before = addresses._personality(addresses.ASK)
    with addresses.alike():
        pass
    assert addresses._personality(addresses.ASK) == before


def test_names_that_a_submission_made_up_do_not_arrive(student, call):
    trouble = call(student, "evil_names").trouble
    assert (trouble.kind, trouble.file, trouble.text) == ("Exception", "nn.py", "x")


def test_an_answer_too_large_to_send_is_a_bad_value(student, call):
    assert call(student, "huge").status is Status.BAD_VALUE


def test_replacing_what_python_gives_changes_nothing_but_ones_own_answer(student, call):
    assert call(student, "replaced").status is Status.OK
    assert call(student, "works").status is Status.OK


def test_nothing_runs_after_the_answer(student, call):
    assert call(student, "at_exit").status is Status.OK
    assert student.output == b""


def test_each_request_begins_afresh(student):
    for _ in range(2):
        case = Case("nn.count", (Call({}), Call({})))
        (answer,) = Student(student).run([case], Limits())
        assert [answer.arrays["0.out"].item(), answer.arrays["1.out"].item()] == [1, 2]


def test_a_file_that_never_finishes_loading_is_a_timeout(open_session, call):
    session = open_session("while True: pass")
    assert call(session, "f", SHORT) == Fault(FaultKind.TIMEOUT, "time limit 10 s (0.7 s on the clock)")


def test_a_worker_that_stopped_answering_is_replaced(open_session, call, monkeypatch):
    monkeypatch.setattr(process, "GRACE_S", 0.2)
    session = open_session("import numpy\ndef f(): return numpy.ones(1)")
    assert call(session).status is Status.OK
    _stop(session)
    with pytest.raises(InfrastructureError, match="is this machine overloaded"):
        call(session, limits=Limits(wall_s=0.1))
    assert call(session).status is Status.OK


def test_a_request_that_is_none_is_the_graders_fault_and_not_the_submissions(open_session):
    session = open_session("")
    with pytest.raises(InfrastructureError, match="or the request is not one"):
        session.exchange(b"\x02\0\0\0{}", Limits())


def test_a_worker_that_was_killed_is_the_machines_fault_and_is_replaced(open_session, call):
    session = open_session("import numpy\ndef f(): return numpy.ones(1)")
    assert call(session).status is Status.OK
    _kill(session)
    with pytest.raises(InfrastructureError, match="a sandbox was lost"):
        call(session)
    assert call(session).status is Status.OK


def test_a_request_of_many_cases_answers_each_in_order(student):
    cases = [Case(f"nn.{name}", (Call({}),)) for name in ("works", "stub", "nothing", "works")]
    answers = Student(student).run(cases, Limits())
    assert [answer.status for answer in answers] == [Status.OK, Status.OK, Status.MISSING, Status.OK]
    assert [answer.calls[0].status for answer in answers if answer.calls] == [Status.OK, Status.UNWRITTEN, Status.OK]


def test_a_session_leaves_no_process_and_no_folder(open_session, call):
    session = open_session("import numpy\ndef f(): return numpy.ones(1)")
    assert call(session).status is Status.OK
    folder = session.folder
    assert _processes(folder)
    session.close()
    assert not _processes(folder)
    assert not folder.exists()
    assert not _zombies()


def test_a_session_closed_before_it_was_ready_leaves_no_process(open_session):
    session = open_session("")
    folder = session.folder
    session.close()
    assert not _processes(folder)
    assert not _zombies()


def test_a_killed_grader_leaves_no_process_and_no_file(sandbox):
    choice = {"A": "bwrap", "B": "landlock"}[sandbox.letter]
    program = (
        "import os, sys\n"
        "from grader.case import Call, Case, Limits\n"
        "from grader.sandbox import probe\n"
        "from grader.student import Student\n"
        f"session = probe('{choice}').open({{'nn.py': b'def f():\\n    while True: pass'}})\n"
        "Student(session).run([Case('nn.none', (Call({}),))], Limits())\n"
        "print(session.folder, flush=True)\n"
        "Student(session).run([Case('nn.f', (Call({}),))], Limits(wall_s=60, cpu_s=60))\n"
    )
    grader = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    folder = Path(grader.stdout.readline().strip())
    handles = [os.pidfd_open(number) for number in _processes(folder.parent)]
    assert folder.is_dir()
    assert len(handles) >= 2  # the server, and what removes the folder
    grader.kill()
    grader.wait()
    grader.stdout.close()
    for handle in handles:
        assert select.select([handle], [], [], 10)[0], "a process of the sandbox outlived the grader"
        with contextlib.suppress(ChildProcessError):
            os.waitid(os.P_PIDFD, handle, os.WEXITED)  # this process adopts orphans, too
        os.close(handle)
    assert not folder.parent.exists()


def test_a_worker_has_no_capability_even_where_root_grades(open_session, call):
    session = open_session("import numpy\ndef f(): return numpy.ones(1)")
    assert call(session).status is Status.OK
    status = Path(f"/proc/{_inner(session)}/status").read_text()
    held = {line.split()[0]: int(line.split()[1], 16) for line in status.splitlines() if line.startswith("Cap")}
    assert held["CapEff:"] == held["CapPrm:"] == held["CapInh:"] == held["CapAmb:"] == 0


def test_what_a_request_used_is_counted(open_session, call):
    session = open_session("import numpy\ndef f(): return numpy.ones(1)")
    call(session)
    call(session)
    assert session.usage.requests == 2
    assert session.usage.cpu_s > 0
    assert session.usage.peak_kib > 10_000


def test_frames_may_be_exchanged_without_being_read(student):
    frame = student.exchange(encode_request([Case("nn.works", (Call({}),))], "n"), Limits())
    header = json.loads(frame[4 : 4 + int.from_bytes(frame[:4], "little")])
    assert header["nonce"] == "n"


def _processes(folder: Path) -> list[int]:
    """Every process that was started on the staged folder, zombies and what runs inside included."""
    named = [entry for entry in Path("/proc").glob("[0-9]*") if _is_about(entry, folder)]
    return [int(entry.name) for entry in named]


def _is_about(entry: Path, folder: Path) -> bool:
    try:
        return str(folder).encode() in (entry / "cmdline").read_bytes() + (entry / "mountinfo").read_bytes()
    except OSError:
        return False


def _zombies() -> list[str]:
    """Children of this process that have ended and that nobody waited for."""
    children = [entry.read_text() for entry in Path("/proc").glob("[0-9]*/stat")]
    ours = [line for line in children if line.rsplit(")")[-1].split()[1] == str(os.getpid())]
    return [line for line in ours if line.rsplit(")")[-1].split()[0] == "Z"]


def _inner(session) -> int:
    """The fork server: the process inside whose parent is bwrap, or the only one where there is no bwrap."""
    numbers = _processes(session.folder)
    parents = {n: int((Path("/proc") / str(n) / "stat").read_text().rsplit(")")[-1].split()[1]) for n in numbers}
    return next((number for number in numbers if parents[number] in numbers), numbers[0])


def _stop(session) -> None:
    os.kill(_inner(session), signal.SIGSTOP)


def _kill(session) -> None:
    os.kill(_inner(session), signal.SIGKILL)
