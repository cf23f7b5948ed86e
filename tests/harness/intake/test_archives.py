"""Every way in which an archive can be hostile or broken: refused with a sentence, or made harmless."""

from __future__ import annotations

import gzip
import stat
import struct
import tarfile
import zipfile
import zlib

import pytest

from grader.intake import limits


def member(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def test_a_wrapper_folder_and_the_by_products_of_macos_and_python_are_taken_off(tmp_path, zipped, one, four):
    rubbish = ("__MACOSX/hw3/._nn.py", "hw3/.DS_Store", "hw3/__pycache__/nn.cpython-311.pyc", "hw3/.git/hooks/x.py")
    rubbish += ("hw3/.ipynb_checkpoints/nn.py",)
    files = {f"hw3/{name}": content for name, content in four.items()} | dict.fromkeys(rubbish, b"\0")
    submission = one(zipped(tmp_path / "zoe.zip", files))
    assert (submission.files, submission.remarks, submission.problem) == (four, (), "")


@pytest.mark.parametrize(
    "name", ["../nn.py", "a/../../nn.py", "/etc/nn.py", "C:\\nn.py", "c:nn.py", "..\\nn.py", "../note.txt"]
)
def test_a_name_that_leads_outside_is_refused(*, tmp_path, zipped, tarred, one, four, name):
    for path in (zipped(tmp_path / "a.zip", {**four, name: b""}), tarred(tmp_path / "b.tar.gz", {**four, name: b""})):
        submission = one(path)
        assert submission.problem.endswith("which leads outside it")
        assert submission.files == {}


def test_backslashes_are_read_as_folder_separators_with_a_remark(tmp_path, zipped, one, four):
    submission = one(zipped(tmp_path / "a.zip", {f"hw3\\{name}": content for name, content in four.items()}))
    assert submission.files == four
    assert submission.remarks == ("backslashes in file names were read as folder separators",)


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
def test_links_devices_and_pipes_in_a_tar_are_refused(tmp_path, tarred, one, four, kind):
    problem = one(tarred(tmp_path / "a.tar", four, member("data", kind, "/etc/passwd"), mode="w")).problem
    wanted = "a link" if kind in (tarfile.SYMTYPE, tarfile.LNKTYPE) else "no ordinary file"
    assert problem == f"expected ordinary files, found data, which is {wanted}"


def test_a_symbolic_link_in_a_zip_is_refused(tmp_path, one, four):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("nn.py", four["nn.py"])
        link = zipfile.ZipInfo("transformer.py")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    assert one(tmp_path / "a.zip").problem == "expected ordinary files, found transformer.py, which is a symbolic link"


@pytest.mark.parametrize("kind", [stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFSOCK])
def test_devices_pipes_and_sockets_in_a_zip_are_refused(tmp_path, one, kind):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        device = zipfile.ZipInfo("nn.py")
        device.external_attr = (kind | 0o644) << 16
        archive.writestr(device, b"")
    problem = one(tmp_path / "a.zip").problem
    assert problem == "expected ordinary files, found nn.py, which is a device, pipe or socket"


@pytest.mark.parametrize(
    "name",
    [
        "helper\n.py",
        "helper\x07.py",
        "helper\u202eyp.py",
        "h\u2066.py",
        f"{'h' * 300}.py",
        "/".join("abcdefgh" * 8) + ".py",
    ],
)
def test_a_hostile_source_name_is_refused_and_shown_harmlessly(tmp_path, tarred, one, four, name):
    problem = one(tarred(tmp_path / "a.tar.gz", {**four, name: b""})).problem
    assert problem.startswith(("expected an ordinary file name, found h", "expected an ordinary file name, found a/b"))
    assert problem.isprintable()
    assert len(problem) < 200


def test_a_hostile_name_of_what_is_no_source_is_left_out(tmp_path, tarred, one, four):
    assert one(tarred(tmp_path / "a.tar.gz", {**four, "Icon\r": b"", "\u202e.txt": b""})).files == four


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("second", ["nn.py", "NN.py", "./nn.py", "Nn.PY"])
def test_the_same_name_twice_letter_case_aside_is_refused(tmp_path, one, second):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("nn.py", b"1")
        archive.writestr(second, b"2")
    assert one(tmp_path / "a.zip").problem.startswith("expected every file once, found nn.py and ")


def test_names_that_differ_in_unicode_form_only_are_the_same_name_twice(tmp_path, zipped, one, four):
    problem = one(zipped(tmp_path / "a.zip", {**four, "caf\u00e9.py": b"", "cafe\u0301.py": b""})).problem
    assert problem.startswith("expected every file once")


def test_an_encrypted_archive_is_refused_in_words(tmp_path, zipped, one, four):
    path = zipped(tmp_path / "a.zip", four)
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\1\2") + 8] |= 1  # the flag in the directory at the end
    path.write_bytes(data)
    assert one(path).problem == "expected an archive without a password, found nn.py encrypted"


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_an_unusual_compression_is_refused_in_words(tmp_path, one, method):
    with zipfile.ZipFile(tmp_path / "a.zip", "w", method) as archive:
        archive.writestr("nn.py", b"x" * 1000)
    assert one(tmp_path / "a.zip").problem.startswith(
        "expected an ordinary zip (stored or deflated), found nn.py packed by method"
    )


def test_a_bomb_of_one_file_is_refused_by_its_ratio_before_it_is_read(tmp_path, zipped, one, four):
    problem = one(zipped(tmp_path / "a.zip", {**four, "zeros.bin": bytes(8 * limits.MIB)})).problem
    assert problem.startswith("expected an archive of a few source files, found one that unpacks to ")


def test_a_bomb_of_many_files_is_refused_by_what_they_unpack_to_together(tmp_path, one):
    big, each = limits.UNPACKED_BYTES // 2 + 1, b"0" * 5
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.bin", each)
        archive.writestr("b.bin", each)
        for info in archive.infolist():
            info.file_size = big  # none is too large by itself
    problem = one(tmp_path / "a.zip").problem
    assert problem == "expected an archive of a few source files, found one that unpacks to more than 256 MiB"


def test_an_archive_that_is_itself_too_large_is_not_read(tmp_path, one):
    with (tmp_path / "a.zip").open("wb") as sparse:
        sparse.truncate(limits.ARCHIVE_BYTES + 1)
    assert one(tmp_path / "a.zip").problem == "expected an archive of at most 256 MiB, found more"


def test_many_names_for_the_same_bytes_are_refused_before_they_are_read_again_and_again(tmp_path, one):
    # Every local header, by its extra field, reaches over those behind it to one long stream that holds nearly nothing.
    stream = b"\0\0\0\xff\xff" * 200_000 + b"\1\5\0\xfa\xffx = 1"
    names, checksum = [b"m%02d.py" % number for number in range(10)], zlib.crc32(b"x = 1")
    heads = listing = b""
    for number, name in enumerate(names):
        sizes = (checksum, len(stream), 5, len(name))
        listing += struct.pack("<4s6H3I5H2I", b"PK\1\2", 20, 20, 0, 8, 0, 0, *sizes, 0, 0, 0, 0, 0, len(heads)) + name
        beyond = (len(names) - 1 - number) * (30 + len(name))
        heads += struct.pack("<4s5H3I2H", b"PK\3\4", 20, 0, 8, 0, 0, *sizes, beyond) + name
    end = (0, 0, len(names), len(names), len(listing), len(heads + stream), 0)
    (tmp_path / "a.zip").write_bytes(heads + stream + listing + struct.pack("<4s4H2LH", b"PK\5\6", *end))
    problem = one(tmp_path / "a.zip").problem
    assert problem == "expected an archive of a few source files, found one whose files overlap"


def test_a_bomb_in_a_tarball_is_refused_while_it_is_read(tmp_path, one):
    size = limits.UNPACKED_BYTES * 4
    with gzip.open(tmp_path / "a.tar.gz", "wb", compresslevel=1) as packed:
        info = tarfile.TarInfo("zeros.bin")
        info.size = size
        packed.write(info.tobuf())
        for _ in range(16):
            packed.write(bytes(limits.MIB))
    assert "times its size" in one(tmp_path / "a.tar.gz").problem


@pytest.mark.parametrize("claimed", [3, 100, 2**31])
def test_a_size_that_lies_is_refused(tmp_path, zipped, one, claimed):
    path = zipped(tmp_path / "a.zip", {"nn.py": b"x = 1\n" * 5})
    data = bytearray(path.read_bytes())
    struct.pack_into("<I", data, data.index(b"PK\1\2") + 24, claimed)
    path.write_bytes(data)
    assert one(path).problem.startswith(("expected a whole .zip archive", "expected an archive of a few source files"))


def test_a_directory_of_a_zip_that_is_far_too_long_is_not_read(tmp_path, one):
    # 1.2 MiB of central directory that consists of nothing but a comment's bytes.
    length = limits.READ_BYTES + 200_000
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, length, 4, 0)
    (tmp_path / "a.zip").write_bytes(b"PK\3\4" + bytes(length) + end)
    assert one(tmp_path / "a.zip").problem.endswith("found a list of contents that is far too long")


