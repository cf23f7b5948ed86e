"""What a student filled into the form, by exercise and statement; what is in no place of the form costs nothing."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass

from grader.errors import ExercisesError
from grader.exercises.plain_yaml import Data, read
from grader.exercises.source import exercises, quiz

TRUE = frozenset({"true", "yes", "t", "真", "对"})
FALSE = frozenset({"false", "no", "f", "假", "错"})
NOTHING = frozenset({"", "~", "null"})
MOST_REMARKS = 5


@dataclass(frozen=True)
class Handed:
    """The filled form.

    Args:
        answers: exercise -> field -> what stands there; only fields of the form.
        quiz: statement -> true or false; only those answered.
        remarks: what was not understood, for the student.
    """

    answers: Mapping[str, Mapping[str, Data]]
    quiz: Mapping[str, bool]
    remarks: tuple[str, ...]


def handed_in(content: bytes) -> Handed:
    """Read a student's `exercises.yaml`.

    Raises:
        ExercisesError: it cannot be read, or is no form of this kind at all.
    """
    form = read(content)
    if not isinstance(form, dict) or form.keys().isdisjoint({"answers", "quiz"}):
        raise ExercisesError("expected `answers:` and `quiz:` in exercises.yaml, found neither; start from the form")
    answers, statements = _part(form, "answers"), _part(form, "quiz")
    remarks = [
        *_unknown(form, ("answers", "quiz")),
        *_unknown(answers, exercises()),
        *_unknown(statements, quiz()),
    ]
    filled: dict[str, Mapping[str, Data]] = {}
    for name, exercise in exercises().items():
        given = answers.get(name, "")
        if exercise.fields and isinstance(given, dict):
            remarks += _unknown(
                [f"{name}.{field}" for field in given], [f"{name}.{field}" for field in exercise.fields]
            )
            filled[name] = {field: given[field] for field in exercise.fields if field in given}
        elif exercise.fields and not is_nothing(given):
            remarks.append(f"exercises.yaml: expected every answer of {name} after the name of its field")
    chosen: dict[str, bool] = {}
    for name in quiz():
        word = statements.get(name, "")
        if isinstance(word, str) and word.casefold() in TRUE | FALSE:
            chosen[name] = word.casefold() in TRUE
        elif not is_nothing(word):
            remarks.append(f"exercises.yaml: expected true or false for {name}")
    return Handed(filled, chosen, tuple(remarks[:MOST_REMARKS]))


def is_nothing(given: Data) -> bool:
    """Whether a place of the form is still empty."""
    return not given if isinstance(given, list | dict) else given.strip().casefold() in NOTHING


def _part(form: Mapping[str, Data], name: str) -> dict[str, Data]:
    part = form.get(name, "")
    if isinstance(part, dict):
        return part
    if is_nothing(part):
        return {}
    raise ExercisesError(f"expected names with a value each below `{name}:` in exercises.yaml; start from the form")


def _unknown(names: Iterable[str], known: Container[str]) -> list[str]:
    told = "exercises.yaml: the form has no place called"
    return [f"{told} {name[:40]}, so it was not read" for name in names if name not in known]
