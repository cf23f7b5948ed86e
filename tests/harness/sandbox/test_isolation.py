"""What student code cannot reach. Each attempt runs in the very place where a submission would."""

import os
from pathlib import Path

import numpy as np
import pytest

import grader
from grader.case import Call, Case, Fault, Limits, Status
from grader.student import Student

GRADER = Path(grader.__file__).resolve().parent
ATTEMPTS = {
    "torch": "import torch",
    "the grader's packages": "import msgspec",
    "the grader itself": "import grader",
    "the solution": "import solution",
    "pip": "import pip",
    "the grader's files": f"open({str(GRADER / 'case.py')!r})",
    "the checks": f"os.listdir({str(GRADER / 'checks')!r})",
    "the reference solution": f"open({str(GRADER.parent / 'solution' / 'nn.py')!r})",
    "shadow": "open('/etc/shadow')",
    "passwd": "open('/etc/passwd')",
    "root's folder": "os.listdir('/root/.ssh')",
    "processes": "os.listdir('/proc')",
    "devices": "os.listdir('/dev')",
    "a shell": "os.execv('/bin/sh', ['sh'])",
    "a subprocess": "subprocess.run(['/python/bin/python', '-c', ''])",
    "fork": "os._exit(0) if os.fork() == 0 else None",
    "vfork and spawn": "os.posix_spawn('/python/bin/python', ['python'], {})",
    "TCP": "socket.create_connection(('127.0.0.1', 80), 1)",
    "UDP": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
    "a Unix socket": "socket.socket(socket.AF_UNIX)",
    "a pair of sockets": "socket.socketpair()",
    "netlink": "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
    "vsock": "socket.socket(40, socket.SOCK_STREAM)",
    "a memory file": "os.memfd_create('x')",
    "writing beside itself": "open(__file__ + '.txt', 'w')",
    "writing over itself": "open(__file__, 'w')",
    "writing over the framework": "open('/submission/assignment/framework/tensor.py', 'w')",
    "writing over the worker": "open('/harness/worker/main.py', 'a')",
    "writing to the root": "open('/left', 'w')",
    "a folder in /tmp": "os.makedirs('/tmp/left')",
    "a temporary file": "tempfile.NamedTemporaryFile()",
    "writing over site-packages": "open(os.__file__.replace('os.py', 'site-packages/x.py'), 'w')",
    "killing the server": "os.kill(os.getppid(), 9)",
    "killing all": "os.kill(-1, 9)",
    "another signal to itself": "signal.raise_signal(signal.SIGTERM)",
    "a lock": "fcntl.flock(0, fcntl.LOCK_EX)",
    "a record lock": "fcntl.lockf(1, fcntl.LOCK_EX)",
    "a lease": "fcntl.fcntl(0, fcntl.F_SETLEASE, 0)",
    "its own limits": "resource.setrlimit(resource.RLIMIT_CPU, (0, 0))",
    "the server's limits": "resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE)",
    "pushing input into a terminal": "fcntl.ioctl(0, 0x5412, b'x')",
    "its processor affinity": "os.sched_setaffinity(0, {0})",
    "a change of user": "os.setuid(0)",
    "a new root": "os.chroot('/')",
}
CALLS = {
    "ptrace": (101, 0),
    "unshare": (272, 0x10000000),
    "mount": (165, 0),
    "io_uring_setup": (425, 8),
    "keyctl": (250, 0),
    "tgkill of the server": (234, 1, 1, 6),
    "shmget": (29, 0, 4096, 0o600),
    "perf_event_open": (298, 0),
    "bpf": (321, 0),
    "userfaultfd": (323, 0),
    "setns": (308, 0),
    "process_vm_readv": (310, 1),
    "prctl": (157, 38, 1, 0, 0, 0),
    "seccomp": (317, 1),
    "clone of a process": (56, 17, 0, 0, 0, 0),
    "clone into a namespace": (56, 0x10010000, 0, 0, 0, 0),
    "clone3": (435, 0, 0),
    "pidfd_open": (434, 1, 0),
    "personality": (135, 0),
    "memfd_secret": (447, 0),
}
OBSERVE = """
def variables(): return say(*sorted(os.environ))
def root(): return say(*sorted(os.listdir("/")))
def paths(): return say(*sys.path)
def siblings():
    places = [os.path.dirname(os.__file__) + name for name in ("/site-packages", "/dist-packages")]
    return say(*(name for place in places if os.path.isdir(place) for name in os.listdir(place)))
def say(*words):
    print(*words)
    return np.ones(1)
def limits():
    kinds = resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE
    return np.array([resource.getrlimit(kind) for kind in kinds])
def descriptors(): return np.array([number for number in range(64) if os.path.exists(number)])
def user(): return np.array([os.getuid(), os.getgid(), os.geteuid()])
def thread():
    done = []
    started = threading.Thread(target=done.append, args=(1,))
    started.start()
    started.join()
    return np.array(done)
"""


