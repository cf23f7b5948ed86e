"""A page as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from grader.report.page import Block, Code, Finding, Heading, Hint, Ink, Items, Line, Page, Results, Row, Span, Text
from grader.report.text import code_block, markdown, one_line

HIDDEN_MARK = "◦"
_NOT_STRONG = "\uff1a\u3002\uff0c\uff01\uff1f\uff1b\u3001"
"""Chinese punctuation. Where it ends a bold run before a letter, CommonMark misses the end: it is set outside."""


def as_markdown(page: Page) -> str:
    """The whole file."""
    return "\n\n".join(text for block in page.blocks for text in _block(block)) + "\n"


def _block(block: Block) -> Iterator[str]:
    match block:
        case Heading():
            yield f"{'#' * block.level} {_line(block.line)}"
        case Text():
            yield _line(block.line)
        case Items():
            yield "\n".join(f"- {_line(item)}" for item in block.lines)
        case Code():
            yield code_block(block.text)
        case Results():
            rows = [" | ".join(map(markdown, block.head)), "--- | --- | ---:", *map(_row, block.rows)]
            yield "\n".join(f"| {row} |" for row in rows)
        case Hint():
            for rung in block.rungs:
                yield f"**{_line(rung.label)}** {_line(rung.line)}"
        case Finding():
            yield f"### {_marked(block.title, block.hidden)} · {markdown(block.lost)}"
            for inner in block.blocks:
                yield from _block(inner)


def _row(row: Row) -> str:
    return f"{_marked(row.title, row.hidden)} | {markdown(row.result)} | {markdown(row.points)}"


def _marked(title: str, hidden: bool) -> str:
    return f"{markdown(title)} {HIDDEN_MARK}" if hidden else markdown(title)


def _line(line: Line) -> str:
    return "".join(map(_span, line)).strip()


def _span(span: Span) -> str:
    text = one_line(span.text)
    if not text:
        return " " if span.text else ""
    before, after = " " * span.text[0].isspace(), " " * span.text[-1].isspace()
    match span.ink:
        case Ink.CODE:
            return f"{before}`{text.replace('`', chr(39))}`{after}"
        case Ink.STRONG:
            core = text.rstrip(_NOT_STRONG)
            return f"{before}**{markdown(core)}**{text[len(core) :]}{after}"
        case Ink.PLAIN:
            return f"{before}{markdown(text)}{after}"
