"""Cuts the student release: `python -m grader.release --out dist/` writes `dist/hw3.zip`, the same bytes every time.

It refuses when the stubs or the fixtures are stale, and when anything of the solution, the twins or the hidden checks
would be in it.
"""

from __future__ import annotations

import argparse
import io
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from grader import fixtures, rubric
from grader.atomic import write_atomic
from grader.errors import GraderError, RefusedToStartError, UsageError
from grader.exercises import form
from grader.leaks import leaks
from grader.manifest import as_they_are
from grader.stubs import release_stubs
from grader.submission import CANONICAL, EXERCISES
from grader.verdict import Visibility

ROOT = Path(__file__).resolve().parent.parent
FOLDER = "hw3"
"""What the archive unpacks to."""
FORM = f"assignment/{EXERCISES}"
LONG_AGO = (1980, 1, 1, 0, 0, 0)
REGULAR_FILE = 0o100644


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the student release; exit status 2 for wrong usage, 3 when it would not be fit for students."""
    parser = argparse.ArgumentParser(prog="python -m grader.release", description=main.__doc__)
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder for the archive; made if missing"
    )
    options = parser.parse_args(arguments)
    try:
        files = contents(ROOT)
        refuse_leaks(files, ROOT)
        path = write(archive(files), options.out)
    except GraderError as error:
        sys.stderr.write(f"{error}\n")
        return 3 if isinstance(error, RefusedToStartError) else 2
    print(f"{path}: {len(files)} files, nothing of the solution, the twins or the hidden checks in them")  # noqa: T201 - what the command says
    return 0


def contents(root: Path) -> dict[str, bytes]:
    """Collect the files of the release: path inside it -> content.

    Raises:
        RefusedToStartError: the committed stubs or fixtures are not what their generators make.
        UsageError: a marker in `solution/` is malformed, or a file is missing.
    """
    stubs = {f"assignment/{name}": content for name, content in release_stubs().items()}
    try:
        files = {path: source.read_bytes() for path, source in as_they_are(root).items()}
        committed = {name: (root / name).read_bytes() for name in stubs}
    except OSError as error:
        raise UsageError(f"{error.filename} cannot be read: {error.strerror}; a release needs it") from error
    if old := [name for name, stub in stubs.items() if committed[name] != stub]:
        raise RefusedToStartError(f"{old[0]} is not what solution/ gives; run: python -m grader.stubs")
    if files[FORM] != form.blank().encode():
        raise RefusedToStartError(f"{FORM} is not the empty form; run: python -m handouts.exercises")
    if stale := sorted(fixtures.stale(root / "tests" / "fixtures")):
        raise RefusedToStartError(
            f"tests/fixtures/{stale[0]} is not what grader/fixtures.py makes; run: python -m grader.fixtures"
        )
    return files | stubs


def refuse_leaks(files: Mapping[str, bytes], root: Path) -> None:
    """Look through the files for what students must not get.

    Raises:
        RefusedToStartError: the first thing found, and how many more there are.
    """
    solution = {name: (root / "solution" / name).read_text(encoding="utf-8") for name in CANONICAL}
    hidden = frozenset(line.id for line in rubric.load().checks if line.visibility is Visibility.HIDDEN)
    if found := list(leaks(files, solution, hidden)):
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise RefusedToStartError(f"no release was cut: {found[0]}{more}; take it out and cut again")


def archive(files: Mapping[str, bytes]) -> bytes:
    """Pack the files below one folder. Dates, rights and order are fixed, and nothing depends on the zlib at hand."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as target:
        for path, content in sorted(files.items()):
            member = zipfile.ZipInfo(f"{FOLDER}/{path}", LONG_AGO)
            member.create_system = 3  # Unix, wherever it is cut
            member.external_attr = REGULAR_FILE << 16
            target.writestr(member, content)
    return packed.getvalue()


def write(data: bytes, folder: Path) -> Path:
    """Write the archive into a folder.

    Raises:
        UsageError: the folder cannot be made or written.
    """
    path = folder / f"{FOLDER}.zip"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_atomic(path, data)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}; choose another --out") from error
    return path


if __name__ == "__main__":
    sys.exit(main())
