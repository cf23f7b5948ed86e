"""The filled form against the answers: one outcome an exercise, and what was held of each statement of the quiz."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from grader.errors import ExercisesError
from grader.exercises.handed import handed_in, is_nothing
from grader.exercises.plain_yaml import Data
from grader.exercises.source import Exercise, Expected, Kind, exercises, quiz
from grader.verdict import FieldReport, Filled, Outcome, StatementReport, Verdict

LONGEST = 80
"""Characters of an answer that are read as a number, and shown."""

_GROUPED = re.compile(r"[+-]?\d{1,3}(?:[, _]\d{3})+(?:\.\d*)?")
"""12,596,224 as people write it."""
_BRACKETS = re.compile(r"[\[(](.*)[\])]")


@dataclass(frozen=True)
class Assessed:
    """What a student's form came to.

    Args:
        outcomes: exercise -> outcome, of those asked for.
        quiz: the statements; none where no form could be read.
        remarks: what in the form was not understood.
    """

    outcomes: Mapping[str, Outcome]
    quiz: tuple[StatementReport, ...] = ()
    remarks: tuple[str, ...] = ()


def assess(content: bytes | None, wanted: Iterable[str]) -> Assessed:
    """Judge the exercises asked for, and the quiz.

    Args:
        content: of the student's `exercises.yaml`; None: it was not handed in.
        wanted: ids of exercises with fields.
    """
    if content is None:
        nothing = Outcome(verdict=Verdict.ERROR, message="no exercises.yaml was handed in", unwritten=True)
        return Assessed(dict.fromkeys(wanted, nothing))
    try:
        handed = handed_in(content)
    except ExercisesError as error:
        return Assessed(dict.fromkeys(wanted, Outcome(verdict=Verdict.SKIPPED, message=str(error))))
    outcomes = {name: _outcome(exercises()[name], handed.answers.get(name, {})) for name in wanted}
    statements = (_statement(name, truth=asked.truth, given=handed.quiz.get(name)) for name, asked in quiz().items())
    return Assessed(outcomes, tuple(statements), handed.remarks)


def _outcome(exercise: Exercise, given: Mapping[str, Data]) -> Outcome:
    fields = tuple(_field(exercise, name, given.get(name, "")) for name in exercise.fields)
    found = {field.filled for field in fields}
    if found == {Filled.EMPTY}:
        return Outcome(verdict=Verdict.ERROR, unwritten=True)
    if found == {Filled.RIGHT}:
        return Outcome(verdict=Verdict.PASSED, share=Fraction(1), fields=fields)
    return Outcome(verdict=Verdict.FAILED, fields=fields)


def _field(exercise: Exercise, name: str, given: Data) -> FieldReport:
    if is_nothing(given):
        return FieldReport(name=name, filled=Filled.EMPTY)
    kind, expected = exercise.fields[name], exercise.expected[name]
    read = _shape(given) if kind is Kind.SHAPE else _number(given, kind)
    filled = Filled.UNREADABLE if read is None else Filled.RIGHT if _is_right(read, expected) else Filled.WRONG
    return FieldReport(name=name, filled=filled, given=_shown(given))


def _is_right(read: float | list[int], expected: Expected) -> bool:
    if isinstance(read, list) or isinstance(expected.value, list):
        return read == expected.value
    return abs(read - expected.value) <= expected.tolerance


def _number(given: Data, kind: Kind) -> float | None:
    """The number in a text; None where there is none of that kind."""
    if not isinstance(given, str) or len(given) > LONGEST:
        return None
    text = unicodedata.normalize("NFKC", given).strip()  # full-width digits, as some keyboards give
    if kind is Kind.PERCENT:
        text = text.removesuffix("%").rstrip()
    try:
        number = float(re.sub("[, _]", "", text) if _GROUPED.fullmatch(text) else text)
    except ValueError:
        return None
    return number if math.isfinite(number) and (kind is not Kind.WHOLE or number.is_integer()) else None


def _shape(given: Data) -> list[int] | None:
    """The shape in a list, or in a text such as (2, 3)."""
    if isinstance(given, str) and len(given) <= LONGEST:
        text = unicodedata.normalize("NFKC", given).strip()
        inner = _BRACKETS.fullmatch(text)
        given = list((inner[1] if inner else text).rstrip(", ").split(","))
    if not isinstance(given, list):
        return None
    sizes = [_number(item, Kind.WHOLE) for item in given]
    return None if None in sizes else [int(size) for size in sizes if size is not None]


def _shown(given: Data) -> str:
    text = f"[{', '.join(map(str, given))}]" if isinstance(given, list) else str(given)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _statement(name: str, *, truth: bool, given: bool | None) -> StatementReport:
    return StatementReport(id=name, given=given, right=None if given is None else given is truth)
