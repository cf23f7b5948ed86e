"""F5: the largest memory of a whole process that takes two full training steps."""

from __future__ import annotations

import subprocess
import sys

from .frame import ONE_THREAD, ROUNDS, Row


def peak(module: str) -> float:
    """Of a process that runs the module."""
    command = [sys.executable, "-m", f"tests.benchmarks.{module}"]
    return float(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)


def ours_by_torchs() -> list[float]:
    """The ratios."""
    return [peak("our_step") / peak("torch_step") for _ in range(ROUNDS)]


ROWS = (Row("F5", "peak memory, full step, float32: composed / torch eager", 1.2, 0.6, ours_by_torchs, ONE_THREAD),)
