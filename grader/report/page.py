"""A page of feedback as blocks, before it becomes Markdown or HTML. Its text is raw: each renderer escapes all."""

from __future__ import annotations

import enum
import re
import string
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

_MARKS = re.compile(r"\*\*(?P<strong>.+?)\*\*|`(?P<code>[^`]+)`")


class Ink(enum.Enum):
    """How a span is set."""

    PLAIN = "plain"
    STRONG = "strong"
    CODE = "code"


@dataclass(frozen=True)
class Span:
    """A run of text."""

    text: str
    ink: Ink = Ink.PLAIN


Line: TypeAlias = tuple[Span, ...]


class Tone(enum.Enum):
    """What a result means to a student."""

    GOOD = "good"
    BAD = "bad"
    CARRIED = "carried"
    QUIET = "quiet"


@dataclass(frozen=True)
class Heading:
    """A heading; level 1 is the page's own."""

    level: int
    line: Line
    points: tuple[float, float, float] | None = None
    """Earned, pending and available, for a bar."""


@dataclass(frozen=True)
class Text:
    """A paragraph; `lead` is set larger. `anchor` names a finding that it leads to, "" for none."""

    line: Line
    lead: bool = False
    anchor: str = ""


@dataclass(frozen=True)
class Items:
    """A list."""

    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Code:
    """Something to read or to type, as it is."""

    text: str


@dataclass(frozen=True)
class Row:
    """One check in a table of results. `anchor` names the finding that explains it, "" where there is none."""

    title: str
    hidden: bool
    tone: Tone
    result: str
    points: str
    anchor: str = ""


@dataclass(frozen=True)
class Results:
    """A table of results with its head."""

    head: tuple[str, str, str]
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Rung:
    """One step of a hint. Where `opens` is set, a page that can fold hides the step behind these words."""

    label: Line
    line: Line
    opens: str = ""


@dataclass(frozen=True)
class Hint:
    """The steps of a ladder, the first ones first."""

    rungs: tuple[Rung, ...]


@dataclass(frozen=True)
class Finding:
    """What is said of one check."""

    title: str
    hidden: bool
    lost: str
    blocks: tuple[Block, ...]
    anchor: str


Block: TypeAlias = Heading | Text | Items | Code | Results | Hint | Finding


@dataclass(frozen=True)
class Page:
    """One submission's feedback."""

    language: str
    title: str
    blocks: tuple[Block, ...]


def line(template: str, **values: str | int | Line) -> Line:
    """A message of ours as spans; what is filled in is never read as markup.

    Raises:
        KeyError: a placeholder got no value.
    """
    merged: list[Span] = []
    for span in (span for piece in _pieces(template) for span in _filled(piece, values)):
        if merged and merged[-1].ink is span.ink:
            merged[-1] = replace(span, text=merged[-1].text + span.text)
        else:
            merged.append(span)
    return tuple(merged)


def plain(text: str) -> Line:
    """`text` as it is."""
    return (Span(text),)


def sentence(words: Line) -> Line:
    """`words` with a capital at the start."""
    first, *rest = words
    return (replace(first, text=first.text[:1].upper() + first.text[1:]), *rest) if first.ink is Ink.PLAIN else words


def _pieces(template: str) -> Iterator[Span]:
    end = 0
    for mark in _MARKS.finditer(template):
        yield Span(template[end : mark.start()])
        yield Span(mark["strong"], Ink.STRONG) if mark["strong"] else Span(mark["code"], Ink.CODE)
        end = mark.end()
    yield Span(template[end:])


def _filled(piece: Span, values: dict[str, str | int | Line]) -> Iterator[Span]:
    for literal, name, _, _ in string.Formatter().parse(piece.text):
        if literal:
            yield Span(literal, piece.ink)
        if name is not None:
            value = values[name]
            if isinstance(value, tuple):
                yield from value
            else:
                yield Span(str(value), piece.ink)
