"""Archives, read as streams into memory: nothing is ever unpacked to disk, and nothing inside is recursed into."""

from __future__ import annotations

import gzip
import io
import os
import stat
import struct
import tarfile
import zipfile
import zlib
from pathlib import Path
from typing import IO

from grader.errors import UngradableError
from grader.intake import limits, tar
from grader.intake.folders import MACHINE, open_file, refuse_special
from grader.intake.tree import ARCHIVE_SUFFIXES, Tree, archive_suffix, kept_cap, shown

# What the standard library raises on damaged archives (OSError: a seek to a place before the file's beginning,
# gzip's own; RuntimeError: also headers nested too deeply).
_DAMAGED = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, struct.error, EOFError, OSError),
    *(ValueError, LookupError, OverflowError, RuntimeError),
)
_ENCRYPTED = 0x1
_ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # the others may ask for gigabytes of dictionary
_TAR_FILES = (tarfile.REGTYPE, tarfile.AREGTYPE)


def read_archive(path: Path, tree: Tree) -> None:
    """Read the sources of an archive into the tree.

    Raises:
        UngradableError: it is no archive that is read here, is damaged, or holds something that is refused.
        OSError: the file itself cannot be opened.
    """
    with _Bounded(open_file(path)) as file:
        if os.fstat(file.fileno()).st_size > limits.ARCHIVE_BYTES:
            raise UngradableError(
                f"expected an archive of at most {limits.ARCHIVE_BYTES // limits.MIB} MiB, found more"
            )
        head = file.read(512)
        file.seek(0)
        try:
            if head.startswith(b"PK"):
                _read_zip(file, tree)
            elif head.startswith(b"\x1f\x8b"):
                with gzip.GzipFile(fileobj=file) as unzipped:
                    _read_tar(unzipped, file, tree)
            elif head[257:262] == b"ustar":
                _read_tar(file, file, tree)
            else:
                wanted = ", ".join(reversed(ARCHIVE_SUFFIXES))
                found = "an empty file" if not head else "another kind of file"
                raise UngradableError(f"expected an archive ({wanted}), found {found} named {shown(path.name)}")
        except _DAMAGED as error:
            if isinstance(error, OSError) and error.errno in MACHINE:
                raise
            wanted = f"expected a whole {archive_suffix(path.name).lower()} archive"
            raise UngradableError(f"{wanted}, found one that is damaged or incomplete") from error


class _Bounded(io.BufferedReader):
    """A file of which no more is read than an honest archive asks for, at once (a zip's directory, say) and in all."""

    def __init__(self, file: io.FileIO) -> None:
        super().__init__(file)
        self._left = 2 * os.fstat(file.fileno()).st_size + limits.READ_BYTES

    def read(self, size: int | None = -1, /) -> bytes:
        limit = limits.READ_BYTES
        data = super().read(limit + 1 if size is None or size < 0 else min(size, limit + 1))
        if len(data) > limit:
            raise UngradableError(
                "expected an archive of a few small files, found a list of contents that is far too long"
            )
        self._left -= len(data)
        if self._left < 0:  # many names for the same bytes, which would be read again for each
            raise UngradableError("expected an archive of a few source files, found one whose files overlap")
        return data


def _read_zip(file: _Bounded, tree: Tree) -> None:
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        _refuse_bomb(sum(member.file_size for member in members), os.fstat(file.fileno()).st_size)
        for member in members:
            name = tree.admit(member.filename)
            if name is None:
                continue
            mode = member.external_attr >> 16  # the upper half is a Unix mode, 0 where the packer was none
            if stat.S_IFMT(mode):
                refuse_special(name, mode)
            if member.is_dir():
                continue
            if member.flag_bits & _ENCRYPTED:
                raise UngradableError(f"expected an archive without a password, found {shown(name)} encrypted")
            cap = kept_cap(name)
            if cap is None:
                tree.others.append(name)
                continue
            if member.compress_type not in _ZIP_METHODS:
                found = f"found {shown(name)} packed by method {member.compress_type}"
                raise UngradableError(f"expected an ordinary zip (stored or deflated), {found}")
            with archive.open(member) as content:
                data = _read_up_to(content, cap + 1)
            if len(data) != min(member.file_size, cap + 1):
                found = f"found {shown(name)} with another size than it says"
                raise UngradableError(f"expected a whole .zip archive, {found}")
            tree.keep(name, data)


def _read_tar(unpacked: io.BufferedIOBase, packed: _Bounded, tree: Tree) -> None:
    stream = tar.Stream(unpacked, watch=lambda size: _refuse_bomb(size, packed.tell()))
    for member in tar.members(stream):
        name = tree.admit(member.name)
        if name is None or member.isdir():
            continue
        if member.type not in _TAR_FILES:
            kind = "a link" if member.issym() or member.islnk() else "no ordinary file"
            raise UngradableError(f"expected ordinary files, found {shown(name)}, which is {kind}")
        cap = kept_cap(name)
        if cap is None:
            tree.others.append(name)
        else:
            tree.keep(name, stream.take(min(member.size, cap + 1)))


def _read_up_to(content: IO[bytes], size: int) -> bytes:
    data = bytearray()
    while len(data) < size and (piece := content.read(min(size - len(data), 64 * limits.KIB))):
        data += piece
    return bytes(data)


def _refuse_bomb(unpacked: int, packed: int) -> None:
    if unpacked > limits.UNPACKED_BYTES:
        found = f"found one that unpacks to more than {limits.UNPACKED_BYTES // limits.MIB} MiB"
    elif unpacked > limits.RATIO_FROM and unpacked > limits.RATIO * max(packed, 1):
        found = f"found one that unpacks to {unpacked // max(packed, 1)} times its size"
    else:
        return
    raise UngradableError(f"expected an archive of a few source files, {found}")
