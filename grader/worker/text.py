"""Text of a student's program, made fit to leave the sandbox: plain, on one line, capped.

The trusted end checks the same rules again and refuses a frame that breaks them.
"""

from __future__ import annotations

import unicodedata

KIND_CHARS, TEXT_CHARS, FILE_CHARS, SOURCE_CHARS = 100, 1000, 100, 200
NAME_CHARS = 200

FORBIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Unicode categories that no text may hold: control, format (right-to-left marks), surrogates, line ends."""


def clean(text: str, limit: int) -> str:
    """`text` with every run of space as one blank, unprintable characters dropped, at most `limit` characters long."""
    # A subclass of str could answer anything; encoding with str's own method gives real bytes.
    plain = str.encode(text, "utf-8", "replace")[: 8 * limit].decode("utf-8", "ignore")
    spaced = "".join(" " if character.isspace() else character for character in plain)
    kept = " ".join("".join(one for one in spaced if unicodedata.category(one) not in FORBIDDEN).split())
    return kept if len(kept) <= limit else kept[: limit - 1] + "…"


def is_module_path(path: str) -> bool:
    """Whether a file's path inside the package, "parts/heads.py", is made of identifiers."""
    stem = path.removesuffix(".py")
    return len(path) <= FILE_CHARS and stem != path and all(part.isidentifier() for part in stem.split("/"))


def is_dotted(name: str) -> bool:
    """Whether a parameter's or module's name is made of identifiers and numbers joined by dots."""
    parts = name.split(".")
    return len(name) <= NAME_CHARS and all(part.isidentifier() or (part.isascii() and part.isdigit()) for part in parts)
