"""Whatever bytes come: submissions or a usage error come out, nothing is written, and little is read or remembered."""

from __future__ import annotations

import contextlib
import io
import json
import tarfile
import tempfile
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.intake import archives, collect, folders, limits
from grader.submission import CANONICAL

pytestmark = pytest.mark.filterwarnings("ignore:Duplicate name")
EXAMPLES = 200
# A profile with more examples, such as that of the night, is not cut down to ours.
SLOW = settings(
    max_examples=max(EXAMPLES, settings.default.max_examples),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)

usual = [*CANONICAL, "assignment", "hw3", ".", "", "__MACOSX", ".git", "x.ipynb", "NN.PY", "w.zip"]
hostile = ["..", "C:", "a\\b", "\u202eyp.nn", "a\nb.py", "d" * 300, "cafe\u0301.py", "caf\u00e9.py", "\udc80.py"]
part = st.sampled_from([*usual, *hostile]) | st.text(max_size=8)
name = st.lists(part, min_size=1, max_size=4).map("/".join)
content = st.binary(max_size=200) | st.sampled_from(
    [b"\xff\xfe", b"# coding: hex\n", bytes(300_000), b'{"nbformat": 4, "cells": [1]}', b"PK\3\4", b"x\0=\0"]
)
kind = st.sampled_from(
    [tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.GNUTYPE_SPARSE]
)
extended = st.sampled_from([tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK])
whole = [b"14 path=nn.py\n", b"10 size=5\n", b"12 size=-99\n", b"20 GNU.sparse.map=0\n"]
record = st.sampled_from([*whole, b"2 ", b"9" * 99, b"x\0", b"0 a=b\n"])
lie = st.sampled_from([0, 1, 5, 0xFFFF, 2**31, 0xFFFFFFFF])


@st.composite
def zips(draw) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, data in draw(st.lists(st.tuples(name, content), max_size=5)):
            info = zipfile.ZipInfo(path.encode("utf-8", "replace").decode() or "x")
            info.compress_type = draw(st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2]))
            info.external_attr = draw(st.integers(0, 0xFFFF)) << 16
            archive.writestr(info, data)
        for info in archive.infolist():  # what the directory says of it may be wrong
            info.file_size = draw(st.just(info.file_size) | lie)
            info.compress_size = draw(st.just(info.compress_size) | lie)
            info.header_offset = draw(st.just(info.header_offset) | lie)
            info.flag_bits |= draw(st.sampled_from([0, 0, 0, 1, 8]))
    return buffer.getvalue()


@st.composite
def tars(draw) -> bytes:
    buffer = io.BytesIO()
    form = draw(st.sampled_from([tarfile.PAX_FORMAT, tarfile.GNU_FORMAT]))
    with tarfile.open(fileobj=buffer, mode=draw(st.sampled_from(["w", "w:gz"])), format=form) as archive:
        for path, data in draw(st.lists(st.tuples(name, content), max_size=5)):
            for header, records in draw(st.lists(st.tuples(extended, st.lists(record, max_size=3)), max_size=2)):
                add(archive, "././@PaxHeader", header, b"".join(records))
            add(archive, path.encode("utf-8", "replace").decode(), draw(kind), data)
    return buffer.getvalue()


def add(archive: tarfile.TarFile, path: str, header: bytes, data: bytes) -> None:
    info = tarfile.TarInfo(path)
    info.type, info.size, info.linkname = header, len(data), "nn.py"
    archive.addfile(info, io.BytesIO(data))


@st.composite
def damaged(draw, made) -> bytes:
    data = bytearray(draw(made))
    for at, value in draw(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), max_size=6)):
        data[at % len(data)] = value
    return bytes(data[: draw(st.sampled_from([len(data), len(data) // 2, len(data) - 1]))])


class Counter:
    """How many bytes were read from files, and how many unpacked."""

    def __init__(self) -> None:
        self.read = self.unpacked = 0

    def opening(self, path: Path | str, folder: int | None = None) -> io.FileIO:
        counter = self

        class Counted(io.FileIO):
            def readinto(self, buffer) -> int:
                size = super().readinto(buffer)
                counter.read += size
                return size

        with folders_open(path, folder) as file:
            return Counted(folders.os.dup(file.fileno()))

    def unpacking(self, make: Callable[..., object]) -> Callable[..., object]:
        counter = self

        class Counted:
            def __init__(self, *arguments, **keywords) -> None:
                self._packed = make(*arguments, **keywords)

            def __getattr__(self, attribute: str) -> object:
                return getattr(self._packed, attribute)

            def decompress(self, *arguments) -> bytes:
                data = self._packed.decompress(*arguments)
                counter.unpacked += len(data)
                return data

        return Counted


folders_open = folders.open_file


@contextlib.contextmanager
def counted() -> Iterator[Counter]:
    counter = Counter()
    with (
        mock.patch.object(folders, "open_file", counter.opening),
        mock.patch.object(archives, "open_file", counter.opening),
        mock.patch.object(zlib, "decompressobj", counter.unpacking(zlib.decompressobj)),
    ):
        yield counter


def everything_under(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def check_harmless(file_name: str, data: bytes) -> None:
    with tempfile.TemporaryDirectory() as room:
        folder = Path(room) / "class"
        folder.mkdir()
        (folder / file_name).write_bytes(data)
        (folder / "s2.py").write_bytes(b"def generate(): ...\n")
        before = everything_under(Path(room))
        tracemalloc.start()
        try:
            with counted() as counter:
                submission, neighbour = collect(folder)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 40 * 2**20
        assert 0 < counter.read < 2 * len(data) + 2 * limits.READ_BYTES
        assert counter.unpacked <= max(limits.RATIO_FROM, limits.RATIO * len(data)) + limits.SOURCE_BYTES
        assert everything_under(Path(room)) == before
    assert list(neighbour.files) == ["translation.py"]
    assert submission.id == "s1"
    assert submission.problem.isprintable()
    assert bool(submission.files) != bool(submission.problem)
    for path in submission.files:
        assert all(part.isidentifier() for part in path.removesuffix(".py").split("/"))


@pytest.mark.hypothesis  # so that it runs with those that it speaks of
def test_as_many_examples_run_as_the_profile_asks_for():
    seen = set()

    @SLOW
    @given(st.integers())
    def count(number):
        seen.add(number)

    count()
    assert len(seen) > 0.8 * {"nightly": 5_000}.get(settings.get_current_profile_name(), EXAMPLES)


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


LONG = 100_000
"""A pattern that goes back over such a line for every one of its characters takes minutes: pytest's timeout."""
OPENINGS = ("", "%%writefile", "#", "# file:", "class", "from", "a")


@pytest.mark.parametrize(
    "piece",
    [" ", "\t", "%%writefile ", "a=", "%", "x.", ".py", "def ", "import ", "coding:", "?", "(1)", "\r"],
)
def test_no_line_however_long_keeps_intake_busy(tmp_path, piece):
    lines = [opening + piece * (LONG // len(piece)) for opening in OPENINGS]
    cells = [{"cell_type": "code", "metadata": {"tags": [f"file:{line}"]}, "source": line} for line in lines]
    (tmp_path / "s1.ipynb").write_text(json.dumps({"nbformat": 4, "metadata": {}, "cells": cells}))
    (tmp_path / "s2").mkdir()
    (tmp_path / "s2/nn copy.py").write_text("def generate(): ...\n")  # is it imported under that name?
    for number, line in enumerate(lines):
        (tmp_path / f"s2/m{number}.py").write_text(f"{line}\n")
    assert [submission.id for submission in collect(tmp_path)] == ["s1", "s2"]
