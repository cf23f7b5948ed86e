"""One running worker as seen from outside: started, asked, listened to within a time, and ended for certain."""

from __future__ import annotations

import contextlib
import math
import os
import re
import secrets
import select
import signal
import struct
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.case import Limits

from . import addresses
from .environment import compile_once
from .reaper import adopt_orphans, reap_group, reap_orphan

GREETING = b"hw3-worker/1 ready\n"
ASK = struct.Struct("<4s16sdIIIQ")
TOLD = struct.Struct("<4s16sBBidQQQ")
ASK_MAGIC, TOLD_MAGIC = b"ask1", b"tld1"
ENDINGS = range(4)
"""`grader.worker.server` describes them; they stand twice because the worker shares no code with the grader."""

START_S, GRACE_S, END_S = 60.0, 5.0, 10.0
"""How long a worker may take to start, to report a child that has reached its limit, and to die."""

ROOM_BYTES = 16 * 1024 * 1024
MAX_TOLD_BYTES = Limits.reply_mib * 2**20 + ROOM_BYTES
"""What a server can tell of a request with the usual limits: the arrays in its reply, and room for all else."""
KEPT_ERROR_BYTES = 4096


class LostError(Exception):
    """The worker itself ended or answered nonsense: the machine's or the grader's fault. Its text is for staff."""


class LateError(Exception):
    """The worker did not answer in time."""


@dataclass(frozen=True)
class Ending:
    """How one request's child ended, and what it left.

    Args:
        how: a constant of `grader.worker.server`: 0 by itself, 1 wall clock, 2 output, 3 reply too long.
        locked: the limits were in place, so student code may have run.
        status: as from waitpid.
        cpu_s: seconds of processor time.
        peak_kib: resident memory at its highest.
        frame: the reply, not yet looked at.
        output: the last of what it printed.
    """

    how: int
    locked: bool
    status: int
    cpu_s: float
    peak_kib: int
    frame: bytes
    output: bytes


