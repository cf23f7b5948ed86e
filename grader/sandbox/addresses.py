"""Programs that lie in memory where they lay in the last run: what prints `id(x)` mostly prints the same each time.

Not always: among the small objects of a page, which one is free next depends on how the fork server was scheduled.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator

ADDR_NO_RANDOMIZE = 0x0040000
ASK = 0xFFFFFFFF
"""Of `personality`, see its page in section 2 of Linux' manual; a thread's own, and that of all that it starts."""


@contextlib.contextmanager
def alike() -> Iterator[bool]:
    """What this thread starts within is laid out without chance; whether that is so, which not every container allows.

    What a submission could gain by addresses that it can guess, it has: it runs in that memory.
    """
    before = _personality(ASK)
    is_set = before != -1 and _personality(before | ADDR_NO_RANDOMIZE) != -1
    try:
        yield is_set
    finally:
        if is_set:
            _personality(before)


def _personality(value: int) -> int:
    """What it was before, or -1 where it stays as it is; there is none but on Linux."""
    function = getattr(ctypes.CDLL(None), "personality", None)
    return int(function(ctypes.c_ulong(value))) if function else -1
