"""The worker's own mirror of `grader.case`: what is asked, and what is answered. Plain data.

Stands twice because the worker imports nothing of the grader; `tests/harness/test_protocol.py` keeps the two in step.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.generic]
Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"


@dataclass(frozen=True)
class Argument:
    """One argument of a call; `role` is the value of a `grader.case.Role`."""

    name: str
    role: str
    value: Array | Json | dict[str, Array]


@dataclass(frozen=True)
class Call:
    """One call of the case's target; see `grader.case.Call`."""

    arguments: tuple[Argument, ...]
    mode: str
    cotangent: Array | None
    method: str
    keywords: dict[str, Json]
    state: bool = False


@dataclass(frozen=True)
class Case:
    """One seeded set of inputs for one thing that a student wrote; see `grader.case.Case`."""

    target: str
    calls: tuple[Call, ...]
    arguments: dict[str, Json]
    parameters: dict[str, Array] | None
    seed: int
    dtype: str
    masks: bool
    rebind: tuple[str, ...]
    device: str = "cpu"


@dataclass(frozen=True)
class Trouble:
    """Why something went wrong, in text that is already cleaned and capped."""

    kind: str = ""
    text: str = ""
    file: str = ""
    line: int = 0
    source: str = ""


@dataclass(frozen=True)
class Outcome:
    """The status word of a case or a call, and why it is not "ok"."""

    status: str = "ok"
    trouble: Trouble = Trouble()


@dataclass
class Answer:
    """What became of one case, filled while it runs; see `grader.case.Answer`."""

    outcome: Outcome = Outcome()
    calls: list[Outcome] = field(default_factory=list)
    arrays: dict[str, Array] = field(default_factory=dict)
    absent: list[str] = field(default_factory=list)
    surplus: list[str] = field(default_factory=list)
    reshaped: list[str] = field(default_factory=list)


Framework: TypeAlias = Any
"""The module `assignment.framework`: imported by name at run time, and open to tampering by student code."""
