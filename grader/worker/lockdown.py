"""How a process gives up its rights: resource limits, and a seccomp allow-list that it cannot undo.

Each function raises `LockdownError` when a step cannot be taken or has no effect; the caller then ends before any
student code is loaded.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import socket
import struct
import sys
from dataclasses import dataclass

from . import filters

PR_SET_PDEATHSIG, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, PR_SET_NO_NEW_PRIVS = 1, 22, 2, 38
CAPSET, CAPABILITY_VERSION_3 = 126, 0x20080522

_LIBC = ctypes.CDLL(None, use_errno=True)

OPEN_FILES, FILE_BYTES = 64, 16 * 1024 * 1024


class LockdownError(Exception):
    """A limit could not be set: nothing of a student may run in this process."""


class _Filter(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


@dataclass(frozen=True)
class Limits:
    """What one request may use: the kernel counts the first two, the arrays in its reply are counted here."""

    cpu_s: int
    memory_mib: int
    reply_mib: int = 64


def limit(limits: Limits, *, gpu: bool = False) -> None:
    """Sets this process's resource limits, soft and hard; the CPU limit warns by SIGXCPU and kills a second later.

    Memory is limited by addresses, the strictest that the kernel counts; but a GPU's driver reserves far more of them
    than it uses, so there by what can be written.
    """
    memory = limits.memory_mib * 1024 * 1024
    wanted = [
        (resource.RLIMIT_CPU, (limits.cpu_s, limits.cpu_s + 1)),
        (resource.RLIMIT_NOFILE, (OPEN_FILES, OPEN_FILES)),
        (resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES)),
        (resource.RLIMIT_CORE, (0, 0)),
        (resource.RLIMIT_DATA if gpu else resource.RLIMIT_AS, (memory, memory)),
    ]
    for kind, pair in wanted:
        try:
            resource.setrlimit(kind, pair)
        except (OSError, ValueError) as error:
            if sys.platform == "linux":
                raise LockdownError(f"resource limit {kind} could not be set to {pair}: {error}") from error


def die_with_parent() -> None:
    """Has the kernel kill this process when the one that started it ends, however that ends."""
    if sys.platform == "linux":
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def forbid_new_privileges() -> None:
    """No program started from here has more rights than this process: what the kernel wants before a restriction."""
    _prctl(PR_SET_NO_NEW_PRIVS, 1)


def drop_capabilities() -> None:
    """Root's rights over others' files, processes and settings go; what its user id owns remains."""
    header = struct.pack("<Ii", CAPABILITY_VERSION_3, 0)
    if _LIBC.syscall(CAPSET, header, bytes(24)) != 0:  # effective, permitted and inheritable, 64 bits each: none
        raise LockdownError(f"capabilities could not be dropped: {os.strerror(ctypes.get_errno())}")


def restrict_server(*, gpu: bool = False) -> None:
    """Leaves the fork server what it needs; for good, and for all that it starts."""
    _install(filters.server(gpu=gpu))


def restrict_child(*, gpu: bool = False) -> None:
    """Leaves student code what it needs; for good."""
    _install(filters.child(os.getpid(), gpu=gpu))
    try:
        os.kill(os.getpid(), 0)
    except PermissionError:
        return
    raise LockdownError("the seccomp filter of a child is installed, but kill(2) is still allowed")


def _install(program: bytes) -> None:
    """Takes a seccomp filter, which cannot be undone, and makes sure that it works."""
    if sys.platform != "linux" or os.uname().machine != "x86_64" or sys.maxsize < 2**32:
        raise LockdownError(f"no list of system calls for {sys.platform} on {os.uname().machine}: only Linux on x86_64")
    count = len(program) // filters.INSTRUCTION.size
    forbid_new_privileges()
    _prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(_Filter(count, program)))
    try:
        socket.socket(socket.AF_UNIX).close()
    except PermissionError:
        return
    raise LockdownError("the seccomp filter is installed, but socket(2) is still allowed")


def _prctl(option: int, *arguments: object) -> None:
    if _LIBC.prctl(option, *arguments, *([0] * (4 - len(arguments)))) != 0:
        reason = os.strerror(ctypes.get_errno())
        raise LockdownError(f"prctl({option}) failed: {reason}; Linux with seccomp filters is needed")
