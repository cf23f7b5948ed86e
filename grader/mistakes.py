"""What common mistakes give in the place of right arrays, and what there is to say of each: diagnosis without twins.

`grader.fixtures` puts both beside the right arrays of the public tests, which look what arrived up in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from grader import twins
from grader.case import Answer, Array, Case, Status
from grader.compare import compare, gradient_scale
from grader.diagnose import USED_BY
from grader.errors import GraderError
from grader.messages import LANGUAGES, texts
from grader.messages.hints import Ladder, ladders
from grader.misconceptions import Misconception, known, parts_with

TOLERANCE = 1e-9
"""Relative: the public tests' own. A mistake that changes less changes nothing, and two that differ by less agree."""


@dataclass(frozen=True)
class WrongArray:
    """An array, and the names of the mistakes that give it."""

    array: Array
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(sorted(set(self.names))))  # variants of one mistake have one name


def wrong_arrays(case: Case, right: Mapping[str, Array]) -> dict[str, list[WrongArray]]:
    """Find what each mistake in a part of the case's target gives, as far as a test would compare it.

    A test stops at the first wrong array. The output has a test of its own; gradients are compared one after the
    other, those of inputs first. Where a mistake cuts a gradient off, it counts as zero.

    Args:
        case: with one call.
        right: the arrays that the right twins give.

    Returns:
        The name of an array -> what comes in its place, each different array once.
    """
    gradients = sorted(right.keys() - {"0.out"}, key=lambda name: (".param." in name, name))
    found: dict[str, list[WrongArray]] = {}
    for mistake, arrays in _outcomes(case):
        wrong = {name: arrays.get(name, np.zeros_like(right[name])) for name in ("0.out", *gradients)}
        differ = [name for name in wrong if not _agree(name, wrong[name], right)]
        for name in differ[:2] if "0.out" in differ else differ[:1]:
            _add(found.setdefault(name, []), WrongArray(wrong[name], (mistake.name,)))
    return found


def _outcomes(case: Case) -> Iterator[tuple[Misconception, Mapping[str, Array]]]:
    """What every mistake gives that can be made in a part of the target and lets it answer at all."""
    for mistake in known():
        if mistake.part not in USED_BY[case.target]:
            continue
        try:
            arrays = twins.run(case, Answer(Status.OK), parts_with(mistake))
        except (GraderError, RuntimeError, IndexError):
            continue  # it cannot compute this case (a shape that does not fit)
        if arrays:
            yield mistake, arrays


def _agree(name: str, wrong: Array, right: Mapping[str, Array]) -> bool:
    scale = gradient_scale(name, right) if ".grad." in name else None
    return compare(name, wrong, right[name], TOLERANCE, scale) is None


def _add(found: list[WrongArray], new: WrongArray) -> None:
    """Put an array to those that there are, or its name to that of an equal one."""
    for place, old in enumerate(found):
        if same(new.array, old.array, TOLERANCE):
            found[place] = WrongArray(old.array, (*old.names, *new.names))
            return
    found.append(new)


def same(array: Array, other: Array, tolerance: float) -> bool:
    """Say whether two arrays hold the same numbers, infinities and NaN included."""
    if array.shape != other.shape:
        return False
    finite = np.isfinite(other)
    if not np.array_equal(array[~finite], other[~finite], equal_nan=True):
        return False
    return compare("", array[finite], other[finite], tolerance) is None


def stacked(name: str, found: Sequence[WrongArray]) -> dict[str, Array]:
    """Pack wrong arrays for a file, those of one shape together.

    Returns:
        `wrong.<name>/<n>` (k, ...), k arrays of one shape, and `names.<name>/<n>` (k,), for each of them the names of
        the mistakes that give it, in ASCII with spaces between.
    """
    shapes = dict.fromkeys(wrong.array.shape for wrong in found)
    packed: dict[str, Array] = {}
    for number, shape in enumerate(shapes):
        alike = [wrong for wrong in found if wrong.array.shape == shape]
        packed[f"wrong.{name}/{number}"] = np.stack([wrong.array for wrong in alike])  # (k, ...)
        packed[f"names.{name}/{number}"] = np.array([" ".join(wrong.names).encode("ascii") for wrong in alike])  # (k,)
    return packed


def names_in(content: Mapping[str, Array]) -> set[str]:
    """The names of all mistakes in the arrays of a file."""
    rows = (row for key, array in content.items() if key.startswith("names.") for row in array)
    return {name for row in rows for name in row.decode("ascii").split()}


def hints(names: Iterable[str]) -> dict[str, Any]:
    """What the tests say, by language: `words`, around the hints, and `rungs`, three for each of these mistakes."""
    chosen = sorted(names)
    return {
        language: {
            "words": {key: texts(language)(f"local_{key}") for key in ("again", "one", "several", "above")},
            "rungs": {name: _rungs(ladders(language)[name], language) for name in chosen},
        }
        for language in LANGUAGES
    }


def _rungs(ladder: Ladder, language: str) -> list[str]:
    say = texts(language)
    return [
        f"{say('ladder_1')} {ladder.rung1}",
        f"{say('ladder_2')} {ladder.rung2}",
        f"{say('ladder_3', name=ladder.name)} {ladder.rung3}",
    ]
