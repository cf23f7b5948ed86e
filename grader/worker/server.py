"""The fork server: warm, without a student's code in it, one child for each request.

It alone holds the descriptors to the trusted process. A child writes to a pipe that only the server reads, and the
server says how the child ended. On the wire, little-endian, both ways over what were standard input and output:

    ask   magic, ticket, wall clock (s), CPU (s), memory (MiB), arrays in reply (MiB), length   then the request frame
    told  magic, the ask's ticket, ending, locked, wait status, CPU (s), peak memory (KiB), two lengths
                                                                             then the child's frame, then its output
"""

from __future__ import annotations

import fcntl
import gc
import importlib
import os
import resource
import select
import signal
import struct
import time
from dataclasses import dataclass, field

from . import child, loader, lockdown
from .walls import Walls

GREETING = b"hw3-worker/1 ready\n"
ASK = struct.Struct("<4s16sdIIIQ")
TOLD = struct.Struct("<4s16sBBidQQQ")
ASK_MAGIC, TOLD_MAGIC = b"ask1", b"tld1"

ENDED, WALL, OUTPUT, REPLY = 0, 1, 2, 3
"""How a child came to its end: by itself, or killed at the wall clock, for its output, or for too long a reply."""

MAX_OUTPUT_BYTES, KEPT_OUTPUT_BYTES = 8 * 1024 * 1024, 64 * 1024
REPLY_PIPE, MOST_FILES = 3, 1 << 20
MAX_HEADER_ROOM = 1 << 17
CHUNK = 1 << 20

WARM = ("numpy.random", "threading")
"""Loaded here once for all children; they would be loaded at their first use, which is in every child."""


@dataclass
class _Child:
    """A child and what it has said so far."""

    pid: int
    reply: int
    output: int
    said: bytearray = field(default_factory=bytearray)
    tail: bytes = b""
    printed: int = 0


def serve(folder: str, walls: Walls) -> None:
    """Answers requests one by one until there are no more.

    Args:
        folder: the student's package.
        walls: what must be put round this process and its children.
    """
    asks, tells = _take_over_standard_streams()
    for name in WARM:
        importlib.import_module(name)
    around = child.Surroundings(folder, loader.load_framework(folder), walls, os.getpid())
    walls.round_server()
    gc.collect()
    gc.freeze()
    _write(tells, GREETING)
    while head := _read(asks, ASK.size):
        magic, ticket, wall_s, cpu_s, memory_mib, reply_mib, length = ASK.unpack(head)
        if magic != ASK_MAGIC:
            raise ValueError(f"an ask begins with {magic!r}; expected {ASK_MAGIC!r}")
        request = _read(asks, length)
        born = _fork(request, lockdown.Limits(cpu_s, memory_mib, reply_mib), around)
        del request
        most = reply_mib * 2**20 + MAX_HEADER_ROOM
        ending, status, usage = _reap(born, *_attend(born, time.monotonic() + wall_s, most))
        is_locked = born.said[:1] == child.LOCKED
        frame = memoryview(born.said)[1:] if ending == ENDED and is_locked else memoryview(b"")
        cpu, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss
        _write(tells, TOLD.pack(TOLD_MAGIC, ticket, ending, is_locked, status, cpu, peak, len(frame), len(born.tail)))
        _write(tells, frame)
        _write(tells, born.tail)


def _take_over_standard_streams() -> tuple[int, int]:
    """The two descriptors to the trusted process, moved; standard input is now empty, standard output the error one."""
    asks, tells = (fcntl.fcntl(stream, fcntl.F_DUPFD_CLOEXEC, 16) for stream in (0, 1))
    empty, filler = os.pipe()
    os.close(filler)
    os.dup2(empty, 0)
    os.dup2(2, 1)
    for first, last in ((3, asks), (asks + 1, tells), (tells + 1, MOST_FILES)):
        os.closerange(first, last)
    return asks, tells


def _fork(request: bytes, limits: lockdown.Limits, around: child.Surroundings) -> _Child:
    reply_end, reply = os.pipe()
    output_end, output = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.dup2(output, 1)
            os.dup2(output, 2)
            os.dup2(reply, REPLY_PIPE)
            os.closerange(REPLY_PIPE + 1, MOST_FILES)
            child.become(request, REPLY_PIPE, limits, around)
        finally:
            os._exit(child.NOT_LOCKED)  # a child must never go on as a second server
    os.close(reply)
    os.close(output)
    return _Child(pid, reply_end, output_end)


def _attend(born: _Child, deadline: float, most: int) -> tuple[int, float]:
    """Collects what a child says until it closes its pipes, or must be killed; the ending so far, and the deadline.

    It must be killed at the deadline, when its reply has more than `most` bytes, or when it has printed too much.
    """
    poll = select.poll()
    pipes = {born.reply, born.output}
    for pipe in pipes:
        poll.register(pipe, select.POLLIN)
    ending = ENDED
    while pipes and ending == ENDED:
        events = poll.poll(max(0.0, deadline - time.monotonic()) * 1000)
        if not events:
            ending = WALL
        for pipe, _ in events:
            data = os.read(pipe, CHUNK)
            if not data:
                poll.unregister(pipe)
                pipes.discard(pipe)
            elif pipe == born.reply:
                born.said += data
            else:
                born.printed += len(data)
                born.tail = (born.tail + data)[-KEPT_OUTPUT_BYTES:]
        if len(born.said) > most:
            ending = REPLY
        if born.printed > MAX_OUTPUT_BYTES:
            ending = OUTPUT
    return ending, deadline


def _reap(born: _Child, ending: int, deadline: float) -> tuple[int, int, resource.struct_rusage]:
    """Sees a child to its end, by force where need be; ending, wait status, and what it used."""
    pause = 0.0001
    while ending == ENDED:
        pid, status, usage = os.wait4(born.pid, os.WNOHANG)
        if pid:
            break
        if time.monotonic() > deadline:
            ending = WALL
        time.sleep(pause)  # its pipes are closed: it is on its way out, or pretends to be
        pause = min(2 * pause, 0.01)
    else:
        os.kill(born.pid, signal.SIGKILL)
        _, status, usage = os.wait4(born.pid, 0)
    os.close(born.reply)
    os.close(born.output)
    return ending, status, usage


def _read(descriptor: int, length: int) -> bytes:
    """Exactly `length` bytes, or none at the end of the input."""
    data = bytearray()
    while len(data) < length:
        more = os.read(descriptor, min(CHUNK, length - len(data)))
        if not more:
            return b""
        data += more
    return bytes(data)


def _write(descriptor: int, data: bytes | memoryview) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
