"""Sources are delivered as they are, if Python itself could decode them."""

from __future__ import annotations

import pytest

from grader.errors import UngradableError
from grader.intake.encoding import check_text


@pytest.mark.parametrize(
    "source",
    [
        b"",
        "# Größe 王\n".encode(),
        b"\xef\xbb\xbf# Gr\xc3\xb6\xc3\x9fe\n",
        b"# -*- coding: latin-1 -*-\n# Gr\xf6\xdfe\n",
        b"#!/usr/bin/env python3\n# vim: set fileencoding=cp1252 :\n# Gr\xf6\xdfe \x80\n",
        b"\n# coding: iso-8859-15\n# \xa4\n",
        b"# coding=gbk\n# \xcd\xf5\n",
        b"# coding: Shift_JIS\n# \x83\x65\n",
        b"# coding: UTF-8\r\n# \xc3\xb6\r\n",
        b"# coding: euc-kr\n# \xb0\xa1\n",
    ],
)
def test_text_that_python_can_decode_passes_unchanged(tmp_path, write, one, source):
    check_text("nn.py", source)
    assert one(write(tmp_path / "zoe", {"nn.py": source})).files == {"nn.py": source}


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            b"x = 1\ny = '\xe9'\n",
            "expected nn.py in UTF-8, found the byte 0xe9 at offset 11 (line 2); save it as UTF-8",
        ),
        (b"\xff\xfex\0", "expected nn.py in UTF-8, found the byte 0xff at offset 0 (line 1)"),
        (b"\xef\xbb\xbf# \xe9\n", "expected nn.py in UTF-8, found the byte 0xe9 at offset 5 (line 1)"),
        (b"x = 1\n# coding: latin-1\n# \xe9\n", "expected nn.py in UTF-8, found the byte 0xe9 at offset 26 (line 3)"),
        (b"# coding: ascii\n# \xe9\n", "expected nn.py in ASCII, found the byte 0xe9 at offset 18 (line 2)"),
        (b"# coding: klingon\n", "expected nn.py in an encoding for text, found the coding line naming klingon"),
        (b"# coding: cp9999\n", "expected nn.py in an encoding that Python knows, found cp9999"),
    ],
)
def test_text_that_python_cannot_decode_is_refused_with_byte_and_offset(source, message):
    with pytest.raises(UngradableError) as caught:
        check_text("nn.py", source)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    "codec", ["zlib_codec", "hex", "rot13", "idna", "punycode", "unicode_escape", "undefined", "utf-7", "os.path"]
)
def test_codecs_that_are_no_text_encoding_are_not_even_looked_up(codec):
    with pytest.raises(UngradableError, match="an encoding for text"):
        check_text("nn.py", f"# coding: {codec}\n".encode())
