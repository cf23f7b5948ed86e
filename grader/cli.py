"""`python -m grader SUBMISSIONS`: grades a class, a submission or an archive, and writes the reports."""

from __future__ import annotations

import argparse
import errno
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader import batch, intake, preflight, translation
from grader.atomic import write_atomic
from grader.console import Bar, console, show_layouts, show_places, show_results
from grader.errors import GraderError, RefusedToStartError, UsageError
from grader.fingerprint import ROOT, of_folders
from grader.grading import Grading, on_course, prepare
from grader.grading import course as course_of
from grader.options import GITHUB, JUNIT, parser, patterns, require_apart, require_known, require_no_fuller_reports
from grader.report import github, junit
from grader.report.feedback import Detail, Style
from grader.report.folder import RUN, STAFF, folder_of, write_class
from grader.report.gradebook import Row
from grader.report.run import RunFacts, dump_run
from grader.report.text import one_line
from grader.seed import obtain
from grader.stop import BEFORE_THE_FIRST, Stopper, leave

_STATUS = {UsageError: 2, RefusedToStartError: 3}

Prepare = Callable[[bytes, str, Sequence[str]], Grading]


@dataclass
class _Course:
    """How far a run has come."""

    finished: int = 0
    total: int = 0


def main(arguments: Sequence[str] | None = None, prepared: Prepare = prepare) -> int:
    """Grade what the command line names.

    Args:
        arguments: the command line; None: the process's own.
        prepared: makes what grades one submission; tests put their own here.

    Returns:
        0 every submission got a report; 1 some are infrastructure errors; 2 wrong usage; 3 refused to start. A run that
        is told to stop ends the process: 128 and the number of the signal.
    """
    options = parser().parse_args(arguments)
    course = _Course()
    with Stopper() as stopper:
        try:
            is_github = GITHUB in options.format
            with github.commands_off(sys.stdout, wanted=is_github):  # names and texts of students are printed there
                done = _grade(options, prepared, stopper, course)
            if is_github:
                _to_github(done, options)
            return int(any(entry.fault for entry in done))
        except GraderError as error:
            _complain(str(error))
            return _STATUS.get(type(error), 1)
        except OSError as error:
            if stopper.told is None:  # else it is the terminal that has gone
                _complain(_unwritten(error))
                return 1
        except KeyboardInterrupt:
            pass
        return leave(stopper.told, _so_far(course, options.out))


def _grade(options: argparse.Namespace, prepared: Prepare, stopper: Stopper, course: _Course) -> Sequence[batch.Done]:
    started, screen = time.time(), console()
    submissions = intake.collect(options.submissions)
    if options.submission:
        require_known(options.submission, submissions)
    require_apart(options.out, options.submissions, submissions)
    out, only = options.out, patterns(options.only)
    with batch.sole_use(out):
        secret = obtain(out, options.seed_file, os.environ)
        grading = prepared(secret, options.sandbox, only)
        if grading.warning:
            _complain(f"warning: {grading.warning}")
        trained = _training(options, grading)
        facts = _facts(options, only, grading, trained)
        plan = _plan(options, facts)
        require_no_fuller_reports(only, plan, submissions)
        screen.print(f"sandbox: {grading.environment.sandbox}   submissions: {len(submissions)}   jobs: {options.jobs}")
        show_layouts(screen, submissions)
        preflight.check(grading.grade_one, facts.preflight, preflight.cache_folder(os.environ), tell=screen.print)
        grade_one = grading.grade_one
        if trained:
            cache = preflight.cache_folder(os.environ, "translation")
            grade_one = on_course(grading.bench, trained, cache, screen.print)
        write_atomic(out / RUN, dump_run(facts, started))
        course.total = len(submissions)
        with Bar(screen, len(submissions)) as bar:

            def advance(done: batch.Done) -> None:
                bar.advance(done)
                course.finished += done.report is not None

            done = batch.grade_all(submissions, grade_one, plan, advance, stopper.held)
        rows = [Row(entry.submission, entry.report) for entry in done if entry.report or entry.fault]
        faults = [{"id": entry.submission.id, "reason": entry.fault} for entry in done if entry.fault]
        with stopper.held():
            write_class(out, rows, facts)
            if JUNIT in options.format:
                write_atomic(out / junit.JUNIT, junit.dump_junit(rows, plan.style))
            write_atomic(out / RUN, dump_run(facts, started, time.time(), faults))
    show_results(screen, done)
    show_places(screen, out)
    return done


def _to_github(done: Sequence[batch.Done], options: argparse.Namespace) -> None:
    """Annotations to standard output, the summary to where the runner wants it."""
    rows = [Row(entry.submission, entry.report) for entry in done if entry.report or entry.fault]
    style = Style(options.lang, Detail(options.feedback))
    for command in github.commands(rows, style, github.in_folder(options.submissions)):
        print(command)  # noqa: T201 - what the runner reads
    if path := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(path).open("ab") as file:
            file.write(github.summary(rows, style))


def _plan(options: argparse.Namespace, facts: RunFacts) -> batch.Plan:
    return batch.Plan(
        out=options.out,
        run=facts.decisive,
        style=Style(facts.language, Detail(facts.feedback)),
        jobs=options.jobs,
        resume=options.resume,
        only=options.submission,
    )


def _training(options: argparse.Namespace, grading: Grading) -> translation.Course | None:
    """What the long checks train on, where --translation says."""
    if not options.translation:
        return None

    def place(identifier: str) -> Path:
        return folder_of(options.out / STAFF / "translation", identifier)

    source, minutes = options.translation, options.translation_minutes
    return course_of(grading.bench, source, minutes, place, resume=options.resume)


def _facts(
    options: argparse.Namespace, only: tuple[str, ...], grading: Grading, trained: translation.Course | None
) -> RunFacts:
    return RunFacts(
        environment=grading.environment,
        only=only,
        feedback=options.feedback,
        language=options.lang,
        assignment=f"sha256:{of_folders(ROOT / 'assignment')}",
        command=tuple(sys.argv),
        translation=trained.key if trained else "",
    )


def _unwritten(error: OSError) -> str:
    full = "; free some space and run again with --resume" if error.errno in {errno.ENOSPC, errno.EDQUOT} else ""
    return f"{error.filename or 'a file'} could not be read or written: {error.strerror or error}{full}"


def _so_far(course: _Course, out: Path) -> str:
    if not course.total:
        return BEFORE_THE_FIRST
    finished = f"{course.finished} of {course.total} submissions are finished and in {out}"
    return one_line(f"{finished}, and the same command with --resume grades the rest")


def _complain(text: str) -> None:
    sys.stderr.write(f"grader: {one_line(text)}\n")
