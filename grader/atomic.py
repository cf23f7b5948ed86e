"""Files that are there whole or not at all, whenever the grader is killed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def write_atomic(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Replace `path` by `data` in one step; see `write_together`."""
    write_together({path: data}, mode)


def write_together(contents: Mapping[Path, bytes], mode: int = 0o644) -> None:
    """Replace files one after the other, in the order given, once all of them are on the disk under another name.

    Their folders must exist. The temporary names are fixed, so what a killed run left is overwritten by the next.

    Raises:
        OSError: the disk is full or not writable; nothing was replaced.
    """
    temporary = {path: path.with_name(f".{path.name}.tmp") for path in contents}
    try:
        for path, data in contents.items():
            _write(temporary[path], data, mode)
        for path in contents:
            temporary[path].replace(path)
    except BaseException:  # Ctrl-C too
        for path in contents:
            temporary[path].unlink(missing_ok=True)
        raise


def _write(path: Path, data: bytes, mode: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
