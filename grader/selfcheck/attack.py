"""`python -m grader.selfcheck.attack ID…`: carries out single attacks, and says what came of them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from grader import grading
from grader.errors import GraderError, UsageError
from grader.fingerprint import ROOT
from grader.sandbox import CHOICES
from grader.selfcheck.attacking import carry_out
from grader.selfcheck.command import SECRET
from grader.selfcheck.ground import prepared
from grader.selfcheck.known import load


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out attacks one after the other. Exit status 0: all held; 1: one did not; 2: usage, or no sandbox."""
    parser = argparse.ArgumentParser(prog="python -m grader.selfcheck.attack", description=main.__doc__)
    parser.add_argument("ids", nargs="+", metavar="ID", help="of attacks; a glob pattern such as 'reach.*' works too")
    parser.add_argument("--sandbox", choices=CHOICES, default="auto", help="which isolation to use")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="leave what was handed in and written in a new folder")
    options = parser.parse_args(arguments)
    try:
        return _run(options)
    except GraderError as error:
        sys.stderr.write(f"attack: {error}\n")
        return 2


def _run(options: argparse.Namespace) -> int:
    known = load(ROOT)
    chosen = [a for a in known.attacks if any(fnmatchcase(a.id, pattern) for pattern in options.ids)]
    if not chosen:
        raise UsageError(f"{' '.join(options.ids)} matches no attack; tests/harness/attacks holds them")
    if options.keep and options.keep.exists():
        raise UsageError(f"--keep {options.keep} exists; name a new folder")
    bench = grading.prepare(SECRET, options.sandbox, ()).bench
    failed = 0
    with prepared(bench, known.reference, known.texts, known.attacks, options.keep) as ground:
        for attack in chosen:
            tried = carry_out(attack, ground)
            failed += not tried.held
            sys.stdout.write(f"{'held    ' if tried.held else 'NOT HELD'}  {attack.id}  {tried.why_not}\n")
            sys.stdout.flush()
        left = ground.left_behind()
    if left:
        sys.stdout.write(f"afterwards: {left}\n")
    return int(failed > 0 or bool(left))


if __name__ == "__main__":
    sys.exit(main())
