"""What a student is told of one failed check: what happened, the ladder of hints, where to read and what to run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from grader.messages.hints import Ladder
from grader.report.gradebook import number
from grader.report.mismatch import told
from grader.report.page import Block, Code, Finding, Hint, Rung, Text, line
from grader.report.text import one_line
from grader.report.voice import Voice, is_explained, is_hidden
from grader.verdict import CheckReport, Raised, Verdict

_UNREADABLE = frozenset({"SyntaxError", "IndentationError", "TabError"})


@dataclass(frozen=True)
class Homes:
    """Which check explains what, so that nothing is explained twice: the first that shows it.

    Args:
        mistakes: name of a misconception -> check id.
        errors: exception of a public check -> check id.
        titles: check id -> title.
    """

    mistakes: Mapping[str, str]
    errors: Mapping[Raised, str]
    titles: Mapping[str, str]


def homes(checks: Iterable[CheckReport], voice: Voice) -> Homes:
    """The homes of what these checks show, in their order."""
    mistakes: dict[str, str] = {}
    errors: dict[Raised, str] = {}
    titles: dict[str, str] = {}
    for check in checks:
        titles[check.id] = voice.title(check)
        if not is_explained(check):
            continue
        for name in check.diagnosis.names if check.diagnosis else ():
            mistakes.setdefault(name, check.id)
        if check.raised and not is_hidden(check):
            errors.setdefault(check.raised, check.id)
    return Homes(mistakes, errors, titles)


def finding(check: CheckReport, voice: Voice, known: Homes) -> Finding:
    """The finding of a check that `is_explained`. Of a hidden one no array and no text is in it."""
    points = check.points
    lost = number(points.available - points.earned - points.carried_forward)
    blocks = tuple(_hidden(check, voice, known) if is_hidden(check) else _public(check, voice, known))
    return Finding(voice.title(check), is_hidden(check), voice.say("points_lost", points=lost), blocks, check.id)


def _hidden(check: CheckReport, voice: Voice, known: Homes) -> Iterator[Block]:
    yield Text(voice.line("hidden"))
    yield from _ladders(check, voice, known)
    yield from _where(check, voice)


def _public(check: CheckReport, voice: Voice, known: Homes) -> Iterator[Block]:
    if check.verdict is Verdict.FAILED and check.error is not None:
        yield from told(check, check.error, voice)
    elif check.verdict in {Verdict.TIMEOUT, Verdict.MEMORY}:
        yield Text(voice.line(f"explain_{check.verdict.value}"))
        if voice.full and check.message:
            yield Text(voice.line("limit", text=one_line(check.message, 200)))
    elif check.raised is None:
        yield Text(voice.line(f"explain_{check.verdict.value}"))
        if voice.full and check.message:
            yield Code(check.message)
    if check.raised is not None:
        yield from _raised(check, check.raised, voice, known)
    yield from _ladders(check, voice, known)
    if check.raised is None or known.errors[check.raised] == check.id:
        yield from _where(check, voice)


def _raised(check: CheckReport, raised: Raised, voice: Voice, known: Homes) -> Iterator[Block]:
    """The student's exception and their own line; never a line of the grader."""
    first = known.errors[raised]
    if first != check.id:
        yield Text(voice.line("raised_again", title=known.titles[first]))
        return
    kind = raised.kind or "Exception"
    if raised.file:
        yield Text(voice.line("raised", kind=kind, file=raised.file, line=raised.line))
    else:
        yield Text(voice.line("raised_elsewhere", kind=kind))
    said = f"{kind}: {raised.text}" if raised.text and voice.full else ""
    shown = "\n".join(text for text in (raised.source, said) if text)
    if shown:
        yield Code(shown)
    yield Text(voice.line("raised_syntax" if kind in _UNREADABLE else "raised_hint"))


def _ladders(check: CheckReport, voice: Voice, known: Homes) -> Iterator[Block]:
    """The ladder of each misconception, where it shows first; later a reference to it."""
    names = [name for name in (check.diagnosis.names if check.diagnosis else ()) if voice.ladder(name)]
    if len(names) > 1:
        yield Text(voice.line("two_mistakes"))
    for name in names:
        ladder = voice.ladder(name)
        if ladder and known.mistakes[name] == check.id:
            yield _climb(ladder, voice)
    for place in dict.fromkeys(known.mistakes[name] for name in names):
        if place != check.id:
            yield Text(voice.line("same_mistake", title=known.titles[place]))


def _climb(ladder: Ladder, voice: Voice) -> Hint:
    first = Rung(voice.line("ladder_1"), line(ladder.rung1))
    if not voice.full:
        return Hint((first,))
    second = Rung(voice.line("ladder_2"), line(ladder.rung2), voice.say("ladder_open_2"))
    third = Rung(voice.line("ladder_3", name=ladder.name), line(ladder.rung3), voice.say("ladder_open_3"))
    return Hint((first, second, third))


def _where(check: CheckReport, voice: Voice) -> Iterator[Block]:
    """The section to reread, unless a ladder has named it, and the local tests."""
    guide = voice.guide(check)
    if guide is None:
        return
    explained = check.diagnosis is not None and any(map(voice.ladder, check.diagnosis.names))
    unknown = check.error is not None and check.error.kind in {"value", "finite", "property"} and not explained
    if unknown and not is_hidden(check):
        yield Text(voice.line("reread", section=guide.section))
    elif not (explained and voice.full):
        yield Text(voice.line("reread_short", section=guide.section))
    if guide.tests:
        yield Text(voice.line("try"))
        yield Code(f"pytest {guide.tests}")
    else:
        yield Text(voice.line("try_none"))
