"""Tier C: a worker with resource limits only. It reads and writes what its user can: for trusted code only."""

from __future__ import annotations

from .environment import ENVIRONMENT
from .interpreter import inspect
from .links import command, lay_out
from .process import Worker
from .session import Start
from .stage import Stage


def starter(*, locked: bool) -> Start:
    """How to start a worker without isolation; `locked`: with seccomp all the same."""

    def start(stage: Stage) -> Worker:
        python = inspect()
        lay_out(stage, python)
        words = command(stage, python, "locked" if locked else "unlocked")
        return Worker(lambda _: words, ENVIRONMENT, stage.root)

    return start
