"""Being told to stop: Ctrl-C, a service manager and a closed terminal end a run alike, between two steps."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any, NoReturn, Self

WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "told to end (SIGTERM)", signal.SIGHUP: "hung up on (SIGHUP)"}
"""What each signal that ends a run is called."""

BEFORE_THE_FIRST = "no submission was graded yet; run the same command again"


class Stop(KeyboardInterrupt):
    """One of the signals has arrived; it passes through everything that lets a KeyboardInterrupt pass."""


class Stopper:
    """Within its `with`, a signal raises `Stop` in the main thread, once; later ones do not disturb the ending.

    What the process was started to ignore (`nohup`, a background job) stays ignored.

    Attributes:
        told: the signal that has arrived; None while there is none.
    """

    def __init__(self) -> None:
        self.told: signal.Signals | None = None
        self._is_held = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():  # Python handles signals nowhere else
            for number in WORDS:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        if self.told is None:
            self.told = signal.Signals(number)
            if not self._is_held:
                raise Stop

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """A step that is finished before a signal that arrives in it raises `Stop`."""
        before = self.told
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False
        if self.told is not before:
            raise Stop


def leave(number: signal.Signals | None, said: str) -> NoReturn:
    """One line, and the end of this process, with the sandboxes that it still has.

    Args:
        number: the signal; None: Ctrl-C, where no `Stopper` could listen for it.
        said: how far the run has come, on one line.
    """
    number = number or signal.SIGINT
    with contextlib.suppress(OSError):  # where the terminal is gone nobody reads it
        sys.stderr.write(f"grader: {WORDS[number]}; {said}\n")
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(128 + number)  # not `sys.exit`: that would wait for the submissions that are still being graded
