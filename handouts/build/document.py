"""The handout's Markdown as a PDF: Pandoc reads it, Typst sets it."""

from __future__ import annotations

import re
from pathlib import Path

from .packages import pandoc, require, typst
from .stamp import pinned, stamp_of

TEMPLATE = Path(__file__).parent / "document.typ"
MADE_OF = (TEMPLATE, Path(__file__))
LANG = {"en": ("lang=en",), "zh": ("lang=zh", "region=cn")}
READER = "markdown-implicit_figures-smart+east_asian_line_breaks"


def stamp(markdown: bytes, root: Path) -> str:
    """Say what a text's PDF is made of: the text, the layout, the converters."""
    layout = [path.read_bytes() for path in MADE_OF]
    return stamp_of(markdown, *layout, pinned(root / "constraints.txt", "pypandoc_binary", "typst", "mplfonts"))


def pdf(markdown: bytes, lang: str, root: Path) -> bytes:
    """Set a text as A4 pages, the same bytes each time.

    Args:
        markdown: the text; its first line is the title, "# ...".
        lang: "en" or "zh".
        root: the project.

    Raises:
        UsageError: Pandoc, Typst or the fonts are not there.
    """
    return typst(to_typst(markdown, lang, stamp(markdown, root)), format="pdf")


def to_typst(markdown: bytes, lang: str, stamped: str) -> str:
    """Turn a text into one in Typst's language.

    Raises:
        UsageError: Pandoc is not there, or what is needed after it.
    """
    require("pypandoc", "typst", "mplfonts")
    text = markdown.decode("utf-8")
    heading = re.match(r"# (.+)", text)
    plain = re.sub(r"[`*$\\\"]", "", heading[1]) if heading else ""
    options = ["--standalone", f"--template={TEMPLATE}", "--shift-heading-level-by=-1"]
    options += ["--columns=10000"]  # a table's columns are as wide as what is in them, not as its source
    options += [f"--variable={setting}" for setting in (*LANG[lang], f"stamp={stamped}", f"title-text={plain}")]
    # Pandoc writes \\operatorname as words, which Typst sets apart from the parenthesis behind them.
    return re.sub(r'"([A-Za-z]+)" (?=\\\()', r'op("\1")', pandoc(text, READER, "typst", options))
