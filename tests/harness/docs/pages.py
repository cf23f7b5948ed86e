"""The pages of documentation: their commands and their links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]+\]\(([^)#\s]+)(#[^)]*)?\)")
_COMMENT = re.compile(r"\s+#.*$")


def fences(page: Path) -> list[tuple[str, str]]:
    """The fenced blocks of a page: (language, text)."""
    return [(found[1], found[2]) for found in _FENCE.finditer(page.read_text("utf-8"))]


def commands(page: Path) -> list[str]:
    """The commands of a page, in order, without comments: every line of its `sh` blocks."""
    lines = (line for language, text in fences(page) if language == "sh" for line in text.splitlines())
    return [_COMMENT.sub("", line).strip() for line in lines if line.strip()]


def links(page: Path) -> Iterator[str]:
    """Where the links of a page lead that stay in this repository."""
    text = _FENCE.sub("", page.read_text("utf-8"))
    yield from (found[1] for found in _LINK.finditer(text) if "://" not in found[1])


def named_paths(page: Path) -> Iterator[str]:
    """The paths from the project's root that a page names in code: `tests/samples/`, `grader/rubric.yaml`."""
    text = _FENCE.sub("", page.read_text("utf-8"))
    for word in re.findall(r"`([\w.-]+/[\w./*-]*)`", text):
        if (ROOT / word.partition("/")[0]).is_dir():
            yield word