class Worker:
    """A fork server in its sandbox. Must be closed, by the thread that made it (it dies with that thread)."""

    def __init__(self, command: Callable[[int], list[str]], environment: Mapping[str, str], folder: Path) -> None:
        """Starts it, without waiting until it is ready.

        Args:
            command: the command line, given the descriptor to which bwrap is to write the inner process's id.
            environment: of the process.
            folder: to start it in.
        """
        adopt_orphans()
        compile_once()
        self._info, info = os.pipe()
        self._inner: int | None = None
        try:
            with addresses.alike():
                self._process = subprocess.Popen(  # noqa: S603 - no shell, and every word of it is ours
                    command(info),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    bufsize=0,
                    env=dict(environment),
                    cwd=folder,
                    pass_fds=(info,),
                    start_new_session=True,
                )
        except BaseException:
            os.close(self._info)
            raise
        finally:
            os.close(info)
        self._asks, self._tells, self._errors = (
            stream.fileno() for stream in (self._process.stdin, self._process.stdout, self._process.stderr) if stream
        )
        for descriptor in (self._asks, self._tells, self._errors):
            os.set_blocking(descriptor, False)
        self._is_greeted = self._is_closed = False

    def ask(self, request: bytes, limits: Limits) -> Ending:
        """Has one request answered by a fresh child.

        Raises:
            LostError: the worker ended, or its answer is not one.
            LateError: no answer within the wall clock and some grace: close this worker.
        """
        self._await_greeting()
        ticket = secrets.token_bytes(16)
        deadline = time.monotonic() + limits.wall_s + GRACE_S
        counted = (limits.cpu_s, limits.memory_mib, limits.reply_mib)
        self._send(ASK.pack(ASK_MAGIC, ticket, limits.wall_s, *counted, len(request)), deadline)
        self._send(request, deadline)
        head = self._receive(TOLD.size, deadline)
        magic, back, how, locked, status, cpu_s, peak_kib, frame, output = TOLD.unpack(head)
        if magic != TOLD_MAGIC or back != ticket or frame + output > limits.reply_mib * 2**20 + ROOM_BYTES:
            raise LostError(
                f"the worker's answer begins with {head[:4]!r} or bears another ticket; expected {TOLD_MAGIC!r}"
            )
        is_an_end = os.WIFEXITED(status) or os.WIFSIGNALED(status)
        if how not in ENDINGS or locked > 1 or not is_an_end or not 0 <= cpu_s < math.inf:
            raise LostError(
                f"the worker tells of an end that no child comes to: {how}, {locked}, {status:#x}, {cpu_s:g} s"
            )
        return Ending(
            how=how,
            locked=locked == 1,
            status=status,
            cpu_s=cpu_s,
            peak_kib=peak_kib,
            frame=self._receive(frame, deadline),
            output=self._receive(output, deadline),
        )

    def _await_greeting(self) -> None:
        if self._is_greeted:
            return
        try:
            said = self._receive(len(GREETING), time.monotonic() + START_S)
        except LateError:
            raise LostError(f"the worker was not ready within {START_S:g} s; is this machine overloaded?") from None
        if said != GREETING:
            raise LostError(f"the worker greeted with {said!r}; expected {GREETING!r}")
        self._is_greeted = True
        self._note_inner()

    def _note_inner(self) -> None:
        """A handle of the process inside, taken only while its number is certain to be still its own."""
        if self._inner is not None or not _is_ready(self._info, select.POLLIN, END_S):
            return
        # Empty when there is no bwrap, or when it has failed; the number comes whole, the JSON round it may not.
        said = re.search(rb'"child-pid": (\d+)', os.read(self._info, 4096))
        has_waited_for_it = self._process.poll() is not None and self._process.returncode >= 0
        if said and not has_waited_for_it:
            with contextlib.suppress(ProcessLookupError):
                self._inner = os.pidfd_open(int(said[1]))

    def _send(self, data: bytes, deadline: float) -> None:
        rest = memoryview(data)
        while rest:
            self._wait(self._asks, select.POLLOUT, deadline)
            try:
                rest = rest[os.write(self._asks, rest[: 1 << 16]) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise LostError(self._last_words()) from None

    def _receive(self, length: int, deadline: float) -> bytes:
        data = bytearray()
        while len(data) < length:
            self._wait(self._tells, select.POLLIN, deadline)
            more = os.read(self._tells, length - len(data))
            if not more:
                raise LostError(self._last_words())
            data += more
        return bytes(data)

    def _wait(self, descriptor: int, event: int, deadline: float) -> None:
        if not _is_ready(descriptor, event, deadline - time.monotonic()):
            raise LateError

    def _last_words(self) -> str:
        """What the worker, or bwrap, wrote to its standard error, for staff."""
        said = b""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(END_S)
        with contextlib.suppress(BlockingIOError):
            said = os.read(self._errors, 1 << 16)[-KEPT_ERROR_BYTES:]
        text = said.decode("utf-8", "replace").strip()
        return f"the worker ended with status {self._process.returncode}: {text or 'it said nothing'}"

    def close(self) -> None:
        """Kills the worker and all in its sandbox, and waits until they are gone. May be called twice."""
        if self._is_closed:
            return
        self._is_closed = True
        self._note_inner()  # bwrap must not be killed before it has made, and named, the process inside
        if self._inner is not None:
            # The inner process first: bwrap then reaps it and ends, and no orphan is made.
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._inner, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(END_S)
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(END_S)
        reap_group(self._process.pid)
        if self._inner is not None:
            reap_orphan(self._inner)
            os.close(self._inner)
        os.close(self._info)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()


def _is_ready(descriptor: int, event: int, within_s: float) -> bool:
    poll = select.poll()
    poll.register(descriptor, event)
    return bool(poll.poll(max(0.0, within_s) * 1000))
