"""What the end of a child is called, and on which side it lands: the submission's, or the machine's."""

import signal

import pytest

from grader.case import Fault, FaultKind, Limits
from grader.errors import InfrastructureError
from grader.sandbox import endings
from grader.sandbox.process import Ending
from grader.worker import lockdown

LIMITS = Limits(wall_s=20, cpu_s=10, memory_mib=512)


def ended(status: int = 0, **fields: object) -> Ending:
    usual = {"how": endings.BY_ITSELF, "locked": True, "cpu_s": 0.1, "peak_kib": 30_000, "frame": b"", "output": b""}
    return Ending(status=status, **{**usual, **fields})


@pytest.mark.parametrize(
    ("ending", "fault"),
    [
        (ended(signal.SIGSEGV), Fault(FaultKind.DIED, "the program was killed by SIGSEGV")),
        (ended(signal.SIGABRT), Fault(FaultKind.DIED, "the program was killed by SIGABRT")),
        (ended(signal.SIGSYS), Fault(FaultKind.DIED, "the program was killed by SIGSYS")),
        (ended(signal.SIGXCPU), Fault(FaultKind.TIMEOUT, "time limit 10 s (20 s on the clock)")),
        (ended(signal.SIGKILL, cpu_s=11.0), Fault(FaultKind.TIMEOUT, "time limit 10 s (20 s on the clock)")),
        (ended(signal.SIGKILL, how=endings.WALL), Fault(FaultKind.TIMEOUT, "time limit 10 s (20 s on the clock)")),
        (ended(signal.SIGKILL, peak_kib=500 * 1024), Fault(FaultKind.MEMORY, "memory limit 512 MiB")),
        (ended(endings.OUT_OF_MEMORY << 8), Fault(FaultKind.MEMORY, "memory limit 512 MiB")),
        (ended(signal.SIGXFSZ), Fault(FaultKind.OUTPUT, "file size limit 16 MiB")),
        (ended(signal.SIGKILL, how=endings.OUTPUT), Fault(FaultKind.OUTPUT, "printed more than 8 MiB")),
    ],
)
def test_what_a_submission_does_is_its_fault_and_names_the_limit(ending, fault):
    assert endings.judge(ending, LIMITS) == fault


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_that_no_submission_can_send_is_the_machines_fault(number):
    with pytest.raises(InfrastructureError, match=f"ended by {number.name}, which no submission can send"):
        endings.judge(ended(number), LIMITS)


def test_a_kill_for_want_of_memory_below_the_limit_is_the_machines_fault():
    with pytest.raises(InfrastructureError, match=r"killed at 30000 KiB of 512 MiB allowed.*--jobs"):
        endings.judge(ended(signal.SIGKILL), LIMITS)


def test_a_child_that_was_not_locked_in_is_the_machines_fault_whatever_it_says():
    with pytest.raises(InfrastructureError, match="could not lock itself in"):
        endings.judge(ended(locked=False, frame=b"anything"), LIMITS)


@pytest.mark.parametrize(
    ("mib", "words"), [(1024, "memory limit 1 GiB"), (4096, "memory limit 4 GiB"), (300, "memory limit 300 MiB")]
)
def test_a_memory_limit_is_told_in_whole_units(mib, words):
    assert Limits(memory_mib=mib).memory_text == words


def test_the_limits_that_are_told_are_those_that_the_worker_sets():
    assert (endings.OPEN_FILES, endings.FILE_MIB * 1024 * 1024) == (lockdown.OPEN_FILES, lockdown.FILE_BYTES)
