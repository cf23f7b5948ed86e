"""How far right answers spread and how near wrong ones come: `python -m grader.calibrate [--seeds N] [--check]`.

A tolerance is right where every right submission is far inside it and every wrong one far outside. The spread is
measured on the reference and on every known equivalent, in the sandbox; the nearest mistake is the smallest error that
any named misconception makes in the check it is blamed on. Both are written into `tolerances.yaml`.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from grader import checks, rubric, sandbox
from grader.case import Answer, Array, Fault, Status
from grader.compare import gradient_scale, largest
from grader.errors import GraderError
from grader.evidence import Exhibit, gather
from grader.fingerprint import ROOT
from grader.misconceptions import known, parts_with
from grader.rubric import CheckLine, Rubric, Tolerance
from grader.selfcheck.patches import Equivalent, applied, read, solution
from grader.stubs import release_stubs
from grader.student import Student

MARGIN = 100
"""A tolerance is this many times the spread, and this many times below the nearest mistake."""
PATH = Path(__file__).with_name("tolerances.yaml")
Spreads = dict[str, float]


def errors(exhibit: Exhibit, actual: dict[str, Array]) -> Iterator[float]:
    """The relative error of every compared array, as `judge` measures it."""
    expected = exhibit.expected()
    for name, wanted in expected.items():
        got = actual.get(name)
        if got is None or got.shape != wanted.shape or not np.isfinite(wanted).all():
            continue
        scale = (gradient_scale(name, expected) if ".grad." in name else largest(wanted)) or 1.0
        yield float(np.abs(got - wanted).max(initial=0.0)) / scale


def spread(submissions: Iterable[dict[str, bytes]], lines: Rubric, box: sandbox.Sandbox, seeds: int) -> Spreads:
    """Tolerance class -> the largest error of any right submission."""
    found: Spreads = {}
    for files in submissions:
        with box.open({**release_stubs(), **files}) as session:
            student = Student(session)
            for line in lines.checks:
                for seed in range(seeds if not line.pending else 0):
                    for kind, error in _of_check(line, lines, student, seed):
                        found[kind] = max(found.get(kind, 0.0), error)
    return found


def _of_check(line: CheckLine, lines: Rubric, student: Student, seed: int) -> Iterator[tuple[str, float]]:
    trials = checks.trials(line.id, checks.Draw(np.random.default_rng([seed, len(line.id)])))
    answers = student.run([trial.case for trial in trials], lines.limits)
    if isinstance(answers, Fault):
        raise GraderError(f"{line.id}: a right submission gave no answer: {answers.text}")
    for exhibit in gather(trials, answers, lines.tolerance(line), lines.single):
        if exhibit.answer.status is Status.OK:
            kind = "float32" if exhibit.single else line.tolerance
            yield from ((kind, error) for error in errors(exhibit, dict(exhibit.answer.arrays)))


def nearest_mistake(lines: Rubric, seeds: int) -> Spreads:
    """Tolerance class -> the smallest error that a misconception makes where it is blamed."""
    found: Spreads = {}
    for mistake in known():
        line = next(c for c in lines.checks if c.id == mistake.blames)
        if mistake.twin is None or line.id.startswith("p4.generate"):
            continue
        largest_seen = [_largest_error(line, lines, parts_with(mistake), seed) for seed in range(seeds)]
        if error := min((e for e in largest_seen if e > 0), default=0.0):
            for kind in {line.tolerance, "float32"}:
                found[kind] = min(found.get(kind, np.inf), error)
    return found


def _largest_error(line: CheckLine, lines: Rubric, parts: object, seed: int) -> float:
    """The largest error in one seed's trials: one is enough to fail."""
    found, rng = [0.0], np.random.default_rng(seed)
    for trial in checks.trials(line.id, checks.Draw(np.random.default_rng([seed, len(line.id)]))):
        if trial.case.masks or not trial.compare:
            continue
        shapes = checks.shapes.of(trial.case.target, trial.case.arguments) if trial.case.parameters is None else {}
        answer = Answer(Status.OK, arrays={f"param.{n}": rng.standard_normal(s) for n, s in shapes.items()})
        (exhibit,) = gather((trial,), (answer,), lines.tolerance(line), lines.single)
        wrong = dict(exhibit.expected(parts))  # type: ignore[arg-type]  # Parts
        missing = any(name not in wrong for name in exhibit.expected())
        found += [np.inf] if missing else errors(exhibit, wrong)
    return max(found)


def measured(seeds: int) -> dict[str, tuple[float, float]]:
    """Tolerance class -> (spread of right answers, nearest mistake)."""
    lines, box = rubric.load(), sandbox.probe("auto")
    reference = solution(ROOT / "solution")
    patches = read(ROOT / "tests" / "harness" / "equivalents", Equivalent)
    right = [{name: text.encode() for name, text in reference.items()}]
    right += [dict(applied(patch, patches, reference).files) for patch in patches]
    spreads, mistakes = spread(right, lines, box, seeds), nearest_mistake(lines, seeds)
    return {kind: (spreads.get(kind, 0.0), mistakes.get(kind, np.inf)) for kind in lines.tolerances}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the margins, and write the measured numbers unless only asked to check; 1 where a margin fails."""
    parser = argparse.ArgumentParser(prog="python -m grader.calibrate", description=main.__doc__)
    parser.add_argument("--seeds", type=int, default=5, help="seeds a check (default 5)")
    parser.add_argument("--check", action="store_true", help="do not write")
    options = parser.parse_args(arguments)
    text, kept = PATH.read_text("utf-8"), True
    for kind, (seen, mistake) in measured(options.seeds).items():
        tolerance = rubric.load().tolerances[kind]
        holds = margins_hold(tolerance, seen, mistake)
        kept &= holds
        words = "margins hold" if holds else "A MARGIN FAILS"
        print(  # noqa: T201 - a command
            f"{kind}: right answers spread {seen:.1e}, tolerances {tolerance.outputs:.1e} {tolerance.gradients:.1e}, "
            f"nearest mistake {mistake:.1e}: {words}"
        )
        head = rf"(  {kind}: {{[^}}]*?wrong: [^,}}]+)[^}}]*}}"
        text = re.sub(head, rf"\1, spread: {seen:.1e}, mistake: {mistake:.1e}}}", text)
    if not options.check:
        PATH.write_text(text, "utf-8")
    return 0 if kept else 1


def margins_hold(tolerance: Tolerance, spread_seen: float, mistake: float) -> bool:
    """Whether the tolerance is a hundred times above every right answer's error and below every wrong one's."""
    smallest, biggest = sorted((tolerance.outputs, tolerance.gradients))
    return MARGIN * spread_seen <= smallest and mistake >= MARGIN * biggest


if __name__ == "__main__":
    sys.exit(main())
