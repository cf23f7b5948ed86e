"""What the end of a request's child means: an answer to look at, the submission's fault, or the machine's."""

from __future__ import annotations

import os
import signal

from grader.case import Fault, FaultKind, Limits
from grader.errors import InfrastructureError

from .process import Ending

BY_ITSELF, WALL, OUTPUT, REPLY = 0, 1, 2, 3
OUT_OF_MEMORY = 72
"""`grader.worker.server` and `grader.worker.child` give these."""

OPEN_FILES, FILE_MIB = 64, 16
"""As `grader.worker.lockdown` sets them."""

FROM_OUTSIDE = frozenset({signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM})
"""No submission can send these, not even to itself: a closing terminal, a service manager or a person has."""

NEAR = 0.9
"""A child killed by the kernel with this much of its memory limit resident is taken to have run out of it."""


def judge(ending: Ending, limits: Limits) -> bytes | Fault:
    """The child's frame, not yet looked at, or why there is none.

    Raises:
        InfrastructureError: the child was not locked in, or was killed by none of its limits.
    """
    forced = {
        WALL: out_of_time(limits),
        OUTPUT: Fault(FaultKind.OUTPUT, "printed more than 8 MiB"),
        REPLY: Fault(FaultKind.PROTOCOL, f"an answer of more than {limits.reply_mib} MiB"),
    }
    if not ending.locked:
        raise InfrastructureError(f"a worker could not lock itself in, so nothing was run: {_words(ending.output)}")
    if ending.how in forced:
        return forced[ending.how]
    if os.WIFSIGNALED(ending.status):
        return _killed(os.WTERMSIG(ending.status), ending, limits)
    code = os.waitstatus_to_exitcode(ending.status)
    if code == OUT_OF_MEMORY:
        return Fault(FaultKind.MEMORY, limits.memory_text)
    if code != 0 or not ending.frame:
        return Fault(FaultKind.DIED, f"the program ended itself with exit status {code} before it had answered")
    return ending.frame


def out_of_time(limits: Limits) -> Fault:
    """The fault of a request that met one of the two clocks."""
    return Fault(FaultKind.TIMEOUT, limits.time_text)


def _killed(number: int, ending: Ending, limits: Limits) -> Fault:
    if number == signal.SIGXCPU or (number == signal.SIGKILL and ending.cpu_s >= limits.cpu_s):
        return out_of_time(limits)
    if number == signal.SIGKILL:
        # No submission can send this signal. The kernel does where the whole machine is short of memory.
        if ending.peak_kib < NEAR * limits.memory_mib * 1024:
            raise InfrastructureError(
                f"a worker was killed at {ending.peak_kib} KiB of {limits.memory_mib} MiB allowed; is this "
                "machine short of memory? Run fewer at a time (--jobs)"
            )
        return Fault(FaultKind.MEMORY, limits.memory_text)
    if number in FROM_OUTSIDE:
        raise InfrastructureError(
            f"a worker was ended by {_name(number)}, which no submission can send: something else on this machine "
            "stopped it; run again with --resume"
        )
    if number == signal.SIGXFSZ:
        return Fault(FaultKind.OUTPUT, f"file size limit {FILE_MIB} MiB")
    return Fault(FaultKind.DIED, f"the program was killed by {_name(number)}")


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _words(output: bytes) -> str:
    return output.decode("utf-8", "replace").strip() or "it said nothing"
