"""Tar archives of every form are read; headers that are damaged, or made to cost time or memory, are refused."""

from __future__ import annotations

import io
import struct
import tarfile
import tracemalloc

import pytest

from grader.intake import limits


def extended(kind: bytes, content: bytes) -> bytes:
    info = tarfile.TarInfo("././@PaxHeader")
    info.type, info.size = kind, len(content)
    return info.tobuf(tarfile.GNU_FORMAT) + content + bytes(-len(content) % 512)


@pytest.mark.parametrize("mode", ["w", "w:gz"])
@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
def test_tar_archives_of_every_form_are_read(tmp_path, one, four, mode, form):
    path = tmp_path / ("zoe.tar" if mode == "w" else "zoe.tgz")
    with tarfile.open(path, mode, format=form) as archive:
        for name, content in four.items():
            info = tarfile.TarInfo(f"wrapper/{'d' * 120}/{name}")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    assert one(path).files == four


def test_the_same_name_twice_in_a_tar_is_refused_although_tar_would_take_the_last(tmp_path, tarred, one):
    path = tarred(tmp_path / "a.tar", {"nn.py": b"1"}, mode="w")
    with tarfile.open(path, "a") as archive:
        info = tarfile.TarInfo("nn.py")
        info.size = 1
        archive.addfile(info, io.BytesIO(b"2"))
    assert one(path).problem == "expected every file once, found nn.py and nn.py: which one is meant?"


@pytest.mark.parametrize("claimed", [5, 10**4, 2**33])
def test_a_size_that_lies_in_a_tar_is_refused(tmp_path, one, claimed):
    info = tarfile.TarInfo("nn.py")
    info.size = claimed
    content = (b"x = 1\n" * 200).ljust(1536, b"\0")
    (tmp_path / "a.tar").write_bytes(info.tobuf(tarfile.GNU_FORMAT) + content + bytes(1024))
    assert one(tmp_path / "a.tar").problem.startswith("expected a whole .tar archive")


def test_a_damaged_header_in_the_middle_of_a_tar_is_not_taken_for_its_end(tmp_path, tarred, one, four):
    path = tarred(tmp_path / "a.tar", four, mode="w")
    data = bytearray(path.read_bytes())
    data[1024 + 150] ^= 0xFF  # in the checksum of the second header
    path.write_bytes(data)
    assert one(path).problem == "expected a whole .tar archive, found one that is damaged or incomplete"


def test_a_header_that_points_backwards_does_not_loop(tmp_path, one):
    info = tarfile.TarInfo("nn.py")
    block = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    block[124:136] = struct.pack(">4s q", b"\xff\xff\xff\xff", -1024)  # a negative size, base 256
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    (tmp_path / "a.tar").write_bytes(bytes(block) + bytes(2048))
    assert one(tmp_path / "a.tar").problem.startswith("expected a whole .tar archive")


def test_a_gigantic_extended_header_is_not_read_into_memory(tmp_path, one):
    info = tarfile.TarInfo("././@PaxHeader")
    info.type, info.size = tarfile.XHDTYPE, 2**33
    (tmp_path / "a.tar").write_bytes(info.tobuf(tarfile.GNU_FORMAT) + bytes(4096))
    assert one(tmp_path / "a.tar").problem.endswith("found a header that is far too long")


@pytest.mark.parametrize(
    "content",
    [
        b"9" * 1_000_000,  # tarfile looks for the end of the number from every digit
        b"2 " * 500_000 + b"=",  # and takes each record for one that reaches up to the only equals sign
        b"9999999 path=nn.py\n",
        b"0 path=nn.py\n",
        b"7 path\n",
        b"-5 a=b\n",
    ],
    ids=["digits", "overlapping", "too long", "too short", "no value", "negative"],
)
def test_records_that_are_none_make_a_header_damaged(tmp_path, one, content):
    tar = extended(tarfile.XHDTYPE, content) + tarfile.TarInfo("nn.py").tobuf(tarfile.GNU_FORMAT) + bytes(1024)
    (tmp_path / "a.tar").write_bytes(tar)
    assert one(tmp_path / "a.tar").problem == "expected a whole .tar archive, found one that is damaged or incomplete"


def test_a_global_header_is_not_copied_for_every_file_behind_it(tmp_path, one, four):
    # tarfile would keep 50,000 records of it for each of these files: 2 GB of memory for an archive of 2 MB.
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, content in four.items():
            info = tarfile.TarInfo(f"{'d' * 200}/{name}")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        for number in range(500):
            archive.addfile(tarfile.TarInfo(f"{'d' * 200}/{number}.txt"))
    everywhere = extended(tarfile.XGLTYPE, b"".join(b"11 %05x=b\n" % number for number in range(50_000)))
    (tmp_path / "a.tar").write_bytes(everywhere + packed.getvalue())
    tracemalloc.start()
    try:
        assert one(tmp_path / "a.tar").files == four
        assert tracemalloc.get_traced_memory()[1] < 16 * limits.MIB
    finally:
        tracemalloc.stop()


def test_an_archive_of_git_is_read_with_its_comment_for_all_files(tmp_path, tarred, one, four):
    path = tarred(tmp_path / "a.tar", four, mode="w")
    comment = extended(tarfile.XGLTYPE, b"52 comment=" + b"0" * 40 + b"\n")
    path.write_bytes(comment + path.read_bytes())
    assert one(path).files == four


@pytest.mark.parametrize("record", [b"20 GNU.sparse.map=0\n", b"22 GNU.sparse.major=1\n"])
def test_a_sparse_file_is_refused_in_its_new_form(tmp_path, one, record):
    tar = extended(tarfile.XHDTYPE, record) + tarfile.TarInfo("nn.py").tobuf(tarfile.GNU_FORMAT) + bytes(1024)
    (tmp_path / "a.tar").write_bytes(tar)
    assert one(tmp_path / "a.tar").problem == "expected ordinary files, found nn.py, which is no ordinary file"


def test_a_sparse_file_is_refused_in_its_old_form_before_its_map_is_read(tmp_path, one):
    info = tarfile.TarInfo("nn.py")
    info.type = tarfile.GNUTYPE_SPARSE
    (tmp_path / "a.tar").write_bytes(info.tobuf(tarfile.GNU_FORMAT) + b"00000000001\0" * 100_000)
    assert one(tmp_path / "a.tar").problem == "expected ordinary files, found nn.py, which is no ordinary file"


def test_headers_nested_without_end_do_not_crash(tmp_path, one):
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 10
    (tmp_path / "a.tar").write_bytes((info.tobuf(tarfile.GNU_FORMAT) + b"long name".ljust(512, b"\0")) * 3000)
    assert one(tmp_path / "a.tar").problem.startswith("expected a whole .tar archive")
