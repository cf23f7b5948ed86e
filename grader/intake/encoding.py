"""Whether a source's bytes are text, by Python's own rule: byte order mark, coding line, else UTF-8."""

from __future__ import annotations

import codecs
import re

from grader.errors import UngradableError
from grader.intake.tree import shown

# PEP 263: a comment in one of the first two lines, the second only if the first is blank or a comment.
_COOKIE = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK = re.compile(rb"[ \t\f]*(?:#.*)?\r?$")
# Encodings that editors write. Python's registry also holds compressors and codecs of quadratic time.
_TEXT = re.compile(
    r"utf_?8(_?sig)?|u8|ascii|us_ascii|646|latin_?1|l1|iso_?8859_\d{1,2}|iso_latin_1|(cp|windows_)\d{3,4}|koi8_[rtu]|mac_roman"
    r"|gbk|gb2312|gb18030|big5|big5hkscs|euc_(kr|jp)|shift_?jis|s?jis|johab"
)


def encoding_of(source: bytes) -> str:
    """Give the encoding that Python would read the source in, as its coding line names it."""
    if source.startswith(codecs.BOM_UTF8):
        return "utf-8"
    for line in source.split(b"\n", 2)[:2]:
        if found := _COOKIE.match(line):
            return found[1].decode("utf-8", "replace")
        if not _BLANK.match(line):
            break
    return "utf-8"


def check_text(name: str, source: bytes) -> None:
    """Make sure that the worker will be able to decode a source.

    Raises:
        UngradableError: it cannot be decoded; the message names the file, the byte and its offset.
    """
    encoding = encoding_of(source)
    if not _TEXT.fullmatch(re.sub(r"[-. ]", "_", encoding.lower())):
        raise UngradableError(
            f"expected {name} in an encoding for text, found the coding line naming {shown(encoding)}"
        )
    try:
        source.decode(encoding)
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        raise UngradableError(
            f"expected {name} in {encoding.upper()}, found the byte 0x{source[error.start]:02x} "
            f"at offset {error.start} (line {line}); save it as UTF-8, or name its encoding in line 1 (# coding: …)"
        ) from error
    except LookupError as error:
        raise UngradableError(f"expected {name} in an encoding that Python knows, found {shown(encoding)}") from error
