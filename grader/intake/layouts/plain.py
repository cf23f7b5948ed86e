"""The plain layout: a folder, an archive or a file for each student; the four files in it somewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from grader.intake.canonical import choose, is_canonical, target_named, targets_defined
from grader.intake.layouts.kinds import Delivery, Found
from grader.intake.tree import Tree, shown
from grader.submission import CANONICAL

# Folders of a release or a repository that hold no student's files; what is given is the grader's own.
_NOT_HELPERS = frozenset(
    {"assignment", "framework", "training", "handing_in", "tests", "test", "handouts", "grader"}
    | {"build", "dist", "venv", "env"}
)
_GIVEN_FILES = frozenset({"reversal.py", "submit.py"})  # commands for students, beside the four files


def deliveries(folder: Path, names: Sequence[str]) -> list[Delivery]:
    """Take every entry of the class folder for one student's submission."""
    return [Delivery(label=name, source=name, parts=((name, folder / name),)) for name in names]


def find(tree: Tree) -> Found:
    """Find the package's files in the folder that holds most of them.

    Raises:
        UngradableError: none of the four files is there, or it is not clear which one is meant.
    """
    base = best_folder(tree.sources)
    inside = {path: content for path, content in _inside(tree.sources, base).items() if path.endswith((".py", ".PY"))}
    elsewhere = _missing_but_elsewhere(tree.sources, base, inside)
    choice = choose({**inside, **{target: tree.sources[path] for target, path in elsewhere.items()}})
    remarks = list(choice.remarks)
    remarks += [f"{target} was taken from {shown(path)}" for target, path in elsewhere.items()]
    remarks += _passed_over(tree.sources, base, choice.files)
    missing = [target for target in CANONICAL if target not in choice.files]
    if missing:
        remarks.append(f"not handed in: {', '.join(missing)}")
    return Found("plain", choice.files, tuple(remarks))


def best_folder(sources: Mapping[str, bytes]) -> str:
    """Give the folder (with its final slash; "" is the root) that holds most of the four files.

    Then the one that defines most of what belongs in them, the least deep, `assignment/`, the first by name.
    """
    named: dict[str, set[str]] = {}
    defined: dict[str, set[str]] = {}
    for path, content in sources.items():
        target = target_named(path) if is_canonical(path) else None
        named.setdefault(_folder_of(path), set()).update(target[:1] if target else ())
        defined.setdefault(_folder_of(path), set()).update(targets_defined(content))

    def order(folder: str) -> tuple[int, int, int, bool, str]:
        hits = -len(named[folder]), -len(defined[folder])
        return *hits, folder.count("/"), not folder.endswith("assignment/"), folder

    return min(named, key=order)


def _folder_of(path: str) -> str:
    return path.rpartition("/")[0] + "/" if "/" in path else ""


def _inside(sources: Mapping[str, bytes], base: str) -> dict[str, bytes]:
    inside = {path.removeprefix(base): content for path, content in sources.items() if path.startswith(base)}
    own = {path: content for path, content in inside.items() if path not in _GIVEN_FILES}
    return {path: content for path, content in own.items() if _NOT_HELPERS.isdisjoint(path.split("/")[:-1])}


def _missing_but_elsewhere(sources: Mapping[str, bytes], base: str, inside: Mapping[str, bytes]) -> dict[str, str]:
    """Give the files that are missing in the base folder and lie, rightly named, in another: the least deep one."""
    here = {target[0] for path in inside if "/" not in path and (target := target_named(path))}
    found: dict[str, str] = {}
    for path in sorted(sources, key=lambda path: (path.count("/"), path)):
        name = PurePosixPath(path).name.lower()
        if name in CANONICAL and name not in here and _folder_of(path) != base:
            found.setdefault(name, path)
    return found


def _passed_over(sources: Mapping[str, bytes], base: str, files: Mapping[str, bytes]) -> list[str]:
    others = [
        path
        for path, content in sorted(sources.items())
        if _folder_of(path) != base
        and (name := PurePosixPath(path).name) in files
        and name in CANONICAL
        and content != files[name]
    ]
    return [f"a second {PurePosixPath(path).name} was not used: {shown(path)}" for path in others[:5]]
