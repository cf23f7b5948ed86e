"""Tier "none": a worker with resource limits only. It reads and writes what its user can: for trusted code only."""

from __future__ import annotations

import os
import sys

from .environment import ENVIRONMENT, PYTHON_OPTIONS
from .interpreter import inspect
from .process import Worker
from .stage import FRAMEWORK, WORKER, Stage


def start(stage: Stage) -> Worker:
    """Starts a worker on the same layout as in a sandbox, made of links; seccomp is used where it is known to work."""
    python = inspect()
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
    locked = sys.platform == "linux" and os.uname().machine == "x86_64"
    script = str(stage.root / "harness/worker/main.py")
    command = [str(python.binary), *PYTHON_OPTIONS, script, "locked" if locked else "unlocked"]
    return Worker(lambda _: command, ENVIRONMENT, stage.root)
