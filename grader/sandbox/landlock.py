"""Tier B: no namespaces, but Landlock, seccomp and limits, which the worker puts round itself before any request.

A submission can find out that a file exists (`stat`), and the names of the installed packages; it can open none.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .environment import ENVIRONMENT
from .interpreter import Interpreter, inspect
from .links import command, lay_out
from .process import Worker
from .session import Start
from .stage import GIVEN, WORKER, Stage

OTHERS_PACKAGES = {"site-packages", "dist-packages"}
LIBRARY_CACHE = Path("/etc/ld.so.cache")
"""Where the dynamic loader looks up what a module of the standard library needs."""


def starter(worker: Path = WORKER) -> Start:
    """How to start a worker that walls itself in; `worker` is the folder of its program."""

    def start(stage: Stage) -> Worker:
        python = inspect()
        lay_out(stage, python, worker)
        readable = [str(path) for path in _readable(stage, python, worker)]
        words = command(stage, python, "walled", str(python.standard), *readable)
        return Worker(lambda _: words, ENVIRONMENT, stage.root)

    return start


def _readable(stage: Stage, python: Interpreter, worker: Path) -> Iterator[Path]:
    """The very places that tier A binds, as they are called outside."""
    yield from (stage.root, worker, *GIVEN.values(), python.numpy, LIBRARY_CACHE)
    if python.numpy_libraries:
        yield python.numpy_libraries
    yield from (entry for entry in python.standard.iterdir() if entry.name not in OTHERS_PACKAGES)
    yield from (file for _, file in python.shared)
