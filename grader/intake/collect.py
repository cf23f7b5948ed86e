"""From a path that staff typed to the submissions in it. A bad delivery is ungradable; a bad path is an error."""

from __future__ import annotations

import errno
import hashlib
import io
import stat
from dataclasses import replace
from pathlib import Path

from grader.errors import InfrastructureError, UngradableError, UsageError
from grader.intake import limits
from grader.intake.archives import read_archive
from grader.intake.encoding import check_text
from grader.intake.folders import MACHINE, open_file, read_file, read_folder, refuse_special
from grader.intake.identity import fingerprint, stem_of, unique_ids
from grader.intake.layouts import CLASS_LAYOUTS, FILE_LAYOUTS, Delivery, Found
from grader.intake.tree import Tree, archive_suffix, is_ignored, shown, source_cap
from grader.submission import CANONICAL, EXERCISES, Submission

# Beside submissions in a class folder, these are staff's own (rosters, expected scores, notes): never a submission.
_STAFF_SUFFIXES = (".yaml", ".yml", ".md", ".csv")
_EXPECTED = "expected submissions (folders, .zip or .tar.gz archives, .py files, notebooks) or one submission"


def collect(path: Path) -> list[Submission]:
    """Read every submission at a path: a class folder, one submission's folder, one archive or one file.

    A folder that holds any of the four files, itself or in its `assignment/`, is one submission.
    Any other folder is a class, its entries the submissions, except hidden ones, by-products of tools, and staff's
    own files. So is a folder with one folder in it, unless files lie beside that one: then it is a wrapper.

    Returns:
        The submissions by id; those that cannot be graded have their `problem` set.

    Raises:
        UsageError: the path is missing, cannot be read, or holds nothing.
    """
    found = sorted(_deliveries(path), key=lambda delivery: delivery.source)
    ids = unique_ids([stem_of(delivery.label) for delivery in found])
    submissions = [_submission(identity, delivery) for identity, delivery in zip(ids, found, strict=True)]
    return sorted(submissions, key=lambda submission: submission.id)


def _deliveries(path: Path) -> list[Delivery]:
    name = path.resolve().name
    whole = [Delivery(label=name, source=shown(name), parts=((name, path.resolve()),))]
    try:
        if stat.S_ISREG(path.stat().st_mode):
            if not archive_suffix(name) and source_cap(name) is None:
                raise UsageError(f"{_EXPECTED}, found the file {shown(str(path))}, which is none of these")
            return whole
        names = sorted(_names(path))
    except OSError as error:
        found = f"found {shown(str(path))}, which cannot be read: {error.strerror or error}"
        raise UsageError(f"{_EXPECTED}, {found}; check the path and its permissions") from error
    if not names:
        raise UsageError(f"{_EXPECTED}, found nothing of the kind in {shown(str(path))}; check the path")
    if _is_one(path, names):
        return whole
    for layout in CLASS_LAYOUTS:
        deliveries = layout(path, names)
        if deliveries is not None:
            return deliveries
    raise UsageError(f"{_EXPECTED}, found a folder that no layout recognises: {shown(str(path))}")


def _names(folder: Path) -> list[str]:
    """List what may be submissions in a class folder."""
    entries = [entry for entry in folder.iterdir() if not is_ignored(entry.name)]
    return [e.name for e in entries if e.is_dir() or not e.name.lower().endswith(_STAFF_SUFFIXES)]


def _is_one(folder: Path, names: list[str]) -> bool:
    if _holds_canonical(folder):
        return True
    wrappers = [name for name in names if (folder / name).is_dir() and not (folder / name).is_symlink()]
    others = [name for name in names if name not in wrappers]
    return (
        len(wrappers) == 1
        and bool(others)
        and not any(archive_suffix(name) or source_cap(name) for name in others)
        and _holds_canonical(folder / wrappers[0])
    )


def _holds_canonical(folder: Path) -> bool:
    def holds(place: Path) -> bool:
        try:
            return not place.is_symlink() and any(entry.name.lower() in CANONICAL for entry in place.iterdir())
        except OSError:
            return False  # no folder, or one that cannot be read: its own delivery will say so

    return holds(folder.resolve()) or holds(folder / "assignment")


