"""Reading a folder or one file without ever following a link."""

from __future__ import annotations

import errno
import io
import os
import stat
from itertools import islice
from pathlib import Path

from grader.errors import UngradableError
from grader.intake import limits
from grader.intake.tree import Tree, kept_cap, shown

MACHINE = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO, errno.ESTALE, errno.ETIMEDOUT})
"""What a machine in trouble answers, whatever was delivered: too many open files, no memory, a bad disk or network."""

# O_NONBLOCK: opening a named pipe must not wait for someone to write into it.
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC


def refuse_special(name: str, mode: int) -> None:
    """Let only ordinary files and folders through.

    Raises:
        UngradableError: the mode is that of a link, a device, a pipe or a socket.
    """
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return
    kind = "a symbolic link" if stat.S_ISLNK(mode) else "a device, pipe or socket"
    raise UngradableError(f"expected ordinary files, found {shown(name)}, which is {kind}")


def open_file(path: Path | str, folder: int | None = None) -> io.FileIO:
    """Open an ordinary file for reading; `folder` is an open descriptor that the path is relative to.

    Raises:
        UngradableError: it is not an ordinary file.
        OSError: it cannot be opened.
    """
    name = Path(path).name
    refuse_special(name, os.stat(path, dir_fd=folder, follow_symlinks=False).st_mode)
    descriptor = os.open(path, _FILE_FLAGS, dir_fd=folder)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UngradableError(f"expected an ordinary file, found {shown(name)}, which is none")
    return io.FileIO(descriptor, closefd=True)


def read_file(path: Path | str, cap: int, folder: int | None = None) -> bytes:
    """Read at most one byte more than `cap`: a longer answer means "too large"."""
    with io.BufferedReader(open_file(path, folder)) as file:
        return file.read(cap + 1)


def read_folder(path: Path, tree: Tree) -> None:
    """Read the sources of a folder, and of the folders in it, into the tree.

    Raises:
        UngradableError: something in it is refused.
        OSError: something in it cannot be read.
    """
    _walk(os.open(path, _FOLDER_FLAGS), "", tree)


def _walk(folder: int, prefix: str, tree: Tree) -> None:
    try:
        with os.scandir(folder) as listing:
            # One more than `admit` lets through: a folder of millions is not even listed to its end.
            entries = sorted(islice(listing, limits.ENTRIES + 1), key=lambda entry: entry.name)
        for entry in entries:
            name = tree.admit(prefix + entry.name)
            if name is None:
                continue
            mode = entry.stat(follow_symlinks=False).st_mode
            refuse_special(name, mode)
            cap = kept_cap(name)
            if stat.S_ISDIR(mode):
                _walk(os.open(entry.name, _FOLDER_FLAGS, dir_fd=folder), f"{name}/", tree)
            elif cap is None:
                tree.others.append(name)
            else:
                tree.keep(name, read_file(entry.name, cap, folder))
    finally:
        os.close(folder)
