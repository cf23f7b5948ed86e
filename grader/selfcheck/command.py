"""The command: probe the sandbox, grade what is known, say what came of it."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence

import msgspec

from grader import grading, preflight
from grader.case import Limits
from grader.console import console
from grader.errors import GraderError, RefusedToStartError
from grader.fingerprint import ROOT
from grader.sandbox import CHOICES
from grader.selfcheck.known import Known, load
from grader.selfcheck.proof import run
from grader.selfcheck.summary import show, summary

SECRET = b"the selfcheck grades with a seed of its own, which is no secret"
"""Fixed: what a mutant loses must not depend on the day."""

PATIENT_S, SHORT_CPU_S, MEMORY_MIB = 60.0, 4, 1024
"""Of a request: loops end soon, on the processor's clock; that of the wall is slow to judge, as cores are shared."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Prove that grading is right, or say where not. Exit status 0: all holds; 1: not; 2: usage; 3: no sandbox."""
    options = _options(arguments)
    screen = console()
    started = time.perf_counter()
    try:
        everything = load(ROOT)
        ready = grading.prepare(SECRET, options.sandbox, ())
        screen.print(f"sandbox: {ready.environment.sandbox}")
        if ready.warning:
            sys.stderr.write(f"selfcheck: warning: {ready.warning}\n")
        ready.bench.rubric.limits = Limits(PATIENT_S, SHORT_CPU_S, MEMORY_MIB)
        fitting = everything.on(ready.bench.sandbox.letter)
        chosen = fitting if options.full else fitting.sample()
        _announce(screen.print, chosen, fitting)
        proof = run(chosen, ready.bench, options.jobs)
    except GraderError as error:
        sys.stderr.write(f"selfcheck: {error}\n")
        return 3 if isinstance(error, RefusedToStartError) else 2
    found = summary(proof, chosen, ready.bench.sandbox.letter)
    show(screen, proof, found, chosen)
    screen.print(f"{time.perf_counter() - started:.0f} s")
    if options.json:
        sys.stdout.write(msgspec.json.encode(found).decode() + "\n")
    return 0 if found.holds else 1


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m grader.selfcheck", description=main.__doc__)
    parser.add_argument("--full", action="store_true", help="everything, not a sample of it")
    parser.add_argument("--json", action="store_true", help="print the counts as the last line, as JSON")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), metavar="N", help="side by side")
    parser.add_argument("--sandbox", choices=CHOICES, default="auto", help="which isolation to use")
    options = parser.parse_args(arguments)
    if options.jobs < 1:
        parser.error(f"--jobs {options.jobs}: expected 1 or more")
    return options


def _announce(say: object, chosen: Known, everything: Known) -> None:
    assert callable(say)
    if not everything.mutants:
        say(f"{preflight.REFERENCE} and {preflight.BLANK} only: tests/harness with mutants and equivalents is not here")
        return
    say(
        f"{len(chosen.mutants)} of {len(everything.mutants)} named mutants, "
        f"{len(chosen.machines)} of {len(everything.machines)} machine-made ones, "
        f"{len(chosen.equivalents)} of {len(everything.equivalents)} equivalents, "
        f"{len(chosen.attacks)} of {len(everything.attacks)} attacks"
    )
