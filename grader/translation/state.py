"""What decides how training goes on, as it comes from a worker: hostile until it has been checked here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from grader.case import Answer, Array, Case

PARAMETER, MEAN, SQUARE, COUNTS = "parameter.", "mean.", "square.", "counts"


@dataclass(frozen=True)
class State:
    """A model on its way.

    Args:
        parameters: name -> value, float32.
        moments: Adam's, as the worker named them; none before the first step.
    """

    parameters: Mapping[str, Array]
    moments: Mapping[str, Array] = field(default_factory=dict)


def state_of(answer: Answer, call: int) -> State:
    """The state that a call returned, without a `flaw`."""
    arrays = _arrays(answer, call)
    single = {name: array.astype(np.float32) for name, array in arrays.items() if name != COUNTS}
    return State(
        _part(single, PARAMETER),
        {name: array for name, array in single.items() if not name.startswith(PARAMETER)} | {COUNTS: arrays[COUNTS]},
    )


def flaw(case: Case, answer: Answer, call: int, taken: int) -> str:
    """What is wrong with the state that a call returned; "" for nothing.

    Args:
        case: what was asked; its parameters are those before.
        answer: what came back.
        call: the number of the call that returned it.
        taken: steps of Adam so far, these ones included.
    """
    arrays = _arrays(answer, call)
    parameters, means, squares = (_part(arrays, kind) for kind in (PARAMETER, MEAN, SQUARE))
    counts, shapes, held = arrays.get(COUNTS), _shapes(means), _held(case, answer)
    if len(parameters) + len(means) + len(squares) + (counts is not None) != len(arrays):
        return "the state after training has arrays that are no part of one"
    if _shapes(parameters) != held:
        return "the state after training has other parameters than the model had before"
    if not means or shapes != _shapes(squares) or not shapes.items() <= held.items():
        return "the state after training has moments of other shapes than its parameters"
    if counts is None or counts.shape != (len(means),) or not _counts(counts, taken):
        return "the state after training does not count the steps of each parameter"
    numbers = [array for name, array in arrays.items() if name != COUNTS]
    if not all(array.dtype.kind == "f" and np.isfinite(array.astype(np.float32)).all() for array in numbers):
        return "the state after training holds a NaN, an infinity or something that is no number"
    return ""


def _counts(counts: Array, taken: int) -> bool:
    return counts.dtype.kind == "i" and bool(((counts >= 0) & (counts <= taken)).all())


def _arrays(answer: Answer, call: int) -> dict[str, Array]:
    return _part(answer.arrays, f"{call}.state.")


def _part(arrays: Mapping[str, Array], kind: str) -> dict[str, Array]:
    return {name.removeprefix(kind): array for name, array in arrays.items() if name.startswith(kind)}


def _shapes(arrays: Mapping[str, Array]) -> dict[str, tuple[int, ...]]:
    return {name: array.shape for name, array in arrays.items()}


def _held(case: Case, answer: Answer) -> dict[str, tuple[int, ...]]:
    """The shapes of the parameters that the model had before the first step."""
    given = {name: array for name, array in (case.parameters or {}).items() if name not in answer.absent}
    return _shapes({**given, **_part(answer.arrays, "param.")})