def _source() -> str:
    lines = [
        "import ctypes, fcntl, os, resource, signal, socket, subprocess, sys, tempfile, threading",
        "import numpy as np",
    ]
    for number, statement in enumerate(ATTEMPTS.values()):
        lines += [f"def attempt_{number}():", f"    {statement}", "    return np.ones(1)"]
    for number, arguments in enumerate(CALLS.values()):
        lines += [f"def call_{number}():", f"    result = ctypes.CDLL(None, use_errno=True).syscall{arguments}"]
        lines += ["    return np.array([result, ctypes.get_errno()])"]
    return "\n".join([*lines, OBSERVE])


@pytest.fixture(scope="module")
def prisoner(sandbox):
    with sandbox.open({"nn.py": _source().encode()}) as session:
        yield session


@pytest.fixture
def in_namespaces(sandbox):
    """For what Landlock cannot give: it refuses, and hides nothing."""
    if sandbox.letter != "A":
        pytest.skip("without namespaces the file system is refused, not replaced")


@pytest.fixture
def ask(prisoner):
    """The array that a function returned."""

    def ask_one(name: str) -> np.ndarray:
        answers = Student(prisoner).run([Case(f"nn.{name}", (Call({}),))], Limits())
        assert not isinstance(answers, Fault), answers
        assert answers[0].calls[0].status is Status.OK, answers[0].calls[0].trouble
        return answers[0].arrays["0.out"]

    return ask_one


@pytest.mark.parametrize("number", range(len(ATTEMPTS)), ids=list(ATTEMPTS))
def test_student_code_is_refused(prisoner, call, number):
    outcome = call(prisoner, f"attempt_{number}")
    assert not isinstance(outcome, Fault), outcome
    assert outcome.status is Status.RAISED
    expected = {
        "FileNotFoundError",
        "PermissionError",
        "ModuleNotFoundError",
        "OSError",
        "ValueError",
    }  # the last: Python's word for EPERM of setrlimit
    assert outcome.trouble.kind in expected, outcome.trouble


@pytest.mark.parametrize("number", range(len(CALLS)), ids=list(CALLS))
def test_the_kernel_refuses_the_system_call(ask, number):
    result, error = ask(f"call_{number}")
    assert result == -1
    assert os.strerror(int(error)) in {"Operation not permitted", "Function not implemented"}


def test_the_environment_holds_only_what_the_grader_put_there(sandbox, prisoner, ask):
    ask("variables")
    own = {"LC_ALL", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PYTHONHASHSEED"}
    inside = {"LD_LIBRARY_PATH", "PWD", "PYTHONHOME"} if sandbox.letter == "A" else set()
    assert set(prisoner.output.decode().split()) == own | inside


@pytest.mark.usefixtures("in_namespaces")
def test_the_root_holds_only_what_the_grader_put_there(prisoner, ask):
    ask("root")
    assert prisoner.output.decode().split() == ["harness", "lib64", "libraries", "packages", "python", "submission"]


def test_every_limit_is_set_soft_and_hard(ask):
    gibibyte = 2**30
    expected = [[gibibyte, gibibyte], [10, 11], [64, 64], [2**24, 2**24], [0, 0]]
    assert ask("limits").tolist() == expected


def test_a_child_holds_no_descriptor_but_its_own_pipes(ask):
    assert ask("descriptors").tolist() == [0, 1, 2, 3]


@pytest.mark.usefixtures("in_namespaces")
def test_a_child_is_nobody(ask):
    assert ask("user").tolist() == [65534, 65534, 65534]


def test_no_thread_can_be_started(prisoner, call):
    assert call(prisoner, "thread").trouble.text == "can't start new thread"


def test_the_submission_is_on_no_search_path(prisoner, ask):
    ask("paths")
    assert not [path for path in prisoner.output.decode().split() if "submission" in path]


@pytest.mark.usefixtures("in_namespaces")
def test_the_interpreters_own_packages_are_masked(prisoner, ask):
    ask("siblings")
    assert prisoner.output.decode().split() == []
