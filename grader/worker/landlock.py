"""How a process gives up the file system without namespaces: Landlock, for good and for all that it starts.

Source: landlock(7), and Linux's Documentation/userspace-api/landlock.rst. Landlock refuses to open, list, write and
run; it does not hide that a file exists (`stat`). It allows a folder with all that lies below it, never "all but".
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable

from .lockdown import LockdownError, forbid_new_privileges

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
VERSION, PATH_BENEATH = 1, 1

READ_FILE, READ_DIR = 1 << 2, 1 << 3
KNOWN_TO = {1: 13, 2: 14, 3: 15, 5: 16}
"""Version -> how many rights on files it and those after it know: to run, write, read, list, remove, make, ..."""

TCP, SCOPES = 0b11, 0b11
"""To bind and to connect (since version 4); abstract Unix sockets and signals to the outside (since version 6)."""

BENEATH = struct.Struct("<Qi")

_LIBC = ctypes.CDLL(None, use_errno=True)


def restrict_files(readable: Iterable[str], listable: Iterable[str] = ()) -> None:
    """Leaves this process the files and folders given, to be read only, and nothing else of the file system.

    Args:
        readable: files, and folders with all below them.
        listable: folders whose names, with all below them, may be listed as well, but not read.

    Raises:
        LockdownError: the kernel has no Landlock, or the restriction has no effect.
    """
    version = _LIBC.syscall(CREATE_RULESET, None, 0, VERSION)
    if version < 1:
        raise LockdownError(f"Landlock is not available: {os.strerror(ctypes.get_errno())}; it needs Linux 5.13")
    ruleset = _call(CREATE_RULESET, *_sized(_handled(version)), 0)
    for path in readable:
        _allow(ruleset, path, READ_FILE | READ_DIR)
    for path in listable:
        _allow(ruleset, path, READ_DIR)
    forbid_new_privileges()
    _call(RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)
    try:
        os.close(os.open("/", os.O_RDONLY))
    except PermissionError:
        return
    raise LockdownError("Landlock is in force, but the root folder can still be opened")


def _handled(version: int) -> bytes:
    """struct landlock_ruleset_attr: all that is refused unless a rule allows it, as far as the kernel knows it."""
    rights = max(count for since, count in KNOWN_TO.items() if since <= version)
    handled = [(1 << rights) - 1]
    if version >= 4:  # noqa: PLR2004 - as in the table above
        handled.append(TCP)
    if version >= 6:  # noqa: PLR2004
        handled.append(SCOPES)
    return struct.pack(f"<{len(handled)}Q", *handled)


def _allow(ruleset: int, path: str, rights: int) -> None:
    """A rule for a path; one that is not there needs none."""
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        is_folder = stat.S_ISDIR(os.fstat(place).st_mode)
        rule = BENEATH.pack(rights if is_folder else rights & ~READ_DIR, place)
        _call(ADD_RULE, ruleset, PATH_BENEATH, rule, 0)
    finally:
        os.close(place)


def _sized(structure: bytes) -> tuple[bytes, ctypes.c_size_t]:
    return structure, ctypes.c_size_t(len(structure))


def _call(number: int, *arguments: object) -> int:
    result = int(_LIBC.syscall(number, *arguments))
    if result < 0:
        raise LockdownError(f"the system call {number} of Landlock failed: {os.strerror(ctypes.get_errno())}")
    return result
