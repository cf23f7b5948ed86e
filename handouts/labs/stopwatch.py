"""How long things take, beside one another."""

from __future__ import annotations

import time
from collections.abc import Callable

ROUNDS, AT_LEAST = 5, 0.5
"""How many rounds there are at least, and for how many seconds in all."""


def shortest(*tasks: Callable[[], object]) -> list[float]:
    """Time tasks in turn, round after round, and return the shortest processor time of each, in seconds.

    Processor time does not count what else the machine does in between; and of many runs, the shortest is the least
    disturbed. The first round, which warms up, does not count either.
    """
    for task in tasks:
        task()
    rounds: list[list[float]] = []
    while len(rounds) < ROUNDS or sum(map(sum, rounds)) < AT_LEAST:
        rounds.append([_once(task) for task in tasks])
    return [min(times) for times in zip(*rounds, strict=True)]


def _once(task: Callable[[], object]) -> float:
    start = time.process_time()
    task()
    return time.process_time() - start
