"""Whether a source's bytes are text, by Python's own rule: byte order mark, coding line, else UTF-8."""

from __future__ import annotations

import codecs
import re

from grader.errors import UngradableError
from grader.intake.tree import shown

# PEP 263: a comment in one of the first two lines, the second only if the first is blank or a comment.
_COOKIE = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK = re.compile(rb"[ \t\f]*(?:#.*)?\r?$")
# The longer ones first: UTF-32's mark begins with UTF-16's.
_WIDE_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
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


def refuse_wide(name: str, content: bytes) -> None:
    """Refuse UTF-16 and UTF-32, which Windows' editors write, and what is no text: Python reads no NUL bytes.

    Raises:
        UngradableError: the message names the file, the byte, its offset, and the encoding that it looks like.
    """
    wide = next((found for mark, found in _WIDE_MARKS.items() if content.startswith(mark)), "")
    at = 0 if wide else content.find(0)
    if at < 0:
        return
    nulls = content.count(0) / len(content)  # of ASCII text: one half of UTF-16, three quarters of UTF-32
    wide = wide or ("UTF-32" if nulls > 5 / 8 else "UTF-16" if nulls > 1 / 4 else "")
    looks = f"as in a file saved as {wide}" if wide else "which is in no text"
    line = content.count(b"\n", 0, at) + 1
    found = f"found the byte 0x{content[at]:02x} at offset {at} (line {line}), {looks}"
    raise UngradableError(f"expected {name} in UTF-8, {found}; save it as UTF-8")


def check_text(name: str, source: bytes) -> None:
    """Make sure that the worker will be able to decode a source.

    Raises:
        UngradableError: it cannot be decoded; the message names the file, the byte and its offset.
    """
    refuse_wide(name, source)
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
