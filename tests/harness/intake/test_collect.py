"""What a path is taken for, and what a bad path or a bad delivery says."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader.errors import UsageError
from grader.intake import collect


def test_a_class_of_folders_archives_files_and_notebooks_is_collected_by_id(tmp_path, write, zipped, tarred, four):
    write(tmp_path / "bo", four)
    zipped(tmp_path / "cy.zip", four)
    tarred(tmp_path / "al.tar.gz", four)
    (tmp_path / "di.py").write_bytes(four["transformer.py"])
    submissions = collect(tmp_path)
    assert [submission.id for submission in submissions] == ["al", "bo", "cy", "di"]
    assert [submission.problem for submission in submissions] == ["", "", "", ""]
    assert [submission.layout for submission in submissions] == ["plain"] * 4
    assert [submission.source for submission in submissions] == ["al.tar.gz", "bo", "cy.zip", "di.py"]
    assert [submission.members for submission in submissions] == [("al",), ("bo",), ("cy",), ("di",)]
    for submission in submissions[:3]:
        assert submission.files == four
    assert submissions[3].files == {"transformer.py": four["transformer.py"]}
    assert submissions[3].remarks == (
        "transformer.py was taken from di.py",
        "not handed in: nn.py, modules_basic.py, translation.py",
    )


@pytest.mark.parametrize("place", ["", "assignment"])
def test_a_folder_that_holds_one_of_the_four_is_one_submission(tmp_path, write, one, four, place):
    write(tmp_path / "zoe" / place, four)
    submission = one(tmp_path / "zoe")
    assert (submission.id, submission.files, submission.problem) == ("zoe", four, "")


def test_a_wrapper_with_files_beside_it_is_one_submission_under_the_outer_name(tmp_path, write, one, four):
    write(tmp_path / "zoe" / "hw3", four)
    (tmp_path / "zoe" / "report.pdf").write_bytes(b"%PDF")
    submission = one(tmp_path / "zoe")
    assert (submission.id, submission.files) == ("zoe", four)


def test_a_lone_folder_is_a_class_of_one_so_that_its_id_stays_when_others_hand_in(tmp_path, write, one, four):
    write(tmp_path / "zoe" / "assignment", four)
    assert one(tmp_path).id == "zoe"


def test_one_archive_or_file_is_one_submission(tmp_path, zipped, one, four):
    archive = zipped(tmp_path / "zoe.zip", four)
    assert (one(archive).id, one(archive).files) == ("zoe", four)
    (tmp_path / "nn.py").write_bytes(four["nn.py"])
    assert one(tmp_path / "nn.py").files == {"nn.py": four["nn.py"]}


def test_hidden_entries_and_staff_files_beside_submissions_are_no_submissions(tmp_path, write, four):
    write(tmp_path / "zoe", four)
    write(tmp_path / ".cache", four)
    write(tmp_path / "__MACOSX", four)
    for name in ("expected.yaml", "README.md", "roster.CSV", ".DS_Store"):
        (tmp_path / name).write_bytes(b"x")
    assert [submission.id for submission in collect(tmp_path)] == ["zoe"]


def test_a_folder_named_like_a_file_of_staff_is_a_submission(tmp_path, write, four):
    write(tmp_path / "summary.yaml", four)
    assert [submission.problem for submission in collect(tmp_path)] == [""]


def test_a_missing_path_an_empty_folder_and_one_of_staff_files_only_are_usage_errors_of_one_line(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "staff").mkdir()
    (tmp_path / "staff" / "roster.csv").write_bytes(b"x")
    for name in ("missing", "empty", "staff"):
        with pytest.raises(UsageError, match=rf"^expected submissions .* found .*{name}.*; check the path[^\n]*$"):
            collect(tmp_path / name)


def test_what_is_no_submission_is_ungradable_and_the_others_go_on(tmp_path, write, four):
    write(tmp_path / "bad_folder", {"README.txt": b"sorry"})
    write(tmp_path / "good", four)
    (tmp_path / "essay.docx").write_bytes(b"PK")
    (tmp_path / "broken.zip").write_bytes(b"this is no archive")
    (tmp_path / "void").mkdir()
    problems = {submission.id: submission.problem for submission in collect(tmp_path)}
    assert problems == {
        "bad_folder": "expected nn.py or modules_basic.py or transformer.py or translation.py, found README.txt",
        "broken": "expected an archive (.zip, .tar, .tgz, .tar.gz), found another kind of file named broken.zip",
        "essay.docx": "expected a folder, a .zip or .tar.gz archive, a .py file or a notebook, found essay.docx",
        "good": "",
        "void": "expected nn.py or modules_basic.py or transformer.py or translation.py, found nothing",
    }


def test_a_link_is_never_followed(tmp_path, write, four):
    write(tmp_path / "outside", four)
    course = write(tmp_path / "class" / "inner", four)
    (course / "transformer.py").unlink()
    (course / "transformer.py").symlink_to(tmp_path / "outside" / "transformer.py")
    (tmp_path / "class" / "whole").symlink_to(tmp_path / "outside")
    write(tmp_path / "class" / "nested", {"README.txt": b"x"})
    (tmp_path / "class" / "nested" / "assignment").symlink_to(tmp_path / "outside")
    for submission in collect(tmp_path / "class"):
        assert submission.files == {}
        assert "which is a symbolic link" in submission.problem


def test_a_named_pipe_does_not_hang_intake(tmp_path, one, write, four):
    write(tmp_path / "zoe", four)
    os.mkfifo(tmp_path / "zoe" / "helper.py")
    assert (
        one(tmp_path / "zoe").problem == "expected ordinary files, found helper.py, which is a device, pipe or socket"
    )


def test_a_folder_without_read_permission_is_ungradable_and_the_others_go_on(tmp_path, write, four):
    write(tmp_path / "closed", four)
    write(tmp_path / "open", four)
    (tmp_path / "closed").chmod(0)
    code = (
        "import os, sys, pathlib\n"
        "from grader.intake import collect\n"
        "if os.geteuid() == 0: os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "for found in collect(pathlib.Path('.')): print(found.id, '|', found.problem)\n"
    )
    for folder in [tmp_path, *tmp_path.parents][:3]:  # root's pytest makes them private
        folder.chmod(0o755)
    # Modules are imported before the user changes: their folder may be private to root.
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path.cwd())},
    )
    (tmp_path / "closed").chmod(0o755)
    assert done.stdout.splitlines() == [
        "closed | expected readable files, found closed, which cannot be read: Permission denied",
        "open | ",
    ], done.stderr


def test_a_source_one_byte_too_large_is_ungradable_and_one_at_the_limit_is_not(tmp_path, write, one, four):
    write(tmp_path / "zoe", {**four, "helper.py": b"#" * (256 * 1024)})
    assert one(tmp_path / "zoe").problem == ""
    write(tmp_path / "zoe", {"helper.py": b"#" * (256 * 1024 + 1)})
    assert one(tmp_path / "zoe").problem == "expected source files of at most 256 KiB, found helper.py larger than that"


def test_a_folder_that_holds_only_one_archive_is_that_archive(tmp_path, zipped, four):
    zipped(tmp_path / "zoe" / "hw3.zip", four)
    (tmp_path / "zoe" / "note.txt").write_bytes(b"x")
    (tmp_path / "abe").mkdir()
    zoe = next(submission for submission in collect(tmp_path) if submission.id == "zoe")
    assert zoe.files == four


def test_an_archive_inside_an_archive_is_not_opened(tmp_path, zipped, one, four):
    inner = zipped(tmp_path / "inner.zip", four)
    outer = zipped(tmp_path / "outer.zip", {"inner.zip": inner.read_bytes()})
    assert one(outer).problem.endswith("found inner.zip")


def test_the_fingerprint_of_a_folder_depends_on_names_and_contents(tmp_path, write, one, four):
    folder = one(write(tmp_path / "a", four)).sha256
    same = one(write(tmp_path / "b", dict(reversed(four.items())))).sha256
    changed = one(write(tmp_path / "c", {**four, "nn.py": four["nn.py"] + b"\n"})).sha256
    moved = one(write(tmp_path / "d", {**four, "x.py": b"", "nn.py": four["nn.py"]})).sha256
    assert folder == same
    assert len({folder, changed, moved}) == 3


@pytest.mark.parametrize("name", ["zoe.zip", "zoe.tar.gz", "nn.py", "broken.zip"])
def test_what_comes_as_one_file_has_the_sha256_of_that_file(tmp_path, zipped, tarred, one, four, name):
    zipped(tmp_path / "zoe.zip", four)
    tarred(tmp_path / "zoe.tar.gz", four)
    (tmp_path / "nn.py").write_bytes(four["nn.py"])
    (tmp_path / "broken.zip").write_bytes(b"this is no archive")
    submission = one(tmp_path / name)
    assert submission.sha256 == hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
    assert submission.source == name


def test_of_an_archive_that_an_lms_wrapped_into_a_folder_the_archive_is_what_was_handed_in(tmp_path, zipped, four):
    archive = zipped(tmp_path / "class" / "zoe" / "hw3-submission.zip", four)
    zipped(tmp_path / "class" / "yan" / "hw3-submission.zip", {})
    yan, zoe = collect(tmp_path / "class")
    assert zoe.files == four
    assert (zoe.id, zoe.source) == ("zoe", "zoe/hw3-submission.zip")
    assert zoe.sha256 == hashlib.sha256(archive.read_bytes()).hexdigest()
    assert yan.source == "yan/hw3-submission.zip"
    assert yan.problem.endswith("found hw3-submission.zip")
