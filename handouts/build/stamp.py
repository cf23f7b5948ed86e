"""What a page or a PDF was made of, as a hash that it carries: whether it is up to date is told without converters."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

_STAMP = re.compile(rb"made-of:sha256:[0-9a-f]{64}")


def stamp_of(*parts: bytes) -> str:
    """Hash everything that a file is made of, in order."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(b"%d " % len(part) + part)
    return f"made-of:sha256:{digest.hexdigest()}"


def stamp_in(content: bytes) -> str:
    """Find the stamp that a made file carries; "" where there is none."""
    found = _STAMP.search(content)
    return found[0].decode() if found else ""


def pinned(constraints: Path, *packages: str) -> bytes:
    """Give the versions of packages that `constraints.txt` pins: after an upgrade, files are to be made again."""
    lines = constraints.read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if line.partition("==")[0] in packages).encode()
