"""A sandbox for one kind of machine, and a session in it for one submission."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from grader.case import Fault, Limits
from grader.errors import InfrastructureError

from .endings import judge
from .process import LateError, LostError, Worker
from .stage import Stage

Start = Callable[[Stage], Worker]
"""Starts a worker on a staged submission; each tier has one."""


WARNINGS = {
    "B": "no user namespaces here, so Landlock and seccomp keep submissions in (tier B): they can find out that a file "
    "exists, but open, change and send nothing",
    "C": "nothing keeps submissions in (tier C): they can read and change whatever you can, your seed and the solution "
    "included; every report says that it is not isolated",
}


@dataclass(frozen=True)
class Sandbox:
    """The limits round a worker that this machine can keep; made by `grader.sandbox.probe`.

    Args:
        tier: its name, for reports: "bwrap+seccomp".
        start: how a worker is started in it.
        letter: A with namespaces of its own, B with Landlock instead, C with limits only.
        has_gpu: student code can compute on a GPU.
    """

    tier: str
    start: Start
    letter: str = "A"
    has_gpu: bool = False

    @property
    def is_isolated(self) -> bool:
        """Whether it holds a hostile submission."""
        return self.letter != "C"

    @property
    def warning(self) -> str:
        """What staff must know before they trust it; "" for tier A."""
        return WARNINGS.get(self.letter, "")

    def open(self, files: Mapping[str, bytes]) -> Session:
        """A session with a submission's modules, stubs for the missing ones included; use it in a `with`."""
        return Session(files, self.start)


@dataclass
class Usage:
    """What a session's requests have used so far."""

    requests: int = 0
    cpu_s: float = 0.0
    peak_kib: int = 0


class Session:
    """One submission in a sandbox: requests go in, frames come out. Used and closed by the thread that opened it.

    Attributes:
        usage: for the timings.
        output: the last that the last request printed, never to be trusted.
        folder: where the submission is laid out while the session is open.
    """

    def __init__(self, files: Mapping[str, bytes], start: Start) -> None:
        """Starts a worker, without waiting for it: meanwhile the twins can run."""
        self.usage = Usage()
        self.output = b""
        self._start = start
        self._stage = Stage(files)
        self.folder = self._stage.root
        try:
            self._worker: Worker | None = start(self._stage)
        except BaseException:
            self._stage.close()
            raise

    def exchange(self, request: bytes, limits: Limits) -> bytes | Fault:
        """One request's frame, not yet looked at, or why there is none. Later requests are not affected.

        Raises:
            InfrastructureError: the worker failed through no fault of the submission; the session can still be used.
        """
        worker = self._worker or self._start(self._stage)
        self._worker = worker
        try:
            ending = worker.ask(request, limits)
        except LateError as error:
            self._discard()
            raise InfrastructureError(
                f"a sandbox did not answer within {limits.wall_s:g} s and some grace, though it ends every request at "
                "its limit; is this machine overloaded? Run fewer at a time (--jobs)"
            ) from error
        except LostError as error:
            self._discard()
            raise InfrastructureError(f"a sandbox was lost: {error}") from error
        except BaseException:
            self._discard()
            raise
        self.usage.requests += 1
        self.usage.cpu_s += ending.cpu_s
        self.usage.peak_kib = max(self.usage.peak_kib, ending.peak_kib)
        self.output = ending.output
        return judge(ending, limits)

    def _discard(self) -> None:
        if self._worker is not None:
            self._worker.close()
        self._worker = None

    def close(self) -> None:
        """Ends the worker and removes the staged files."""
        self._discard()
        self._stage.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
