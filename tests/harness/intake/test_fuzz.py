"""Whatever bytes come: submissions or a usage error come out, nothing is written, and memory stays bounded."""

from __future__ import annotations

import io
import json
import tarfile
import tempfile
import tracemalloc
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.intake import collect
from grader.submission import CANONICAL

pytestmark = pytest.mark.filterwarnings("ignore:Duplicate name")
SLOW = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])

part = st.sampled_from(
    [*CANONICAL, "assignment", "hw3", "..", ".", "", "C:", "__MACOSX", ".git", "x.ipynb", "NN.PY", "a\\b"]
) | st.text(max_size=8)
name = st.lists(part, min_size=1, max_size=4).map("/".join)
content = st.binary(max_size=200) | st.sampled_from(
    [b"\xff\xfe", b"# coding: hex\n", bytes(300_000), b'{"nbformat": 4, "cells": [1]}']
)
kind = st.sampled_from(
    [tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.GNUTYPE_SPARSE]
)


@st.composite
def zips(draw) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, data in draw(st.lists(st.tuples(name, content), max_size=5)):
            info = zipfile.ZipInfo(path.encode("utf-8", "replace").decode() or "x")
            info.compress_type = draw(st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2]))
            info.external_attr = draw(st.integers(0, 0xFFFF)) << 16
            archive.writestr(info, data)
    return buffer.getvalue()


@st.composite
def tars(draw) -> bytes:
    buffer = io.BytesIO()
    form = draw(st.sampled_from([tarfile.PAX_FORMAT, tarfile.GNU_FORMAT]))
    with tarfile.open(fileobj=buffer, mode=draw(st.sampled_from(["w", "w:gz"])), format=form) as archive:
        for path, data in draw(st.lists(st.tuples(name, content), max_size=5)):
            info = tarfile.TarInfo(path.encode("utf-8", "replace").decode())
            info.type, info.size, info.linkname = draw(kind), len(data), "nn.py"
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


@st.composite
def damaged(draw, archives) -> bytes:
    data = bytearray(draw(archives))
    for at, value in draw(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), max_size=6)):
        data[at % len(data)] = value
    return bytes(data[: draw(st.sampled_from([len(data), len(data) // 2, len(data) - 1]))])


def everything_under(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def check_harmless(file_name: str, data: bytes) -> None:
    with tempfile.TemporaryDirectory() as room:
        folder = Path(room) / "class"
        folder.mkdir()
        (folder / file_name).write_bytes(data)
        before = everything_under(Path(room))
        tracemalloc.start()
        try:
            (submission,) = collect(folder)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 40 * 2**20
        assert everything_under(Path(room)) == before
    assert submission.id == "s1"
    assert submission.problem.isprintable()
    assert bool(submission.files) != bool(submission.problem)
    for path in submission.files:
        assert all(part.isidentifier() for part in path.removesuffix(".py").split("/"))


@SLOW
@given(zips() | damaged(zips()))
def test_no_zip_does_harm(data):
    check_harmless("s1.zip", data)


@SLOW
@given(tars() | damaged(tars()))
def test_no_tar_does_harm(data):
    check_harmless("s1.tar.gz", data)


@SLOW
@given(
    st.binary(max_size=2000).map(lambda data: b"PK\3\4" + data)
    | st.binary(max_size=2000).map(lambda data: b"\x1f\x8b\x08" + data)
)
def test_no_bytes_under_an_archives_name_do_harm(data):
    check_harmless("s1.zip", data)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["cells", "source", "metadata", "cell_type", "nbformat"]), inner)
    ),
)


@SLOW
@given(values, st.integers(0, 5))
def test_no_json_under_a_notebooks_name_does_harm(value, version):

    document = {
        "nbformat": version,
        "cells": [{"cell_type": "code", "source": "def generate(): ...", "metadata": {}}],
        "metadata": {},
    }
    if isinstance(value, dict):
        document |= value
    check_harmless("s1.ipynb", json.dumps(document if isinstance(value, dict) else value).encode())


@SLOW
@given(st.binary(max_size=300))
def test_no_bytes_under_a_sources_name_do_harm(data):
    check_harmless("s1.py", b"def generate(): ...\n" + data)
