"""How a process gives up its rights: resource limits, and a seccomp allow-list that it cannot undo.

Each function raises `LockdownError` when a step cannot be taken or has no effect; the caller then ends before any
student code is loaded. Source: seccomp(2), and Linux's Documentation/userspace-api/seccomp_filter.rst.
"""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import socket
import struct
import sys
from collections.abc import Iterable
from dataclasses import dataclass

from . import syscalls

PR_SET_SECCOMP, SECCOMP_MODE_FILTER, PR_SET_NO_NEW_PRIVS = 22, 2, 38

# Classic BPF, as far as it is needed: an instruction is (code, jump if true, jump if false, constant).
LOAD, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCHITECTURE = 0, 4  # offsets in struct seccomp_data; its arguments follow at 16, eight bytes each
ALLOW, KILL, REFUSE, UNKNOWN = 0x7FFF0000, 0x80000000, 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS

Program = list[tuple[int, int, int, int]]

OPEN_FILES, FILE_BYTES = 64, 16 * 1024 * 1024


class LockdownError(Exception):
    """A limit could not be set: nothing of a student may run in this process."""


class _Filter(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


@dataclass(frozen=True)
class Limits:
    """What one request may use, of what the kernel counts."""

    cpu_s: int
    memory_mib: int


def limit(limits: Limits) -> None:
    """Sets this process's resource limits, soft and hard; the CPU limit warns by SIGXCPU and kills a second later."""
    memory = limits.memory_mib * 1024 * 1024
    wanted = [
        (resource.RLIMIT_CPU, (limits.cpu_s, limits.cpu_s + 1)),
        (resource.RLIMIT_NOFILE, (OPEN_FILES, OPEN_FILES)),
        (resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES)),
        (resource.RLIMIT_CORE, (0, 0)),
        (resource.RLIMIT_AS, (memory, memory)),
    ]
    for kind, pair in wanted:
        try:
            resource.setrlimit(kind, pair)
        except (OSError, ValueError) as error:
            if sys.platform == "linux":
                raise LockdownError(f"resource limit {kind} could not be set to {pair}: {error}") from error


def restrict_server() -> None:
    """Leaves the fork server what NumPy needs, and starting, ending and reaping children of its own."""
    allowed = {**syscalls.X86_64, **syscalls.SERVER_ONLY}
    _install([*_allow(allowed.values()), *_clone(fork=True), *_prctl(), *_prlimit(may_set=True)])


def restrict_child() -> None:
    """Leaves student code what NumPy needs: no process, socket, signal, limit or namespace."""
    _install([*_allow(syscalls.X86_64.values()), *_clone(fork=False), *_prlimit(may_set=False)])
    try:
        os.kill(os.getpid(), 0)
    except PermissionError:
        return
    raise LockdownError("the seccomp filter of a child is installed, but kill(2) is still allowed")


def _install(rules: Program) -> None:
    if sys.platform != "linux" or os.uname().machine != "x86_64" or sys.maxsize < 2**32:
        raise LockdownError(f"no list of system calls for {sys.platform} on {os.uname().machine}: only Linux on x86_64")
    program = [
        (LOAD, 0, 0, ARCHITECTURE),
        (JUMP_EQUAL, 1, 0, syscalls.AUDIT_ARCH_X86_64),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
        (JUMP_AT_LEAST, 0, 1, syscalls.X32_BIT),
        (RETURN, 0, 0, KILL),
        *rules,
        *_when(syscalls.IOCTL, _argument_in(1, syscalls.HARMLESS_IOCTLS)),
        *_when(syscalls.FCNTL, _argument_in(1, syscalls.HARMLESS_FCNTLS)),
        *_when(syscalls.CLONE3, [(RETURN, 0, 0, UNKNOWN)]),  # its flags lie in memory: libc then takes clone
        (RETURN, 0, 0, REFUSE),
    ]
    code = b"".join(struct.pack("<HBBI", *instruction) for instruction in program)
    libc = ctypes.CDLL(None, use_errno=True)
    for arguments in (
        (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
        (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(_Filter(len(program), code)), 0, 0),
    ):
        if libc.prctl(*arguments) != 0:
            reason = os.strerror(ctypes.get_errno())
            raise LockdownError(f"prctl({arguments[0]}) failed: {reason}; seccomp filters must be available")
    try:
        socket.socket(socket.AF_UNIX).close()
    except PermissionError:
        return
    raise LockdownError("the seccomp filter is installed, but socket(2) is still allowed")


def _allow(numbers: Iterable[int]) -> Program:
    rules: Program = []
    for number in numbers:
        rules += [(JUMP_EQUAL, 0, 1, number), (RETURN, 0, 0, ALLOW)]
    return rules


def _when(number: int, block: Program) -> Program:
    """`block`, which ends in a RETURN, for this system call only."""
    return [(JUMP_EQUAL, 0, len(block), number), *block]


def _argument_in(index: int, values: tuple[int, ...]) -> Program:
    """Allows when the argument's low half, which is all that the kernel reads of it, is one of the values."""
    block: Program = [(LOAD, 0, 0, _low(index))]
    for value in values:
        block += [(JUMP_EQUAL, 0, 1, value), (RETURN, 0, 0, ALLOW)]
    return [*block, (RETURN, 0, 0, REFUSE)]


def _clone(*, fork: bool) -> Program:
    """No new namespace; and unless `fork`, threads of this process only."""
    block: Program = [
        (LOAD, 0, 0, _low(0)),
        (JUMP_ANY_BIT, 0, 1, syscalls.CLONE_NEW_NAMESPACES),
        (RETURN, 0, 0, REFUSE),
    ]
    if not fork:
        block += [(JUMP_ANY_BIT, 1, 0, syscalls.CLONE_THREAD), (RETURN, 0, 0, REFUSE)]
    return _when(syscalls.CLONE, [*block, (RETURN, 0, 0, ALLOW)])


def _prctl() -> Program:
    return _when(syscalls.PRCTL, _argument_in(0, syscalls.SERVER_PRCTLS))


def _prlimit(*, may_set: bool) -> Program:
    """Only on the caller itself (pid 0); and unless `may_set`, only to read (the pointer to new limits is null)."""
    must_be_zero = [_low(0)] if may_set else [_low(0), _low(2), _low(2) + 4]
    block: Program = []
    for offset in must_be_zero:
        block += [(LOAD, 0, 0, offset), (JUMP_EQUAL, 1, 0, 0), (RETURN, 0, 0, REFUSE)]
    return _when(syscalls.PRLIMIT64, [*block, (RETURN, 0, 0, ALLOW)])


def _low(index: int) -> int:
    """Where the low half of an argument lies in struct seccomp_data, on a little-endian machine."""
    return 16 + 8 * index
