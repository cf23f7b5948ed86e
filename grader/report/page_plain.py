"""Parts of a page as plain text, for places that show neither Markdown nor HTML: annotations, JUnit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from grader.report.page import Block, Code, Finding, Heading, Hint, Ink, Items, Line, Results, Text
from grader.report.text import clean, one_line


def as_plain(blocks: Iterable[Block]) -> str:
    """The blocks, one below the other; of a hint only its first step, for nothing can be folded here."""
    return "\n".join(text for block in blocks for text in _block(block))


def words(line: Line) -> str:
    """A line without its markup."""
    spans = (f"`{span.text}`" if span.ink is Ink.CODE else span.text for span in line)
    return one_line("".join(spans))


def _block(block: Block) -> Iterator[str]:
    match block:
        case Heading() | Text():
            yield words(block.line)
        case Items():
            yield from (f"- {words(line)}" for line in block.lines)
        case Code():
            yield from (f"    {line}".rstrip() for line in clean(block.text).strip("\n").split("\n"))
        case Hint():
            yield from (f"{words(rung.label)} {words(rung.line)}" for rung in block.rungs if not rung.opens)
        case Results():
            yield from (one_line(f"{row.title}: {row.result}, {row.points}") for row in block.rows)
        case Finding():
            yield one_line(f"{block.title} ({block.lost})")
            yield as_plain(block.blocks)
