"""A page as one HTML file that loads nothing: no script, no font, no picture."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from html import escape
from pathlib import Path

from grader.report.page import Block, Code, Finding, Heading, Hint, Ink, Items, Line, Page, Results, Row, Rung, Text
from grader.report.page_markdown import HIDDEN_MARK
from grader.report.text import clean

LANGUAGES = {"en": "en", "zh": "zh-Hans"}
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_TAGS = {Ink.STRONG: "strong", Ink.CODE: "code"}


def as_html(page: Page) -> str:
    """The whole file."""
    body = "\n".join(text for block in page.blocks for text in _block(block))
    return f"""<!DOCTYPE html>
<html lang="{LANGUAGES[page.language]}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{_text(page.title)}</title>
<style>
{_style()}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


@functools.cache
def _style() -> str:
    return Path(__file__).with_name("page.css").read_text(encoding="utf-8")


def _block(block: Block) -> Iterator[str]:
    match block:
        case Heading():
            yield f"<h{block.level}>{_line(block.line)}</h{block.level}>"
            if block.points is not None:
                yield _bar(*block.points)
        case Text():
            words = _line(block.line)
            linked = f'<a href="#{_anchor(block.anchor)}">{words}</a>' if block.anchor else words
            yield f'<p class="lead">{linked}</p>' if block.lead else f"<p>{linked}</p>"
        case Items():
            yield f"<ul>{''.join(f'<li>{_line(item)}</li>' for item in block.lines)}</ul>"
        case Code():
            yield f"<pre><code>{_text(block.text)}</code></pre>"
        case Results():
            yield _table(block)
        case Hint():
            yield f'<div class="hint">{"".join(map(_rung, block.rungs))}</div>'
        case Finding():
            yield f'<section class="finding" id="{_anchor(block.anchor)}">'
            yield f"<h3>{_text(block.title)}{_mark(block.hidden)} <small>{_text(block.lost)}</small></h3>"
            for inner in block.blocks:
                yield from _block(inner)
            yield "</section>"


def _bar(earned: float, pending: float, available: float) -> str:
    widths = [100 * max(0.0, min(1.0, part / available)) if available else 0.0 for part in (earned, pending)]
    parts = zip(("earned", "pending"), widths, strict=True)
    inside = "".join(f'<div class="{kind}" style="width:{width:.1f}%"></div>' for kind, width in parts)
    return f'<div class="bar" aria-hidden="true">{inside}</div>'


def _table(results: Results) -> str:
    head = "".join(f'<th scope="col">{_text(cell)}</th>' for cell in results.head)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(map(_row, results.rows))}</tbody></table>"


def _row(row: Row) -> str:
    title = _text(row.title)
    linked = (f'<a href="#{_anchor(row.anchor)}">{title}</a>' if row.anchor else title) + _mark(row.hidden)
    result = f'<span class="chip {row.tone.value}">{_text(row.result)}</span>'
    return f"<tr><td>{linked}</td><td>{result}</td><td>{_text(row.points)}</td></tr>"


def _rung(rung: Rung) -> str:
    words = f"<p><strong>{_line(rung.label)}</strong> {_line(rung.line)}</p>"
    return f"<details><summary>{_text(rung.opens)}</summary>{words}</details>" if rung.opens else words


def _mark(hidden: bool) -> str:
    return f'&nbsp;<span class="mark">{HIDDEN_MARK}</span>' if hidden else ""


def _anchor(identifier: str) -> str:
    return f"check-{_text(identifier)}"


def _line(line: Line) -> str:
    return "".join(
        f"<{_TAGS[span.ink]}>{_text(span.text)}</{_TAGS[span.ink]}>" if span.ink in _TAGS else _text(span.text)
        for span in line
    )


def _text(text: str) -> str:
    return escape(clean(text))
