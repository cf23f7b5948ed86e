"""Files are replaced whole, all or none."""

import stat

import pytest

from grader.atomic import write_atomic, write_together


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path):
    path = tmp_path / "a"
    for text in (b"one", b"two"):
        write_atomic(path, text)
        assert path.read_bytes() == text
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_what_a_killed_run_left_does_no_harm(tmp_path):
    (tmp_path / ".a.tmp").write_bytes(b"a longer text that was cut")
    write_atomic(tmp_path / "a", b"short")
    assert (tmp_path / "a").read_bytes() == b"short"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_when_one_file_cannot_be_written_none_is_replaced(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(FileNotFoundError):
        write_together({tmp_path / "a": b"new", tmp_path / "missing" / "b": b"new"})
    assert (tmp_path / "a").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_secret_is_never_readable_by_others(tmp_path):
    write_atomic(tmp_path / "seed", b"secret", mode=0o600)
    assert stat.S_IMODE((tmp_path / "seed").stat().st_mode) == 0o600


def test_a_link_in_the_way_is_not_followed(tmp_path):
    (tmp_path / "elsewhere").write_bytes(b"precious")
    (tmp_path / ".a.tmp").symlink_to("elsewhere")
    with pytest.raises(OSError, match="symbolic links"):
        write_atomic(tmp_path / "a", b"new")
    assert (tmp_path / "elsewhere").read_bytes() == b"precious"
