"""Known mutants and equivalents: small patches to the reference, read strictly from YAML."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec
import yaml

from grader.errors import UsageError
from grader.intake.canonical import choose
from grader.submission import CANONICAL, Submission

T = TypeVar("T")


class Patch(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One solution that differs from the reference.

    Args:
        id: its name, for good.
        about: what is different, in a sentence.
        after: ids of patches of the same file that are made first.
        replace: (file, what stands there exactly once, what takes its place).
        define: "<file>.<class>.<method>" or "<file>.<function>" -> the definitions that take its place.
        files: a path -> its text, for files of one's own.
        rename: one of the four files -> the name that it is handed in under.
    """

    id: str
    about: str
    after: list[str] = []
    replace: list[tuple[str, str, str]] = []
    define: dict[str, str] = {}
    files: dict[str, str] = {}
    rename: dict[str, str] = {}


class Mutant(Patch, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A wrong one.

    Args:
        loses: the checks that must lose points.
        named: the misconception that the first of these must be reported as; "": none.
        fails: checks that train a model and must fail, even where the points are carried forward; no other mutant is
            trained.
    """

    loses: list[str]
    fails: list[str] = []
    named: str = ""


class Equivalent(Patch, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A right one.

    Args:
        ways: which of the variations of the design's list it shows (0 to 10).
        trains: whether it is also graded with the checks that train a model.
    """

    ways: list[int]
    trains: bool = False


def solution(folder: Path) -> dict[str, str]:
    """The reference's four files, name -> text."""
    return {name: (folder / name).read_text(encoding="utf-8") for name in CANONICAL}


def read(folder: Path, kind: type[T]) -> list[T]:
    """The patches of every YAML file in a folder, in the order of the files' names.

    Raises:
        UsageError: a file is malformed, or an id stands twice.
    """
    found: list[T] = []
    for path in sorted(folder.glob("*.yaml")):
        try:
            found += msgspec.convert(yaml.safe_load(path.read_bytes()), list[kind])  # type: ignore[valid-type]
        except (msgspec.ValidationError, yaml.YAMLError) as error:
            raise UsageError(f"{path.name}: {' '.join(str(error).split())}") from error
    ids = [getattr(entry, "id", "") for entry in found]
    if twice := {name for name in ids if ids.count(name) > 1}:
        raise UsageError(f"{folder.name}: {sorted(twice)} stand there twice; ids are unique, rename one")
    return found


def reasons(path: Path) -> dict[str, str]:
    """Id of a machine-made mutant that no check can see -> why it is right.

    Raises:
        UsageError: the file is malformed.
    """
    try:
        return msgspec.convert(yaml.safe_load(path.read_bytes()), dict[str, str])
    except (msgspec.ValidationError, yaml.YAMLError) as error:
        raise UsageError(f"{path.name}: {' '.join(str(error).split())}") from error


def applied(patch: Patch, among: Sequence[Patch], reference: Mapping[str, str]) -> Submission:
    """The patched reference, as a submission that came in under its own file names.

    Raises:
        UsageError: the patch does not fit the reference: it, or the patch, has to be adapted.
    """
    return submission(patch.id, {name: text.encode() for name, text in texts(patch, among, reference).items()})


def texts(patch: Patch, among: Sequence[Patch], reference: Mapping[str, str]) -> dict[str, str]:
    """The patched reference's files, as they are handed in: name -> text.

    Raises:
        UsageError: the patch does not fit the reference: it, or the patch, has to be adapted.
    """
    patched = _patched(patch, {entry.id: entry for entry in among}, dict(reference))
    for name, new in patch.rename.items():
        patched[new] = patched.pop(name)
    return patched


def submission(identifier: str, files: Mapping[str, bytes]) -> Submission:
    """Files as a submission, sorted out as the intake does it."""
    choice = choose(files)
    return Submission(
        id=identifier,
        members=(identifier,),
        source=identifier,
        layout="plain",
        sha256="",
        files=choice.files,
        remarks=choice.remarks,
    )


def _patched(patch: Patch, among: Mapping[str, Patch], texts: dict[str, str]) -> dict[str, str]:
    for earlier in patch.after:
        if earlier not in among:
            raise UsageError(f"{patch.id} comes after {earlier!r}, which is no patch")
        texts = _patched(among[earlier], among, texts)
    for name, old, new in patch.replace:
        count = texts.get(name, "").count(old)
        if count != 1:
            raise UsageError(f"{patch.id}: {name} holds {old!r} {count} times, expected once; adapt the patch")
        texts[name] = texts[name].replace(old, new)
    for place, new in patch.define.items():
        stem, _, dotted = place.partition(".")
        texts[f"{stem}.py"] = _redefined(texts.get(f"{stem}.py", ""), dotted, new, patch.id)
    return texts | patch.files


def _redefined(text: str, dotted: str, new: str, identifier: str) -> str:
    """The text with one definition exchanged; comments between it and its neighbours stay."""
    body: list[ast.stmt] = ast.parse(text).body
    node: ast.stmt | None = None
    for name in dotted.split("."):
        found = [n for n in body if isinstance(n, ast.FunctionDef | ast.ClassDef) and n.name == name]
        if len(found) != 1:
            raise UsageError(f"{identifier}: there is no definition {dotted}, or more than one; adapt the patch")
        node, body = found[0], found[0].body
    assert node is not None  # a dotted name has at least one part
    lines = text.splitlines(keepends=True)
    fresh = textwrap.indent(new.rstrip() + "\n", " " * node.col_offset)
    return "".join(lines[: node.lineno - 1]) + fresh + "".join(lines[node.end_lineno :])
