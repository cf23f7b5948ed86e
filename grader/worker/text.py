"""Text of a student's program, made fit to leave the sandbox: plain, on one line, capped.

The trusted end checks the same rules again and refuses a frame that breaks them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

KIND_CHARS, TEXT_CHARS, FILE_CHARS, SOURCE_CHARS = 100, 1000, 100, 200
NAME_CHARS = 200

FORBIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Unicode categories that no text may hold: control, format (right-to-left marks), surrogates, line ends."""

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{5,}")


def clean(text: str, limit: int) -> str:
    """`text` with every run of space as one blank, unprintable characters dropped, at most `limit` characters long."""
    return _cut(_plain(text, limit), limit)


def message(text: str, limit: int, places: Mapping[str, str]) -> str:
    """`clean`, with what differs from run to run made equal before a cut can fall into it.

    Args:
        text: what an exception says.
        limit: characters.
        places: where a folder lies -> what it is called; memory addresses are all called alike.
    """
    plain = _plain(text, limit)
    for place, name in places.items():
        plain = plain.replace(place, name)
    return _cut(_ADDRESS.sub("0x…", plain), limit)


def _plain(text: str, limit: int) -> str:
    # A subclass of str could answer anything; encoding with str's own method gives real bytes.
    plain = str.encode(text, "utf-8", "replace")[: 8 * limit].decode("utf-8", "ignore")
    spaced = "".join(" " if character.isspace() else character for character in plain)
    return " ".join("".join(one for one in spaced if unicodedata.category(one) not in FORBIDDEN).split())


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def is_module_path(path: str) -> bool:
    """Whether a file's path inside the package, "parts/heads.py", is made of identifiers."""
    stem = path.removesuffix(".py")
    return len(path) <= FILE_CHARS and stem != path and all(part.isidentifier() for part in stem.split("/"))


def is_dotted(name: str) -> bool:
    """Whether a parameter's or module's name is made of identifiers and numbers joined by dots."""
    parts = name.split(".")
    return len(name) <= NAME_CHARS and all(part.isidentifier() or (part.isascii() and part.isdigit()) for part in parts)
