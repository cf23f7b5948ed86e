"""What may be asked of the grader on its command line, and what is refused before anything is graded."""

from __future__ import annotations

import argparse
import difflib
import os
from collections.abc import Sequence
from pathlib import Path

from grader import ledger, rubric, sandbox
from grader.batch import Plan
from grader.errors import UsageError
from grader.messages import LANGUAGES
from grader.report.feedback import Detail
from grader.report.folder import LEDGER
from grader.report.run import TRANSLATION
from grader.submission import Submission

ALWAYS = ("yaml", "csv", "html")
"""What every run writes: later runs and `--resume` build on it."""
GITHUB, JUNIT = "github", "junit"


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog="hw3-grade",
        description="Grade submissions of HW3. Exit status: 0 all have a report, 1 the grader failed on some, "
        "2 wrong usage, 3 refused to start, 130, 143 or 129 stopped by Ctrl-C, SIGTERM or SIGHUP.",
    )
    made.add_argument("submissions", type=_path, help="a folder of submissions, one submission, or an archive")
    made.add_argument("--out", type=_path, default=Path("reports"), metavar="DIR", help="default: reports; overwritten")
    made.add_argument("--jobs", type=_positive, default=_cores(), metavar="N", help="at a time; default: the cores")
    made.add_argument("--only", action="append", default=[], metavar="GLOB", help="check ids: 'p1.*,p2.*' or 'ex.*'")
    made.add_argument("--submission", default="", metavar="NAME", help="grade this one, keep the others' reports")
    again = made.add_mutually_exclusive_group()
    again.add_argument("--resume", action="store_true", help="keep the reports that a run like this one has written")
    again.add_argument("--fresh", action="store_true", help="grade all anew (the default)")
    made.add_argument(
        "--seed-file", type=_path, metavar="FILE", help="default: GRADER_SEED, else one kept in DIR/staff"
    )
    made.add_argument("--sandbox", choices=sandbox.CHOICES, default="auto", help="default: the best that works here")
    made.add_argument("--translation", default="", metavar="DATA", help="train on this text: a folder, or iwslt14")
    made.add_argument(
        "--translation-minutes", type=_minutes, metavar="N", help="for one submission; default: the rubric's"
    )
    made.add_argument(
        "--format",
        type=_formats,
        default=frozenset(ALWAYS),
        metavar="LIST",
        help="of 'github' (annotations, job summary) and 'junit' (junit.xml); yaml, csv and html are always written",
    )
    levels = [level.value for level in Detail]
    made.add_argument("--feedback", choices=levels, default=Detail.FULL.value, help="how much students are told")
    made.add_argument("--lang", choices=LANGUAGES, default=LANGUAGES[0], help="the language of the feedback")
    return made


def patterns(given: Sequence[str]) -> tuple[str, ...]:
    """The check ids of every --only, each of which may hold several with commas between them.

    Raises:
        UsageError: there is none in them.
    """
    found = tuple(dict.fromkeys(word.strip() for text in given for word in text.split(",") if word.strip()))
    if given and not found:
        raise UsageError(f"--only {given[0]!r} names no check; expected ids or patterns such as 'p1.*,p3.mha.*'")
    return found


def require_apart(out: Path, place: Path, submissions: Sequence[Submission]) -> None:
    """Refuse a place for the reports where the next run would take them for a student's.

    Args:
        out: the place.
        place: where the submissions are.
        submissions: what was found there.

    Raises:
        UsageError: it lies in the class's folder, or is a file.
    """
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out {out} is a file; name a folder")
    is_class = [submission.source for submission in submissions] != [place.resolve().name]
    if is_class and out.resolve().is_relative_to(place.resolve()):
        raise UsageError(
            f"--out {out} lies among the submissions in {place}; name a folder outside, such as ../reports"
        )


def require_no_fuller_reports(only: Sequence[str], plan: Plan, submissions: Sequence[Submission]) -> None:
    """Refuse to overwrite reports of an earlier run by ones with fewer checks.

    Args:
        only: the patterns of --only; none: all checks.
        plan: where the reports go, and which submission is meant.
        submissions: what is to be graded.

    Raises:
        UsageError: the ledger has a report with checks that `only` leaves out, or that has trained on a text.
    """
    trains = TRANSLATION in plan.run
    checks, written = rubric.load(), ledger.read(plan.out / LEDGER)
    long = {line.id for line in checks.checks if line.long}
    for submission in submissions:
        line = written.get(submission.id)
        if line is None or (plan.only and submission.id != plan.only):
            continue
        had = checks.selected(line.run.get("only", "").split())
        if TRANSLATION in line.run and not trains and long & had:
            raise UsageError(
                f"without --translation this would overwrite the report of {submission.id} in {plan.out}, which has "
                f"{len(long & had)} checks more; give --translation again, or name another folder with --out"
            )
        lost = had - checks.selected(only)
        if lost:
            way = f"--only {','.join(only)}" if only else "without --only, which leaves the exercises out, this"
            repair = "give --only '*'" if lost - checks.selected(()) else "leave --only away"
            raise UsageError(
                f"{way} would overwrite the report of {submission.id} in {plan.out}, which has "
                f"{len(lost)} checks more; name another folder with --out, or {repair}"
            )


def require_known(name: str, submissions: Sequence[Submission]) -> None:
    """Refuse the name of a submission that is not there.

    Raises:
        UsageError: says which ones are.
    """
    names = [submission.id for submission in submissions]
    if name not in names:
        near = ", ".join(difflib.get_close_matches(name, names)) or ", ".join(names[:5])
        raise UsageError(f"--submission {name}: there is none of that name; did you mean one of {near}?")


def _path(text: str) -> Path:
    """A path; the empty one, which would be the current folder, is a variable that was not set."""
    if not text:
        raise argparse.ArgumentTypeError("expected a name, got ''")
    return Path(text)


def _formats(text: str) -> frozenset[str]:
    """Names with commas between them, as argparse wants them."""
    known = (*ALWAYS, GITHUB, JUNIT)
    names = [name.strip() for name in text.split(",")]
    if odd := [name for name in names if name not in known]:
        raise argparse.ArgumentTypeError(f"expected some of {', '.join(known)} with commas between, got {odd[0]!r}")
    return frozenset((*ALWAYS, *names))


def _positive(text: str) -> int:
    """A whole number of at least 1, as argparse wants it."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, got {text!r}")
    return int(text)


def _minutes(text: str) -> float:
    """A number of minutes above 0, as argparse wants it."""
    try:
        minutes = float(text)
    except ValueError:
        minutes = 0.0
    if not 0 < minutes < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number of minutes above 0, got {text!r}")
    return minutes


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
