"""`python -m grader SUBMISSIONS`: grades a class, a submission or an archive, and writes the reports."""

from __future__ import annotations

import argparse
import difflib
import errno
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console

from grader import batch, intake, preflight, sandbox
from grader.atomic import write_atomic
from grader.console import Bar, console, show_layouts, show_places, show_results
from grader.errors import GraderError, RefusedToStartError, UsageError
from grader.fingerprint import ROOT, of_folders
from grader.grading import Grading, prepare
from grader.messages import LANGUAGES
from grader.report.feedback import Detail, Style
from grader.report.folder import RUN, write_class
from grader.report.gradebook import Row
from grader.report.run import RunFacts, dump_run
from grader.report.text import one_line
from grader.seed import obtain
from grader.submission import Submission

INTERRUPTED = 130
_STATUS = {UsageError: 2, RefusedToStartError: 3}

Prepare = Callable[[bytes, str, Sequence[str]], Grading]


def main(arguments: Sequence[str] | None = None, prepared: Prepare = prepare) -> int:
    """Grade what the command line names.

    Args:
        arguments: the command line; None: the process's own.
        prepared: makes what grades one submission; tests put their own here.

    Returns:
        0 every submission got a report; 1 some are infrastructure errors; 2 wrong usage; 3 refused to start.
    """
    options = parser().parse_args(arguments)
    screen = console()
    try:
        return _grade(options, screen, prepared)
    except GraderError as error:
        _complain(str(error))
        return _STATUS.get(type(error), 1)
    except OSError as error:
        full = "; free some space and run again with --resume" if error.errno in {errno.ENOSPC, errno.EDQUOT} else ""
        _complain(f"{error.filename or 'a file'} could not be read or written: {error.strerror or error}{full}")
        return 1
    except KeyboardInterrupt:
        _complain(f"interrupted; what is finished is in {options.out}, and --resume grades only the rest")
        sys.stdout.flush()
        os._exit(INTERRUPTED)  # not `sys.exit`: that would wait for the submissions that are still being graded


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog="hw3-grade",
        description="Grade submissions of HW3. Exit status: 0 all have a report, 1 the grader failed on some, "
        "2 wrong usage, 3 refused to start, 130 interrupted.",
    )
    made.add_argument("submissions", type=Path, help="a folder of submissions, one submission, or an archive")
    made.add_argument("--out", type=Path, default=Path("reports"), metavar="DIR", help="default: reports")
    made.add_argument("--jobs", type=_positive, default=_cores(), metavar="N", help="at a time; default: the cores")
    made.add_argument("--only", action="append", default=[], metavar="GLOB", help="check ids, such as 'p3.*'")
    made.add_argument("--submission", default="", metavar="NAME", help="grade this one, keep the others' reports")
    again = made.add_mutually_exclusive_group()
    again.add_argument("--resume", action="store_true", help="keep the reports that a run like this one has written")
    again.add_argument("--fresh", action="store_true", help="grade all anew (the default)")
    made.add_argument("--seed-file", type=Path, metavar="FILE", help="default: GRADER_SEED, else one kept in DIR/staff")
    made.add_argument("--sandbox", choices=sandbox.CHOICES, default="auto", help="default: the best that works here")
    levels = [level.value for level in Detail]
    made.add_argument("--feedback", choices=levels, default=Detail.FULL.value, help="how much students are told")
    made.add_argument("--lang", choices=LANGUAGES, default=LANGUAGES[0], help="the language of the feedback")
    return made


def _grade(options: argparse.Namespace, screen: Console, prepared: Prepare) -> int:
    started = time.time()
    submissions = intake.collect(options.submissions)
    if options.submission:
        _require(options.submission, submissions)
    out: Path = options.out
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out {out} is a file; name a folder")
    with batch.sole_use(out):
        secret = obtain(out, options.seed_file, os.environ)
        grading = prepared(secret, options.sandbox, options.only)
        facts = _facts(options, grading)
        screen.print(f"sandbox: {grading.environment.sandbox}   submissions: {len(submissions)}   jobs: {options.jobs}")
        show_layouts(screen, submissions)
        preflight.check(grading.grade_one, facts.preflight, preflight.cache_folder(os.environ), tell=screen.print)
        write_atomic(out / RUN, dump_run(facts, started))
        with Bar(screen, len(submissions)) as bar:
            done = batch.grade_all(submissions, grading.grade_one, _plan(options, facts), bar.advance)
        rows = [Row(entry.submission, entry.report) for entry in done if entry.report or entry.fault]
        write_class(out, rows, facts)
        faults = [{"id": entry.submission.id, "reason": entry.fault} for entry in done if entry.fault]
        write_atomic(out / RUN, dump_run(facts, started, time.time(), faults))
    show_results(screen, done)
    show_places(screen, out)
    return int(bool(faults))


def _plan(options: argparse.Namespace, facts: RunFacts) -> batch.Plan:
    return batch.Plan(
        out=options.out,
        run=facts.decisive,
        style=Style(facts.language, Detail(facts.feedback)),
        jobs=options.jobs,
        resume=options.resume,
        only=options.submission,
    )


def _facts(options: argparse.Namespace, grading: Grading) -> RunFacts:
    return RunFacts(
        environment=grading.environment,
        only=tuple(options.only),
        feedback=options.feedback,
        language=options.lang,
        assignment=f"sha256:{of_folders(ROOT / 'assignment')}",
        command=tuple(sys.argv),
    )


def _require(name: str, submissions: Sequence[Submission]) -> None:
    names = [submission.id for submission in submissions]
    if name not in names:
        near = ", ".join(difflib.get_close_matches(name, names)) or ", ".join(names[:5])
        raise UsageError(f"--submission {name}: there is none of that name; did you mean one of {near}?")


def _positive(text: str) -> int:
    """A whole number of at least 1, as argparse wants it."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, got {text!r}")
    return int(text)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _complain(text: str) -> None:
    sys.stderr.write(f"grader: {one_line(text)}\n")
