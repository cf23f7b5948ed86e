"""The form `exercises.yaml`: empty, as students get it, and filled in rightly, as the reference hands it in."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from grader.exercises.source import Exercise, Kind, exercises, form_head, quiz

_KINDS = {Kind.NUMBER: "number", Kind.WHOLE: "whole number", Kind.PERCENT: "percent", Kind.SHAPE: "shape"}
_COLUMN = 34


def blank() -> str:
    """The form with every place empty."""
    return _form(lambda _exercise, _field: "", lambda _statement: "")


def filled() -> str:
    """The form with the model answers, the texts left empty."""

    def value(exercise: Exercise, field: str) -> str:
        expected = exercise.expected[field].value
        return str(expected) if isinstance(expected, list) else f"{expected:.12g}"

    return _form(value, lambda statement: str(quiz()[statement].truth).lower())


def _form(value: Callable[[Exercise, str], str], truth: Callable[[str], str]) -> str:
    answers = [line for exercise in exercises().values() for line in _lines(exercise, value)]
    statements = [_line(f"  {name}:", truth(name), "true or false") for name in quiz()]
    return "\n".join([form_head(), "answers:", *answers, "quiz:", *statements]) + "\n"


def _lines(exercise: Exercise, value: Callable[[Exercise, str], str]) -> Iterator[str]:
    if not exercise.fields:
        yield f"  {exercise.id}: |"
        yield ""
        return
    yield f"  {exercise.id}:"
    for field, kind in exercise.fields.items():
        yield _line(f"    {field}:", value(exercise, field), _KINDS[kind])


def _line(name: str, value: str, comment: str) -> str:
    return f"{f'{name} {value}':<{_COLUMN}} # {comment}"