def _submission(identity: str, delivery: Delivery) -> Submission:
    tree, found, problem, unread = Tree(), Found("unrecognised", {}), "", ""
    try:
        _read(delivery, tree)
        found = _recognise(tree)
    except UngradableError as error:
        tree, problem = Tree(handed_in=tree.handed_in), str(error)
    except InfrastructureError as error:
        unread = str(error)
    inside, receipt = _receipt(delivery, tree)
    form = _form(tree, found)
    submission = Submission(
        id=identity,
        members=delivery.members or (identity,),
        source=delivery.source + inside,
        layout=delivery.layout or found.layout,
        sha256=receipt,
        files=found.files,
        remarks=(*delivery.remarks, *tree.remarks, *found.remarks, *_passed_over(tree, form)),
        problem=problem,
        unread=unread,
        exercises=form,
    )
    return replace(submission, sha256=receipt or fingerprint(submission.received, problem))


def _form(tree: Tree, found: Found) -> bytes | None:
    """Give the form with the answers to the exercises; of several the least deep one."""
    if found.form is not None or not tree.forms:
        return found.form
    return tree.forms[min(tree.forms, key=lambda path: (path.count("/"), path))]


def _passed_over(tree: Tree, form: bytes | None) -> list[str]:
    others = [path for path, content in sorted(tree.forms.items()) if content != form]
    return [f"a second {EXERCISES} was not used: {shown(path)}" for path in others]


def _receipt(delivery: Delivery, tree: Tree) -> tuple[str, str]:
    """Find the one file that was handed in: where in the delivery it lies, and its SHA-256, its student's receipt.

    Returns:
        "" for the place where it is the delivery itself; two empty texts where it is no one file.
    """
    file, whole = tree.handed_in, delivery.parts[0][1]
    if file is None or len(delivery.parts) > 1:
        return "", ""
    try:
        with open_file(file) as content:
            is_large = content.seek(0, io.SEEK_END) > limits.ARCHIVE_BYTES
            content.seek(0)
            digest = "" if is_large else hashlib.file_digest(content, "sha256").hexdigest()
    except (OSError, UngradableError):  # then `problem` or `unread` says so already
        return "", ""
    return f"/{shown(file.name)}" if file != whole else "", digest


def _read(delivery: Delivery, tree: Tree) -> None:
    for name, path in delivery.parts:
        try:
            _read_part(name, path, tree)
        except OSError as error:
            if error.errno == errno.ELOOP:
                refuse_special(name, stat.S_IFLNK)
            if error.errno in MACHINE:
                raise InfrastructureError(f"{shown(name)} could not be read here: {error.strerror}") from error
            found = f"found {shown(name)}, which cannot be read: {error.strerror or error}"
            raise UngradableError(f"expected readable files, {found}") from error


def _read_part(name: str, path: Path, tree: Tree) -> None:
    mode = path.lstat().st_mode
    refuse_special(name, mode)
    cap = source_cap(name)
    if stat.S_ISDIR(mode):
        read_folder(path, tree)
        archives = [other for other in tree.others if archive_suffix(other)]
        if not tree.sources and len(archives) == 1:  # some LMS wrap a student's one archive into a folder
            tree.handed_in = path / archives[0]
            read_archive(path / archives[0], tree)
    elif archive_suffix(name):
        tree.handed_in = path
        read_archive(path, tree)
    elif cap is None:
        found = f"found {shown(name)}"
        raise UngradableError(f"expected a folder, a .zip or .tar.gz archive, a .py file or a notebook, {found}")
    elif admitted := tree.admit(name):
        tree.handed_in = path
        tree.keep(admitted, read_file(path, cap))


def _recognise(tree: Tree) -> Found:
    if not tree.sources:
        raise UngradableError(f"expected {' or '.join(CANONICAL)}, found {tree.found()}")
    found = next(found for layout in FILE_LAYOUTS if (found := layout(tree)) is not None)
    for name, content in sorted(found.files.items()):
        if len(content) > limits.SOURCE_BYTES:
            wanted = f"expected source files of at most {limits.SOURCE_BYTES // limits.KIB} KiB"
            raise UngradableError(f"{wanted}, found {name} larger than that")
        check_text(name, content)
    return found
