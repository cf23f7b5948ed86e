"""What a student is told of one failed check: what happened, the ladder of hints, where to read and what to run."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.messages.hints import Ladder
from grader.report.gradebook import number
from grader.report.homes import LIMITS, Homes, first_unnamed, named
from grader.report.mismatch import WORDS, told
from grader.report.page import Block, Code, Finding, Hint, Items, Rung, Text, line, plain
from grader.report.text import one_line
from grader.report.voice import Voice, is_hidden
from grader.verdict import CheckReport, Raised, Verdict

_UNREADABLE = frozenset({"SyntaxError", "IndentationError", "TabError"})
_OTHER_SIGNATURE = re.compile(r"unexpected keyword argument|required positional argument|takes .*arguments? but")
"""What Python says where a function is called by other names, or with more or fewer arguments, than it has."""


def finding(check: CheckReport, voice: Voice, known: Homes) -> Finding:
    """The finding of a check that `is_explained`. Of a hidden one no array and no text is in it."""
    blocks = tuple(_hidden(check, voice, known) if is_hidden(check) else _public(check, voice, known))
    return Finding(voice.title(check), is_hidden(check), voice.lost(check), blocks, check.id)


def _hidden(check: CheckReport, voice: Voice, known: Homes) -> Iterator[Block]:
    yield _place(check, voice)
    yield Text(voice.line("hidden"))
    if check.verdict is not Verdict.FAILED:
        yield Text(voice.line(f"explain_{check.verdict.value}"))
    yield from _ladders(check, voice, known)
    first = first_unnamed(check, voice, known)
    if first:
        yield Text(voice.line("unknown_again", title=known.titles[first]))
    elif voice.full and not named(check, voice) and check.verdict in {Verdict.FAILED, Verdict.ERROR}:
        yield Text(voice.line("hidden_unknown", **voice.place(check)))
    yield from _where(check, voice, known)


def _public(check: CheckReport, voice: Voice, known: Homes) -> Iterator[Block]:
    if check.raised is None or not check.raised.file:  # else it names a file and a line
        yield _place(check, voice)
    if check.verdict is Verdict.FAILED and check.error is not None:
        first = first_unnamed(check, voice, known)
        yield from told(check, check.error, voice, asks=not first)
        if first:
            yield Text(voice.line("unknown_again", title=known.titles[first]))
    elif known.limits.get(check.verdict, check.id) != check.id and check.raised is None:
        yield Text(voice.line("limit_again", title=known.titles[known.limits[check.verdict]]))
    elif check.raised is None or check.verdict in LIMITS:
        yield from _without_answer(check, voice)
    if check.raised is not None:
        yield from _raised(check, check.raised, voice, known)
    yield from _ladders(check, voice, known)
    yield from _where(check, voice, known)


def _place(check: CheckReport, voice: Voice) -> Text:
    return Text(voice.line("where", **voice.place(check)))


def _without_answer(check: CheckReport, voice: Voice) -> Iterator[Block]:
    """What there is instead of an answer, in the grader's own words, and what helps on from there."""
    yield Text(voice.line(f"explain_{check.verdict.value}"))
    if not (voice.full and check.message):
        return
    text = one_line(voice.told(check.message), WORDS)
    yield Text(voice.line("limit" if check.verdict in LIMITS else "in_words", text=text))
    hint = voice.hint(check.message, check)
    if hint:
        yield Text(hint)


def _raised(check: CheckReport, raised: Raised, voice: Voice, known: Homes) -> Iterator[Block]:
    """The student's exception and their own line; never a line of the grader."""
    kind = raised.kind or "Exception"
    if raised.file:
        yield Text(voice.line("raised", kind=kind, file=raised.file, line=raised.line))
    else:
        yield Text(voice.line("raised_elsewhere", kind=kind))
    said = f"{kind}: {one_line(raised.text, WORDS)}" if raised.text.strip() and voice.full else ""
    shown = "\n".join(text for text in (raised.source, said) if text)
    if shown:
        yield Code(shown)
    limit = voice.limit(check.message)
    if limit and voice.full:
        yield Text(voice.line("limit", text=limit))
    if check.id in known.again:
        others = known.again[check.id]
        yield Text(voice.line("raised_also", points=number(sum(other.points.available for other in others))))
        yield Items(tuple(plain(known.titles[other.id]) for other in others))
    if kind in _UNREADABLE:
        yield Text(voice.line("raised_syntax"))
    elif kind == "TypeError" and _OTHER_SIGNATURE.search(raised.text):
        yield Text(voice.line("hint_call" if raised.file else "hint_names", **voice.place(check)))
    elif check.verdict not in LIMITS:
        yield Text(voice.line("raised_hint"))


def _ladders(check: CheckReport, voice: Voice, known: Homes) -> Iterator[Block]:
    """The ladder of each misconception, where it shows first; later a reference to it."""
    names = named(check, voice)
    if len(names) > 1:
        yield Text(voice.line("two_mistakes"))
    for name in names:
        ladder = voice.ladder(name)
        if ladder and known.mistakes[name] == check.id:
            yield _climb(ladder, voice)
    elsewhere = [known.titles[place] for name in names if (place := known.mistakes[name]) != check.id]
    if len(elsewhere) > 1:
        yield Text(voice.line("same_mistakes", titles=voice.say("between").join(dict.fromkeys(elsewhere))))
    elif elsewhere:
        yield Text(voice.line("same_mistake" if len(names) == 1 else "other_mistake", title=elsewhere[0]))


def _climb(ladder: Ladder, voice: Voice) -> Hint:
    first = Rung(voice.line("ladder_1"), line(ladder.rung1))
    if not voice.full:
        return Hint((first,))
    second = Rung(voice.line("ladder_2"), line(ladder.rung2), voice.say("ladder_open_2"))
    third = Rung(voice.line("ladder_3", name=ladder.name), line(ladder.rung3), voice.say("ladder_open_3"))
    return Hint((first, second, third))


def _where(check: CheckReport, voice: Voice, known: Homes) -> Iterator[Block]:
    """The section to reread, unless a ladder has named it, and the local tests."""
    guide = voice.guide(check)
    if guide is None:
        return
    explained = bool(named(check, voice))
    unknown = check.error is not None and check.error.kind in {"value", "finite", "property"} and not explained
    if unknown and not is_hidden(check) and not first_unnamed(check, voice, known):
        yield Text(voice.line("reread", section=guide.section))
    elif not (explained and voice.full):
        yield Text(voice.line("reread_short", section=guide.section))
    if guide.tests or guide.command:
        yield Text(voice.line("try" if guide.tests else "try_command"))
        yield Code(f"pytest {guide.tests}" if guide.tests else guide.command)
    else:
        yield Text(voice.line("try_none"))
