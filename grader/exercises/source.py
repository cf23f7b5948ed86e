"""The questions and the answers, from `handouts/exercises/`: read strictly, and in step with each other."""

from __future__ import annotations

import enum
import functools
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeVar

import msgspec

from grader.errors import UsageError
from grader.fingerprint import ROOT

FOLDER = ROOT / "handouts" / "exercises"
QUESTIONS, ANSWERS = "exercises.yaml", "answers.yaml"

_CHINESE = "[\u2018-\u201d\u3000-\u9fff\uff00-\uffef]"
_FOLDED = re.compile(rf"(?<={_CHINESE}) (?={_CHINESE})")
"""Blanks that YAML puts where a line of Chinese ended."""

T = TypeVar("T")


class Words(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A text in both languages."""

    en: str
    zh: str

    def of(self, language: str) -> str:
        """The text in a language of `grader.messages.LANGUAGES`."""
        return _FOLDED.sub("", self.zh) if language == "zh" else self.en


class Kind(enum.Enum):
    """What is to be filled in."""

    NUMBER = "number"
    WHOLE = "whole"
    """A whole number, exact."""
    PERCENT = "percent"
    """66.6 or 66.6%."""
    SHAPE = "shape"
    """A list of whole numbers, exact."""


EXACT = frozenset({Kind.WHOLE, Kind.SHAPE})


class _Question(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    id: str
    section: str
    lab: str
    title: Words
    question: Words
    fields: dict[str, Kind] = {}
    hint: Words | None = None


class _Claim(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    id: str
    section: str
    lab: str
    statement: Words


class _Questions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    schema: Literal["hw3-exercises/1"]
    form_head: str
    exercises: list[_Question]
    quiz: list[_Claim]


class Expected(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is right in one field.

    Args:
        value: a number, or a shape.
        source: the formula, or the place it comes from.
        tolerance: how far off is still right, in the unit of the value.
    """

    value: float | list[int]
    source: str
    tolerance: float = 0.0


class _Model(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    model: Words
    fields: dict[str, Expected] = {}


class _Truth(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    truth: bool
    belief: str
    reason: Words


class _Answers(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    schema: Literal["hw3-answers/1"]
    exercises: dict[str, _Model]
    quiz: dict[str, _Truth]


class Exercise(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One exercise with its answer.

    Args:
        section: of lecture 6.
        lab: the number of the lab that shows it.
        fields: name -> its kind; none where the answer is a text, which nobody checks.
        hint: for a field that is wrong; None for a text.
        expected: name of a field -> what is right.
        model: a model answer.
    """

    id: str
    section: str
    lab: str
    title: Words
    question: Words
    fields: dict[str, Kind]
    hint: Words | None
    expected: dict[str, Expected]
    model: Words

    @property
    def number(self) -> int:
        """Its place: 1, 2, …."""
        return int(self.id.rpartition(".")[2])

    def name(self, language: str) -> str:
        """Its number and title in a language."""
        title = self.title.of(language)
        return f"练习 {self.number}\uff1a{title}" if language == "zh" else f"Exercise {self.number}: {title}"


class Statement(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One statement of the quiz.

    Args:
        section: of lecture 6.
        lab: the number of the lab that shows it.
        truth: whether it is true.
        belief: what a wrong answer holds, in English, for staff.
        reason: why it is true or false, in two sentences.
    """

    id: str
    section: str
    lab: str
    statement: Words
    truth: bool
    belief: str
    reason: Words


@functools.cache
def exercises() -> Mapping[str, Exercise]:
    """Id -> exercise, in order.

    Raises:
        UsageError: a file is malformed, or the two are out of step.
    """
    questions, answers = _files()
    _require_same(QUESTIONS, [asked.id for asked in questions.exercises], answers.exercises)
    found = {asked.id: _exercise(asked, answers.exercises[asked.id]) for asked in questions.exercises}
    return MappingProxyType(found)


@functools.cache
def quiz() -> Mapping[str, Statement]:
    """Id -> statement, in order.

    Raises:
        UsageError: a file is malformed, or the two are out of step.
    """
    questions, answers = _files()
    _require_same(QUESTIONS, [claim.id for claim in questions.quiz], answers.quiz)
    fields = {claim.id: msgspec.structs.asdict(claim) for claim in questions.quiz}
    return MappingProxyType(
        {name: Statement(**claim, **msgspec.structs.asdict(answers.quiz[name])) for name, claim in fields.items()}
    )


def form_head() -> str:
    """The comment at the top of the form."""
    return _files()[0].form_head


def _exercise(asked: _Question, answer: _Model) -> Exercise:
    _require_same(f"{QUESTIONS}, {asked.id}", list(asked.fields), answer.fields)
    if bool(asked.fields) != (asked.hint is not None):
        raise UsageError(f"{QUESTIONS}, {asked.id}: what has fields has a hint, and what has none has no hint")
    for name, expected in answer.fields.items():
        kind = asked.fields[name]
        if isinstance(expected.value, list) != (kind is Kind.SHAPE) or (expected.tolerance > 0) == (kind in EXACT):
            raise UsageError(
                f"{ANSWERS}, {asked.id}: {name} is of kind {kind.value}; expected a list of whole numbers for a shape, "
                "a number for the others, and a tolerance for those that need not be exact"
            )
    return Exercise(
        **msgspec.structs.asdict(asked),
        expected=answer.fields,
        model=answer.model,
    )


def _require_same(where: str, asked: list[str], answered: Mapping[str, object]) -> None:
    if asked != list(answered):
        odd = sorted(set(asked) ^ set(answered)) or "another order"
        raise UsageError(f"{where} and {ANSWERS} must have the same ids in the same order; found {odd}")


def _files() -> tuple[_Questions, _Answers]:
    return _read(FOLDER / QUESTIONS, _Questions), _read(FOLDER / ANSWERS, _Answers)


@functools.cache
def _read(path: Path, kind: type[T]) -> T:
    try:
        return msgspec.yaml.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.MsgspecError) as error:
        raise UsageError(f"{path.name}: {' '.join(str(error).split())}") from error
