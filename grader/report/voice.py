"""In which language and how fully a student is told things: messages, hint ladders and titles of one style."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from grader.exercises import exercises
from grader.messages import Texts, texts
from grader.messages.guide import CheckGuide, guide
from grader.messages.hints import Ladder, ladders
from grader.messages.phrases import find, tell
from grader.report.gradebook import number
from grader.report.page import Line, line
from grader.verdict import CheckReport, ProblemReport, Verdict, Visibility

_EXPLAINED = frozenset({Verdict.FAILED, Verdict.ERROR, Verdict.TIMEOUT, Verdict.MEMORY})

MET = ": {rest}"
"""How the phrases end that name a limit before what was raised."""


class Detail(enum.Enum):
    """How much of a failed check is explained."""

    FULL = "full"
    """What is wrong, by how much and where, and the whole ladder of hints."""
    HINT = "hint"
    """What is wrong, without numbers, and the first rung."""
    SCORE = "score"
    """The points only."""


@dataclass(frozen=True)
class Style:
    """What feedback is to be like: its language ("en" or "zh") and how much it says."""

    language: str = "en"
    detail: Detail = Detail.FULL


class Voice:
    """Says things in a style."""

    def __init__(self, style: Style) -> None:
        self.style = style
        self.say: Texts = texts(style.language)

    @property
    def full(self) -> bool:
        """Whether numbers and whole ladders may be shown."""
        return self.style.detail is Detail.FULL

    @cached_property
    def _ladders(self) -> dict[str, Ladder]:
        return dict(ladders(self.style.language))

    def line(self, key: str, **values: str | int | Line) -> Line:
        """The message of that key, what is filled in kept apart from its markup."""
        return line(self.say.templates[key], **values)

    def told(self, text: str, titles: Mapping[str, str] = MappingProxyType({})) -> str:
        """A sentence of the grader's own in this language, with titles for the ids of checks."""
        return tell(text, self.style.language, lambda check: titles.get(check, check))

    def hint(self, text: str, check: CheckReport) -> Line | None:
        """What helps on from a sentence of the grader's; None where nothing is known to."""
        found = find(text)
        return self.line(found.hint, **self.place(check)) if found and found.hint else None

    def limit(self, text: str) -> str:
        """The limit that made student code raise, where a sentence of the grader's begins with one; "" where not."""
        found = find(text)
        return self.told(text) if found and found.phrase.template.endswith(MET) else ""

    def place(self, check: CheckReport) -> dict[str, str]:
        """What of a student's a check looks at, as values of a message: `name` and `file`."""
        known = self.guide(check)
        return {"name": known.name, "file": known.file} if known else {"name": check.title, "file": "*.py"}

    def ladder(self, name: str) -> Ladder | None:
        """The ladder of a misconception; None for one that an older grader named and this one does not know."""
        return self._ladders.get(name)

    def guide(self, check: CheckReport) -> CheckGuide | None:
        """Where to go from a check."""
        return guide().checks.get(check.id)

    def title(self, check: CheckReport) -> str:
        """A check's title in this language."""
        exercise = exercises().get(check.id)
        if exercise:
            return exercise.name(self.style.language)
        return guide().check_title(check.id, check.title, self.style.language)

    def lost(self, check: CheckReport) -> str:
        """How many points a check has still to give, one that `is_explained`."""
        return self.say("points_lost", points=number(check.points.available - check.points.earned))

    def problem_title(self, problem: ProblemReport) -> str:
        """A problem's title in this language."""
        if any(map(is_exercise, problem.checks)):
            return self.say("exercises")
        return guide().problem_title(problem.id, problem.title, self.style.language)


def is_carried(check: CheckReport) -> bool:
    """Whether the check has its points because its mistake has been paid for elsewhere."""
    return check.points.carried_forward > 0


def is_explained(check: CheckReport) -> bool:
    """Whether there is something to say about a check: it failed, on its own account, and was attempted."""
    return check.verdict in _EXPLAINED and not check.unwritten and not is_carried(check)


def is_hidden(check: CheckReport) -> bool:
    """Whether its numbers and texts must stay with the staff."""
    return check.visibility is not Visibility.PUBLIC


def is_exercise(check: CheckReport) -> bool:
    """Whether it is no check of code but one of the lecture's exercises."""
    return check.id in exercises()
