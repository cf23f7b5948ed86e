"""Sources are delivered as they are, if Python itself could decode them."""

from __future__ import annotations

import json

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


AS_UTF_8 = "; save it as UTF-8"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("x = 1\n".encode("utf-16-le"), "found the byte 0x00 at offset 1 (line 1), as in a file saved as UTF-16"),
        ("x = 1\n".encode("utf-16-be"), "found the byte 0x00 at offset 0 (line 1), as in a file saved as UTF-16"),
        (b"\xff\xfex\0", "found the byte 0xff at offset 0 (line 1), as in a file saved as UTF-16"),
        (b"\xfe\xff\0x", "found the byte 0xfe at offset 0 (line 1), as in a file saved as UTF-16"),
        (b"\xff\xfe\0\0x\0\0\0", "found the byte 0xff at offset 0 (line 1), as in a file saved as UTF-32"),
        ("x = 1\n".encode("utf-32-le"), "found the byte 0x00 at offset 1 (line 1), as in a file saved as UTF-32"),
        (b"x = 1\ny = '\0'\n", "found the byte 0x00 at offset 11 (line 2), which is in no text"),
        (b"# coding: latin-1\n# \xe9\0\n", "found the byte 0x00 at offset 21 (line 2), which is in no text"),
        (b"# coding: utf-16\nx = 1\n", ""),
    ],
)
def test_a_source_in_utf_16_or_with_a_nul_byte_is_refused_by_its_name(tmp_path, write, one, source, found):
    problem = one(write(tmp_path / "zoe", {"nn.py": source})).problem
    by_coding_line = "expected nn.py in an encoding for text, found the coding line naming utf-16"
    assert problem == (f"expected nn.py in UTF-8, {found}{AS_UTF_8}" if found else by_coding_line)


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-32-be"])
def test_a_notebook_in_utf_16_is_refused_by_its_name(tmp_path, write, one, codec):
    problem = one(write(tmp_path / "zoe", {"hw3.ipynb": '{"nbformat": 4, "cells": []}'.encode(codec)})).problem
    assert problem.startswith("expected hw3.ipynb in UTF-8, found the byte 0x")
    assert problem.endswith(f"as in a file saved as {codec[:6].upper()}{AS_UTF_8}")


def test_a_nul_in_a_notebooks_cell_is_refused_in_the_file_that_it_becomes(tmp_path, write, one):
    cell = {"cell_type": "code", "metadata": {}, "source": "# file: nn.py\nx = '\0'\n"}
    notebook = json.dumps({"nbformat": 4, "metadata": {}, "cells": [cell]}).encode()
    problem = one(write(tmp_path / "zoe", {"hw3.ipynb": notebook})).problem
    assert problem == (
        f"expected nn.py in UTF-8, found the byte 0x00 at offset 5 (line 1), which is in no text{AS_UTF_8}"
    )
