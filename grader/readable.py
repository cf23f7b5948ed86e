"""What a person, or Python, reads in a file of the release, however it is packed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_COMMAND = re.compile(r"^[ \t]*[%!].*$", re.MULTILINE)


def readable(path: str, content: bytes) -> str:
    """Give all text of a file: of a page what it shows, of a notebook its cells and what they printed.

    Raises:
        ValueError: it is not what its name says, or not in UTF-8.
    """
    raw = content.decode("utf-8")
    if path.endswith(".html"):
        page = _Page()
        page.feed(raw)
        page.close()
        return "".join(page.texts)
    if path.endswith(".ipynb"):
        return "\n".join(text for cell in json.loads(raw)["cells"] for text in (_text(cell["source"]), *_printed(cell)))
    return raw


def runnable(path: str, content: bytes) -> Iterator[str]:
    """Give the Python in a file, whole or cell by cell.

    Raises:
        ValueError: as above.
    """
    if path.endswith(".py"):
        yield content.decode("utf-8")
    elif path.endswith(".ipynb"):
        cells = json.loads(content)["cells"]
        yield from (_COMMAND.sub("", _text(cell["source"])) for cell in cells if cell["cell_type"] == "code")


def _printed(cell: dict[str, Any]) -> Iterator[str]:
    for output in cell.get("outputs", ()):
        yield _text(output.get("text", ""))
        yield _COLOURS.sub("", "\n".join(output.get("traceback", ())))
        for kind, data in output.get("data", {}).items():
            if not kind.startswith("image/") or kind == "image/svg+xml":
                yield _text(data) if isinstance(data, str | list) else json.dumps(data)


def _text(source: str | list[str]) -> str:
    return source if isinstance(source, str) else "".join(source)


class _Page(HTMLParser):
    """Collects what a page holds: its text, scripts and comments too, and its attributes but for embedded pictures."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the attributes: a title, an alternative text, an annotation."""
        del tag
        self.texts += [f" {value} " for _, value in attrs if value and not value.startswith("data:")]

    def handle_data(self, data: str) -> None:
        """Keep the text; a line of code may be cut by the tags of its colours."""
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        """Keep what only the source shows."""
        self.texts.append(f" {data} ")