def test_more_entries_than_allowed_are_refused(tmp_path, tarred, one, monkeypatch):
    monkeypatch.setattr(limits, "ENTRIES", 100)
    path = tarred(tmp_path / "a.tar.gz", {f"{number}.txt": b"" for number in range(limits.ENTRIES + 1)})
    assert one(path).problem == "expected at most 100 files, found more"


def test_more_source_than_allowed_is_refused(tmp_path, one):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for number in range(70):
            archive.writestr(f"m{number}.py", bytes(limits.SOURCE_BYTES))
    assert one(tmp_path / "a.zip").problem == "expected a few small source files, found more than 16 MiB of them"


@pytest.mark.parametrize("name", ["a.zip", "a.tar", "a.tar.gz"])
def test_a_truncated_archive_is_ungradable_in_words(tmp_path, zipped, tarred, one, name):
    files = {"nn.py": bytes(range(256)) * 40, "transformer.py": b"x = 1\n" * 3000}
    path = (
        zipped(tmp_path / name, files)
        if name == "a.zip"
        else tarred(tmp_path / name, files, mode="w:gz" if "gz" in name else "w")
    )
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert one(path).problem.startswith("expected a whole .")


def test_an_archive_under_another_archives_suffix_is_still_read(tmp_path, tarred, one, four):
    assert one(tarred(tmp_path / "a.zip", four)).files == four
