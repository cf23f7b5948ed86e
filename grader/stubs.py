"""The students' files, made from the reference: what stands between a pair of markers becomes one `raise`.

    # BEGIN SOLUTION: Problem 3: MultiHeadAttention.forward
    ...
    # END SOLUTION

`python -m grader.stubs` writes `assignment/*.py`; with `--check` it only says which of them differ.
"""

from __future__ import annotations

import argparse
import functools
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from .errors import UsageError
from .submission import CANONICAL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent
BEGIN = re.compile(r"^(?P<indent> *)# BEGIN SOLUTION: (?P<part>\S[^\"\\]*)$")
END = re.compile(r"^(?P<indent> *)# END SOLUTION$")
MARKER_LIKE = re.compile(r"#.*\b(BEGIN|END)\s+SOLUTION\b", re.IGNORECASE)


@dataclass(frozen=True)
class Region:
    """An open region: the line of its first marker, and how far that is indented."""

    line: int
    indent: str


def stub_text(source: str, name: str) -> str:
    """Replace every marked region of a file by `raise NotImplementedError("<part> is not written yet")`.

    Args:
        source: the reference file's text.
        name: what to call the file in errors.

    Raises:
        UsageError: a marker is malformed, nested, unopened, unclosed or indented unlike its partner; code stands
            further left than the markers around it; or nothing is marked at all.
    """
    lines: list[str] = []
    region: Region | None = None
    for number, line in enumerate(source.splitlines(), start=1):
        if begin := BEGIN.match(line):
            if region:
                raise UsageError(f"{name}:{number}: a region begins inside that of line {region.line}; end that first")
            region = Region(number, begin["indent"])
            lines.append(f'{begin["indent"]}raise NotImplementedError("{begin["part"]} is not written yet")')
        elif end := END.match(line):
            if not region:
                raise UsageError(f"{name}:{number}: a region ends that never began; add '# BEGIN SOLUTION: <part>'")
            if end["indent"] != region.indent:
                raise UsageError(f"{name}:{number}: not indented like its begin in line {region.line}; align the two")
            region = None
        else:
            check_line(line, region, f"{name}:{number}")
            if not region:
                lines.append(line)
    if region:
        raise UsageError(f"{name}:{region.line}: the region never ends; add '# END SOLUTION' below it")
    if not any(BEGIN.match(line) for line in source.splitlines()):
        raise UsageError(f"{name}: nothing is marked, so the students' file would be the solution itself")
    return "\n".join(lines) + "\n"


def check_line(line: str, region: Region | None, where: str) -> None:
    """Refuse a line that looks like a marker and is none, or that sticks out of its region on the left."""
    if MARKER_LIKE.search(line):
        raise UsageError(
            f"{where}: {line.strip()!r} is no marker; write '# BEGIN SOLUTION: <part>' or '# END SOLUTION' alone"
        )
    if region and line.strip() and not line.startswith(region.indent):
        raise UsageError(
            f"{where}: the region of line {region.line} is open here, but this line stands further left; "
            "add '# END SOLUTION' above it or indent it"
        )


@functools.cache
def release_stubs() -> Mapping[str, bytes]:
    """Make the four files as students get them: name, such as "nn.py", -> text in UTF-8.

    Raises:
        UsageError: see `stub_text`.
    """
    sources = {name: (ROOT / "solution" / name).read_text(encoding="utf-8") for name in CANONICAL}
    return MappingProxyType({name: stub_text(source, f"solution/{name}").encode() for name, source in sources.items()})


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the stubs into `assignment/`, or compare with what is there; exit status 1 when a file differs."""
    parser = argparse.ArgumentParser(prog="python -m grader.stubs", description=main.__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a file would change")
    options = parser.parse_args(arguments)
    try:
        stubs = release_stubs()
    except UsageError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    stale = [name for name, stub in stubs.items() if content(ROOT / "assignment" / name) != stub]
    if options.check:
        for name in stale:
            sys.stderr.write(f"assignment/{name} is not what solution/{name} gives; run: python -m grader.stubs\n")
        return 1 if stale else 0
    for name in stale:
        (ROOT / "assignment" / name).write_bytes(stubs[name])
    return 0


def content(path: Path) -> bytes | None:
    """Read a file; None where there is none."""
    return path.read_bytes() if path.is_file() else None


if __name__ == "__main__":
    sys.exit(main())
