"""Text that came from a submission, made harmless for YAML, CSV, Markdown and a terminal."""

from __future__ import annotations

import re
import unicodedata

LIMIT = 2000
ELLIPSIS = "…"
REPLACEMENT = "�"

_NEWLINES = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters: ANSI sequences begin with one
    "\ud800-\udfff"  # lone surrogates: no encoding has them
    "\u200e\u200f\u202a-\u202e\u2066-\u2069\u061c"  # marks that turn the reading direction round
    "\xad\u200b\u2060-\u2065\u206a-\u206f\U000e0000-\U000e007f"  # what nobody sees, yet tells two names apart
    "\ufeff\ufffe\uffff]"
)
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}")
_MARKDOWN = re.compile(
    r"[\\`*\[\]|~$]"  # wherever they stand
    r"|(?<!&)#"  # not that of an entity
    r"|(?<![^\W_])_|_(?![^\W_])"  # inside a word an underscore is only itself
    r"|^[-+=]"  # at the start of a line
    r"|:(?=//)|(?<=[Ww]{3})\."  # GitHub's Markdown makes links of bare addresses
)
_FORMULA = "=+-@"


def clean(text: str, limit: int = LIMIT) -> str:
    """`text` without control characters, lone surrogates, direction marks and memory addresses, at most `limit` long.

    An address (`<Tensor object at 0x7f…>`) differs from run to run and would make two equal runs differ.
    """
    shortened = text[: 4 * limit]  # a 10 MB exception message costs no more than a short one
    lines = _NEWLINES.sub("\n", shortened).replace("\t", "    ")
    printable = _ADDRESS.sub(f"0x{ELLIPSIS}", _UNPRINTABLE.sub(REPLACEMENT, lines))
    if len(printable) <= limit and len(shortened) == len(text):
        return printable
    return printable[: limit - 1] + ELLIPSIS


def one_line(text: str, limit: int = LIMIT) -> str:
    """`clean`, with runs of white space and newlines made one space."""
    return " ".join(clean(text, limit).split())


def cell(text: str) -> str:
    """`text` for a CSV cell that no spreadsheet takes for a formula."""
    line = one_line(text)
    first = unicodedata.normalize("NFKC", line[:1])  # the full-width forms are formulas to some spreadsheets too
    return f"'{line}" if first and first in _FORMULA else line


def markdown(text: str) -> str:
    """`text` on one line, shown literally by Markdown and HTML; `@` is made inert so that it notifies nobody."""
    entities = one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;")
    return _MARKDOWN.sub(lambda match: f"\\{match[0]}", entities)


def code_block(text: str) -> str:
    """`text` as an indented Markdown code block: it has no closing fence that the text could hold."""
    return "\n".join(f"    {line}".rstrip() for line in clean(text).strip("\n").split("\n"))
