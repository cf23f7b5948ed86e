"""The two seccomp filters, as programs for the kernel: an allow-list, on one architecture; all else answers EPERM.

Source: seccomp(2), and Linux's Documentation/userspace-api/seccomp_filter.rst.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterable

from . import syscalls

# Classic BPF, as far as it is needed: an instruction is (code, jump if true, jump if false, constant).
LOAD, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCHITECTURE = 0, 4  # offsets in struct seccomp_data; its arguments follow at 16, eight bytes each
ALLOW, KILL, REFUSE, UNKNOWN = 0x7FFF0000, 0x80000000, 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS

INSTRUCTION = struct.Struct("<HBBI")

Rules = list[tuple[int, int, int, int]]


def _filter(rules: Rules) -> bytes:
    """The whole program: `rules` for what differs, and what is the same for both."""
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
    return b"".join(INSTRUCTION.pack(*instruction) for instruction in program)


def _allow(numbers: Iterable[int]) -> Rules:
    rules: Rules = []
    for number in numbers:
        rules += [(JUMP_EQUAL, 0, 1, number), (RETURN, 0, 0, ALLOW)]
    return rules


def _when(number: int, block: Rules) -> Rules:
    """`block`, which ends in a RETURN, for this system call only."""
    return [(JUMP_EQUAL, 0, len(block), number), *block]


def _argument_in(index: int, values: tuple[int, ...]) -> Rules:
    """Allows when the argument's low half, which is all that the kernel reads of it, is one of the values."""
    block: Rules = [(LOAD, 0, 0, _low(index))]
    for value in values:
        block += [(JUMP_EQUAL, 0, 1, value), (RETURN, 0, 0, ALLOW)]
    return [*block, (RETURN, 0, 0, REFUSE)]


def _open() -> Rules:
    """Files are opened to be read: not written, made, emptied or appended to, whatever their owner could do."""
    rules: Rules = []
    for number, flags in ((syscalls.OPEN, 1), (syscalls.OPENAT, 2)):
        look = [(LOAD, 0, 0, _low(flags)), (JUMP_ANY_BIT, 0, 1, syscalls.WRITING), (RETURN, 0, 0, REFUSE)]
        rules += _when(number, [*look, (RETURN, 0, 0, ALLOW)])
    return rules


def _clone(*, fork: bool) -> Rules:
    """No new namespace; and unless `fork`, threads of this process only."""
    block: Rules = [
        (LOAD, 0, 0, _low(0)),
        (JUMP_ANY_BIT, 0, 1, syscalls.CLONE_NEW_NAMESPACES),
        (RETURN, 0, 0, REFUSE),
    ]
    if not fork:
        block += [(JUMP_ANY_BIT, 1, 0, syscalls.CLONE_THREAD), (RETURN, 0, 0, REFUSE)]
    return _when(syscalls.CLONE, [*block, (RETURN, 0, 0, ALLOW)])


def _prctl() -> Rules:
    return _when(syscalls.PRCTL, _argument_in(0, syscalls.SERVER_PRCTLS))


def _prlimit(*, may_set: bool) -> Rules:
    """Only on the caller itself (pid 0); and unless `may_set`, only to read (the pointer to new limits is null)."""
    must_be_zero = [_low(0)] if may_set else [_low(0), _low(2), _low(2) + 4]
    block: Rules = []
    for offset in must_be_zero:
        block += [(LOAD, 0, 0, offset), (JUMP_EQUAL, 1, 0, 0), (RETURN, 0, 0, REFUSE)]
    return _when(syscalls.PRLIMIT64, [*block, (RETURN, 0, 0, ALLOW)])


def _abort(process: int | None = None) -> Rules:
    """SIGABRT, to that process only: refused to itself, `abort` would end like a stray pointer, by SIGSEGV."""
    to_whom: Rules = [(LOAD, 0, 0, _low(0)), (JUMP_EQUAL, 1, 0, process), (RETURN, 0, 0, REFUSE)] if process else []
    return _when(syscalls.TGKILL, [*to_whom, *_argument_in(2, (syscalls.SIGABRT,))])


def _low(index: int) -> int:
    """Where the low half of an argument lies in struct seccomp_data, on a little-endian machine."""
    return 16 + 8 * index


_ANYONE: Rules = _allow(syscalls.X86_64.values())
_GPU: Rules = _allow([syscalls.OPEN, syscalls.OPENAT, syscalls.IOCTL, *syscalls.GPU_ONLY.values()])
"""What a GPU's driver is asked: its nodes are opened to be written, and its ioctls cannot be listed."""


def server(*, gpu: bool = False) -> bytes:
    """What NumPy needs; starting, ending and reaping children; and taking the other filter, which allows no more."""
    own = [*_allow(syscalls.SERVER_ONLY.values()), *_clone(fork=True), *_prctl(), *_prlimit(may_set=True), *_abort()]
    return _filter([*_ANYONE, *own, *(_GPU if gpu else _open())])


def child(process: int, *, gpu: bool = False) -> bytes:
    """What NumPy needs, for the process of that number: no other process, thread, socket, signal, limit or namespace.

    Threads are refused because no limit counts them: with small stacks a gibibyte holds more than a machine has numbers
    for. NumPy is told to use one.

    Args:
        process: itself, as it sees itself.
        gpu: and what a GPU's driver is asked; it starts threads.
    """
    own = [*_prlimit(may_set=False), *_abort(process)]
    return _filter([*_ANYONE, *own, *([*_clone(fork=False), *_GPU] if gpu else _open())])
