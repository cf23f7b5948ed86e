"""The pages of questions, for students, and of answers, for staff, in Markdown with formulas between dollar signs."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path

import msgspec

from grader.exercises.source import EXACT, Exercise, Statement, Words, exercises, quiz


def questions(language: str) -> str:
    """`exercises.<language>.md`."""
    say = _Say(language)
    blocks = [say("title_questions"), say("about_questions")]
    for exercise in exercises().values():
        blocks += [*_head(exercise, say), exercise.question.of(language), _asked(exercise, say)]
    statements = [f"{place}. {claim.statement.of(language)} (`{claim.id}`)" for place, claim in _numbered()]
    return _page([*blocks, say("title_quiz"), say("about_quiz"), "\n".join(statements)])


def answers(language: str) -> str:
    """`answers.<language>.md`."""
    say = _Say(language)
    blocks = [say("title_answers"), say("about_answers")]
    for exercise in exercises().values():
        blocks += [*_head(exercise, say), exercise.model.of(language)]
        if exercise.fields:
            blocks.append("\n".join([say("table"), "|---|---|---|---|", *_rows(exercise, say)]))
    return _page([*blocks, say("title_quiz"), *(_judged(place, claim, say) for place, claim in _numbered())])


class _Say:
    """What the pages say round the exercises, in one language."""

    def __init__(self, language: str) -> None:
        self.language = language

    def __call__(self, key: str, **values: str) -> str:
        """The text of that key, filled in."""
        return _words()[key].of(self.language).format_map(values)


@functools.cache
def _words() -> dict[str, Words]:
    return msgspec.yaml.decode(Path(__file__).with_name("words.yaml").read_bytes(), type=dict[str, Words])


def _numbered() -> Iterator[tuple[int, Statement]]:
    return enumerate(quiz().values(), start=1)


def _head(exercise: Exercise, say: _Say) -> tuple[str, str]:
    return f"## {exercise.name(say.language)}", say("place", section=exercise.section, lab=exercise.lab)


def _asked(exercise: Exercise, say: _Say) -> str:
    """What is to be filled in."""
    if not exercise.fields:
        return say("write")
    fields = (say("field", name=name, kind=say(kind.value)) for name, kind in exercise.fields.items())
    return say("fill", fields=say("between").join(fields))


def _rows(exercise: Exercise, say: _Say) -> Iterator[str]:
    for name, expected in exercise.expected.items():
        value = expected.value if isinstance(expected.value, list) else f"{expected.value:.12g}"
        tolerance = say("exact") if exercise.fields[name] in EXACT else f"± {expected.tolerance:g}"
        yield f"| `{name}` | {value} | {tolerance} | `{expected.source}` |"


def _judged(place: int, claim: Statement, say: _Say) -> str:
    where = say("place", section=claim.section, lab=claim.lab)
    judged = f"{say(str(claim.truth).lower())} {claim.reason.of(say.language)}"
    return f"**{place}.** {claim.statement.of(say.language)}\n\n{judged} {where}"


def _page(blocks: list[str]) -> str:
    return "\n\n".join(blocks) + "\n"
