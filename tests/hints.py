"""Which common mistake gives this? The fixtures hold what some of them give, `hints.json` what there is to say of each.

A test that fails says no more than that such a mistake was recognised. `pytest tests/ --hint 1` says what you see,
`--hint 2` also asks a question that leads on, `--hint 3` also names the mistake; `--lang zh` says it in Chinese.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from assignment.framework import Tensor

FILE = Path(__file__).resolve().parent / "fixtures" / "hints.json"


@dataclass
class Asked:
    """What the command line asks for, and of which mistakes it has been told in this run."""

    rungs: int = 0
    language: str = "en"
    told: set[tuple[str, ...]] = field(default_factory=set)


ASKED = Asked()
"""Set by `conftest.py`, before the first test."""


@dataclass(frozen=True)
class Lookalike:
    """What arrives by mistake in the place of an expected array, and the names of the mistakes that give it."""

    array: Any
    names: tuple[str, ...]


class Expected(np.ndarray):
    """An expected array that knows its lookalikes; what is computed from it knows none."""

    lookalikes: tuple[Lookalike, ...] = ()


def with_lookalikes(name: str, arrays: dict[str, Any]) -> Any:
    """Take an array of a file, and what comes in its place by mistake: the rows of `wrong.<name>/…`."""
    found: list[Lookalike] = []
    for key, names in arrays.items():
        if key.startswith(f"names.{name}/"):
            wrong = arrays[key.replace("names", "wrong", 1)]
            found += [Lookalike(a, tuple(n.decode().split())) for a, n in zip(wrong, names, strict=True)]
    expected = arrays[name].view(Expected)
    expected.lookalikes = tuple(found)
    return expected


def for_array(actual: Any, expected: Any, tolerance: float) -> str:
    """Say what is known of a wrong array, as far as it was asked for; "" where no common mistake gives it.

    A gradient that did not arrive counts as 0.
    """
    lookalikes = getattr(expected, "lookalikes", ())
    array = np.zeros(expected.shape) if actual is None and lookalikes else actual
    array = array.to_numpy() if isinstance(array, Tensor) else array
    return told(*(name for wrong in lookalikes if same(array, wrong.array, tolerance) for name in wrong.names))


def for_texts(actual: list[str], expected: list[str]) -> str:
    """Say what is known of wrong translations."""
    return told(*content()["texts"].get("\n".join(expected), {}).get("\n".join(actual), ()))


def told(*names: str) -> str:
    """Say, in lines of their own, what was asked for of one of these mistakes; once in a run."""
    if not names:
        return ""
    say = content()[ASKED.language]
    if not ASKED.rungs or names in ASKED.told:
        return f"\n{say['words']['above' if ASKED.rungs else 'again']}"
    ASKED.told.add(names)
    if len(names) == 1:
        return "\n".join(["", say["words"]["one"], *say["rungs"][names[0]][: ASKED.rungs]])
    ladders = ["\n  ".join(say["rungs"][name][: ASKED.rungs]) for name in names]
    return "\n- ".join([f"\n{say['words']['several']}", *ladders])


def same(array: Any, wrong: Any, tolerance: float) -> bool:
    """Compare an array, if it is one, with a lookalike."""
    if not isinstance(array, np.ndarray) or array.shape != wrong.shape:
        return False
    finite = np.isfinite(wrong)
    if not np.array_equal(array[~finite], wrong[~finite], equal_nan=True):
        return False
    bound = tolerance * (np.abs(wrong[finite]).max(initial=0.0) or 1.0)
    return bool((np.abs(array[finite] - wrong[finite]) <= bound).all())


@functools.cache
def content() -> dict[str, Any]:
    """Read `hints.json`."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found
