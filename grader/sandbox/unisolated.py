"""Tier "none": a worker with resource limits only. It reads and writes what its user can: for trusted code only."""

from __future__ import annotations

from .environment import ENVIRONMENT, PYTHON_OPTIONS
from .interpreter import Interpreter, inspect
from .process import Worker
from .session import Start
from .stage import FRAMEWORK, WORKER, Stage


def starter(*, locked: bool) -> Start:
    """How to start a worker without isolation; `locked`: with seccomp all the same."""

    def start(stage: Stage) -> Worker:
        python = inspect()
        _lay_out(stage, python)
        script = str(stage.root / "harness/worker/main.py")
        command = [str(python.binary), *PYTHON_OPTIONS, script, "locked" if locked else "unlocked"]
        return Worker(lambda _: command, ENVIRONMENT, stage.root)

    return start


def _lay_out(stage: Stage, python: Interpreter) -> None:
    """The same places as in a sandbox, made of links."""
    links = {
        "packages/numpy": python.numpy,
        "packages/numpy.libs": python.numpy_libraries,
        "harness/worker": WORKER,
        "submission/assignment": stage.package,
    }
    for name, place in links.items():
        link = stage.root / name
        link.parent.mkdir(exist_ok=True)
        if place is not None and not link.is_symlink():
            link.symlink_to(place)
    framework = stage.package / "framework"
    if not framework.is_symlink():
        framework.rmdir()
        framework.symlink_to(FRAMEWORK)
