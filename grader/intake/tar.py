"""Tar archives, read once from front to end.

`tarfile` reads a header, but not what stands behind it: given extended headers made for the purpose, its own walk takes
gigabytes, and hours, over a megabyte. Here the work grows with the bytes that are read and with nothing else.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable, Iterator

from grader.errors import UngradableError
from grader.intake import limits

BLOCK = tarfile.BLOCKSIZE
IN_A_ROW = 8
"""So many extended headers may stand before one member; writers put two or three."""

SPARSE = "GNU.sparse"
_KEYWORDS = (b"path", b"size")
_EXTENDED = (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE)
_ALL_EXTENDED = (*_EXTENDED, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)


class Stream:
    """Bytes that are read from front to end.

    Args:
        file: where they come from.
        watch: told how many have been read so far, before any more are.
    """

    def __init__(self, file: io.BufferedIOBase, watch: Callable[[int], None]) -> None:
        self._file, self._watch = file, watch
        self.at = 0

    def take(self, size: int) -> bytes:
        """Exactly so many bytes, fewer only at the end."""
        data = bytearray()
        while len(data) < size and (piece := self._file.read(min(size - len(data), 64 * limits.KIB))):
            data += piece
            self.at += len(piece)
            self._watch(self.at)
        return bytes(data)

    def skip_to(self, place: int) -> None:
        """Pass over what stands before a place; raises ReadError if there is less."""
        while self.at < place:
            if not self.take(min(place - self.at, 64 * limits.KIB)):
                raise tarfile.ReadError("unexpected end of data")


def members(stream: Stream) -> Iterator[tarfile.TarInfo]:
    """The archive's members one by one; whoever gets one may take up to `size` bytes, its content, from the stream.

    What is sparse has the type of that, whatever its header says.

    Raises:
        UngradableError: an extended header is far too long.
        tarfile.TarError, ValueError: a header is damaged.
    """
    while (member := _next(stream)) is not None:
        end = stream.at + _padded(member.size if _has_data(member) else 0)
        yield member
        stream.skip_to(end)


def _next(stream: Stream) -> tarfile.TarInfo | None:
    """The next member, with what the extended headers before it say of it; None at the end of the archive."""
    name, told = "", dict[str, str]()
    for _ in range(IN_A_ROW + 1):
        block = stream.take(BLOCK)
        if not block.strip(b"\0"):
            if name or told:
                raise tarfile.ReadError("an extended header of nothing")
            return None
        member = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        if member.size < 0:
            raise tarfile.ReadError("a negative size")
        if member.type not in _ALL_EXTENDED:
            return _told(member, name, told)
        content = _extended(stream, member.size)
        if member.type == tarfile.GNUTYPE_LONGNAME:
            name = content.partition(b"\0")[0].decode("utf-8", "surrogateescape")
        elif member.type in _EXTENDED:
            told |= _records(content)
    raise tarfile.ReadError("too many extended headers in a row")


def _extended(stream: Stream, size: int) -> bytes:
    if size > limits.READ_BYTES:
        raise UngradableError("expected an archive of a few small files, found a header that is far too long")
    data = stream.take(_padded(size))
    if len(data) < _padded(size):
        raise tarfile.ReadError("unexpected end of data")
    return data[:size]


def _records(content: bytes) -> dict[str, str]:
    """What a pax header says of path, size and sparseness.

    It is made of records "<its length> <keyword>=<value>" and a line end (POSIX.1-2008, "pax Header Block").
    """
    records, at = dict[str, str](), 0
    while at < len(content) and content[at : at + 1] != b"\0":
        digits, _, _ = content[at : at + 8].partition(b" ")  # a header of that size needs no more digits
        if not digits.isdigit() or int(digits) <= len(digits) or at + int(digits) > len(content):
            raise tarfile.ReadError("a damaged record in an extended header")
        keyword, equals, value = content[at + len(digits) + 1 : at + int(digits) - 1].partition(b"=")
        if not equals:
            raise tarfile.ReadError("a record without a value in an extended header")
        if keyword in _KEYWORDS:
            records[keyword.decode()] = value.decode("utf-8", "surrogateescape")
        elif keyword.startswith(b"GNU.sparse."):
            records[SPARSE] = "1"
        at += int(digits)
    return records


def _told(member: tarfile.TarInfo, name: str, told: dict[str, str]) -> tarfile.TarInfo:
    """The member as the extended headers before it change it."""
    member.name = told.get("path", name or member.name)
    if "size" in told:
        if not (told["size"].isascii() and told["size"].isdigit()):
            raise tarfile.ReadError("a size that is no number")
        member.size = int(told["size"])
    if SPARSE in told:
        member.type = tarfile.GNUTYPE_SPARSE
    return member


def _has_data(member: tarfile.TarInfo) -> bool:
    return member.isreg() or member.type not in tarfile.SUPPORTED_TYPES


def _padded(size: int) -> int:
    return -(-size // BLOCK) * BLOCK
