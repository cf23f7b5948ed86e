"""Carries out an attack: handed in beside another's submission, graded, written about, and looked at. Has it held?"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterator
from pathlib import Path

from grader import batch, intake, pipeline
from grader.case import Limits
from grader.pipeline import Bench
from grader.report.feedback import Style
from grader.report.folder import (
    FEEDBACK,
    FEEDBACK_HTML,
    GRADEBOOK,
    REPORT,
    SUMMARY,
    folder_of,
    write_class,
    write_submission,
)
from grader.report.gradebook import Row
from grader.report.run import RunFacts
from grader.selfcheck import surroundings
from grader.selfcheck.attacks import Attack, delivered
from grader.selfcheck.ground import BYSTANDER, Ground
from grader.submission import Submission
from grader.verdict import CheckReport, Report, Status, Verdict


@dataclasses.dataclass(frozen=True)
class Tried:
    """What came of one attack.

    Args:
        id: of the attack.
        wrong: what of its grade, or of what was written about it, is not as it must be; "" for nothing.
        left: what it has changed around it; "" for nothing.
        report: of its submission; None where there is none.
    """

    id: str
    wrong: str = ""
    left: str = ""
    report: Report | None = None

    @property
    def held(self) -> bool:
        """Whether the sandbox and the grader held."""
        return not (self.wrong or self.left)

    @property
    def why_not(self) -> str:
        """Why it has not held, in a line."""
        return "; ".join(words for words in (self.wrong, self.left) if words)


def carry_out(attack: Attack, ground: Ground) -> Tried:
    """Hand in one attack, grade it, write about it, and look whether it has held.

    Raises:
        UsageError: the patch does not fit the reference.
        OSError: the disk is full.
    """
    place = ground.folder / attack.id
    class_folder, out = place / "class", place / "out"
    class_folder.mkdir(parents=True)
    out.mkdir()
    (class_folder / attack.delivery).write_bytes(delivered(attack, ground.known, ground.reference, ground.constants()))
    write_submission(out, ground.graded, 0.0, Style())
    watched = ground.canary, folder_of(out, BYSTANDER)
    before = surroundings.near(*watched)
    (submission,) = intake.collect(class_folder)
    done = _graded(attack, submission, ground, out)
    left = surroundings.changes(before, surroundings.near(*watched))
    if done.report is None:
        return Tried(attack.id, done.fault, left)
    folder = folder_of(out, submission.id)
    wrong = "; ".join([*_wrong(attack, done.report), *_written(attack, folder, ground.secret)])
    return Tried(attack.id, wrong, left, done.report)


def bench_for(attack: Attack, bench: Bench) -> Bench:
    """The bench with the attack's own limits, and only its checks."""
    rubric = copy.copy(bench.rubric)
    rubric.limits = Limits(attack.wall_s, attack.cpu_s, attack.memory_mib)
    return dataclasses.replace(bench, rubric=rubric, only=attack.checks)


def _graded(attack: Attack, submission: Submission, ground: Ground, out: Path) -> batch.Done:
    """The way of every submission, through the batch to the disk."""
    own = bench_for(attack, ground.bench)
    (done,) = batch.grade_all([submission], lambda one: pipeline.grade(one, own), batch.Plan(out, {}))
    rows = [Row(ground.bystander, ground.graded.report), Row(submission, done.report)]
    write_class(out, rows, RunFacts(own.environment, own.only))
    return done


def _wrong(attack: Attack, report: Report) -> Iterator[str]:
    """What of the report is not as it must be."""
    if attack.ungradable:
        if report.status is not Status.UNGRADABLE or attack.ungradable not in report.message:
            yield f"{report.status.value}: {report.message!r}, expected ungradable: …{attack.ungradable!r}…"
        return
    if report.status is not Status.GRADED:
        yield f"{report.status.value}: {report.message}"
        return
    found = {check.id: check for problem in report.problems for check in problem.checks}
    for name, verdict in {**dict.fromkeys(attack.beside, Verdict.PASSED), **attack.expected}.items():
        if found[name].verdict is not verdict:
            yield f"{name} {found[name].verdict.value} ({_words(found[name])}), expected {verdict.value}"
        elif verdict is not Verdict.PASSED and (paid := _points(found[name])):
            yield f"{name} is paid {paid:g} points, expected none"
    for name, text in attack.says.items():
        if text not in _words(found[name]):
            yield f"{name} says {_words(found[name])!r}, expected …{text!r}…"


def _points(check: CheckReport) -> float:
    return check.points.earned + check.points.carried_forward


def _words(check: CheckReport) -> str:
    raised = f"{check.raised.kind}: {check.raised.text}" if check.raised else ""
    return " ".join(text for text in (check.message, raised) if text)


def _written(attack: Attack, folder: Path, secret: str) -> Iterator[str]:
    """What stands in a written file and must not."""
    for path in (folder / REPORT, folder / FEEDBACK, folder / FEEDBACK_HTML, *_of_class(folder.parent)):
        text = path.read_bytes().decode()
        for forbidden in (secret, *attack.never, *attack.never_in.get(path.name, ())):
            if forbidden in text:
                yield f"{path.name} holds {forbidden!r}"


def _of_class(out: Path) -> tuple[Path, Path]:
    return out / SUMMARY, out / GRADEBOOK
