"""The protocol of every measurement: A and B in turn, the median of the rounds' ratios, void on a busy machine."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

ROUNDS = 5
"""Rounds of a measurement, after one that is not counted."""

QUIET = 0.5
"""Processors that others may keep busy meanwhile; above it the measurement is void."""

ONE_THREAD: Mapping[str, str | None] = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_CORETYPE": None,  # the kernel that OpenBLAS chooses for this machine
}
"""The environment of a measurement of memory; None: removed."""

SAME_FOR_BOTH: Mapping[str, str | None] = {
    **ONE_THREAD,
    "MALLOC_MMAP_MAX_": "0",  # large arrays in memory that the process keeps: the kernel's paging is not timed
    "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
    "MALLOC_TOP_PAD_": str(1 << 26),
}
"""The environment of a measurement of time, for NumPy and torch alike."""


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Args:
        id: "F1"; "F4/float64" where an id has several lines.
        what: what is divided by what, or measured in which unit.
        floor: the ratio that must hold, at most.
        goal: the ratio that we would like.
        measure: gives the value of each round.
        environment: set for the measurement's process.
    """

    id: str
    what: str
    floor: float
    goal: float
    measure: Callable[[], Sequence[float]]
    environment: Mapping[str, str | None] = field(default_factory=lambda: SAME_FOR_BOTH)

    def is_selected(self, ids: Sequence[str]) -> bool:
        """Whether the row is one of these ids; "F4" is all lines of F4; no ids are all."""
        return not ids or self.id in ids or self.id.partition("/")[0] in ids


def ratios(ours: Callable[[], object], theirs: Callable[[], object], *, repeat: int = 1) -> list[float]:
    """Time of ours / time of theirs in each round; who goes first changes from round to round."""
    seconds(ours, repeat)
    seconds(theirs, repeat)
    values = []
    for number in range(ROUNDS):
        if number % 2:
            divisor, dividend = seconds(theirs, repeat), seconds(ours, repeat)
        else:
            dividend, divisor = seconds(ours, repeat), seconds(theirs, repeat)
        values.append(dividend / divisor)
    return values


def seconds(function: Callable[[], object], repeat: int) -> float:
    """How long so many calls take."""
    start = time.perf_counter()
    for _ in range(repeat):
        function()
    return time.perf_counter() - start


def measured(row: Row) -> dict[str, object]:
    """The row's measurement, as it is printed."""
    with Load() as load:
        values = row.measure()
    return {
        "id": row.id,
        "ratio": float(f"{statistics.median(values):.3g}"),
        "floor": row.floor,
        "goal": row.goal,
        "rounds": len(values),
        "load": round(load.others, 2),
        "valid": load.others <= QUIET and len(values) >= ROUNDS,
        "spread": [float(f"{value:.3g}") for value in (min(values), max(values))],
        "blas": blas_kernel(),
    }


def printed(row: Row) -> None:
    """Print the row's measurement as one JSON line."""
    sys.stdout.write(json.dumps(measured(row)) + "\n")


def print_peak_memory(step: Callable[[], object]) -> None:
    """Take two steps and print the largest memory, in MiB, that the process has had."""
    step()
    step()
    sys.stdout.write(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}\n")


class Load:
    """How many of our processors others kept busy, on average, while the context lasted.

    The load average will not do: it counts ourselves. Where the system does not tell (no /proc), it is nan, and void.
    """

    others: float = float("nan")

    def __enter__(self) -> Self:
        self.start = (time.perf_counter(), busy_seconds(), own_seconds())
        return self

    def __exit__(self, *exception: object) -> None:
        wall, busy, own = self.start
        elapsed = time.perf_counter() - wall
        self.others = max(0.0, (busy_seconds() - busy - (own_seconds() - own)) / elapsed)


def busy_seconds() -> float:
    """Processor time used since the start of the machine on the processors that we may use."""
    ours = {f"cpu{number}" for number in os.sched_getaffinity(0)} if hasattr(os, "sched_getaffinity") else set()
    lines = Path("/proc/stat").read_text().splitlines() if ours and Path("/proc/stat").exists() else []
    used = [line.split() for line in lines if line.split()[0] in ours]
    if not used:
        return float("nan")
    # user nice system idle iowait irq softirq steal: all but the two kinds of idleness
    return sum(int(ticks) for cpu in used for i, ticks in enumerate(cpu[1:9]) if i not in {3, 4}) / os.sysconf(
        "SC_CLK_TCK"
    )


def own_seconds() -> float:
    """Processor time that this process and its ended children have used."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def blas_kernel() -> str:
    """The name of the kernel that NumPy's OpenBLAS uses on this machine, such as Haswell."""
    maps = Path("/proc/self/maps")
    paths = (
        {line.split()[-1] for line in maps.read_text().splitlines() if "openblas" in line} if maps.exists() else set()
    )
    for path in sorted(paths):
        library = ctypes.CDLL(path)
        for name in ("scipy_openblas_get_corename64_", "scipy_openblas_get_corename", "openblas_get_corename"):
            if hasattr(library, name):
                corename = getattr(library, name)
                corename.restype = ctypes.c_char_p
                return str(corename().decode())
    return "unknown"
