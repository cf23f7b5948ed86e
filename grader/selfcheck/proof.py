"""Known solutions graded side by side: who loses what, and under which name."""

from __future__ import annotations

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase

import numpy as np

from grader import checks, pipeline
from grader.case import Fault
from grader.errors import GraderError
from grader.evidence import gather
from grader.judge import judge
from grader.pipeline import Bench
from grader.rubric import CheckLine
from grader.seed import public_seed
from grader.selfcheck.attacking import Tried, carry_out
from grader.selfcheck.ground import prepared
from grader.selfcheck.known import Known
from grader.selfcheck.machine import Machine
from grader.selfcheck.patches import Equivalent, Mutant, applied
from grader.student import Student
from grader.submission import CANONICAL, Submission
from grader.verdict import CheckReport, Report, Verdict

Entry = Submission | Mutant | Equivalent | Machine

OWN = {
    "nn.logsumexp": ("p1.lse.*",),
    "nn.softmax_loss": ("p1.loss.*",),
    "modules_basic.Linear": ("p2.linear.*",),
    "modules_basic.Embedding": ("p2.embedding.*",),
    "modules_basic.Dropout": ("p2.dropout.*",),
    "modules_basic.LayerNorm1d": ("p2.layernorm.*", "p3.layer"),  # which alone calls it with three dims
    "transformer.MultiHeadAttention": ("p3.mha.*",),
    "transformer.FeedForward": ("p3.ffn",),
    "transformer.TransformerLayer": ("p3.layer", "p3.lm.dropout"),  # which alone trains it
    "transformer.DecoderLM": ("p3.lm.*",),
    "translation.loss_fn": ("p4.loss",),
    "translation.generate": ("p4.generate",),
}
"""What a machine-made mutant breaks -> the checks of which one must see it."""

REACHES = {
    "nn": ("p1.*", "p4.*"),
    "modules_basic": ("p2.*", "p3.*"),
    "transformer": ("p2.*", "p3.*"),
    "translation": ("p1.*", "p4.*"),
}
"""A named mutant's file -> the checks that it is graded with: its own problem's, of what stands on it, and of what it
stands on, since what these would have caught is ruled out as the reason."""

FINE = frozenset({Verdict.PASSED, Verdict.PENDING})


@dataclasses.dataclass(frozen=True)
class Result:
    """What grading one known solution showed.

    Args:
        id: of the solution.
        lost: the checks that lost points, in the rubric's order.
        failed: the checks that were not passed, points or no points.
        names: check -> the misconceptions that it was reported as.
        score: points that count.
        pending: points that could not be assessed.
        notes: for a person: why a check failed.
    """

    id: str
    lost: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    names: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    score: float = 0.0
    pending: float = 0.0
    notes: tuple[str, ...] = ()


def graded(submission: Submission, bench: Bench, only: tuple[str, ...] = ()) -> Result:
    """A solution that goes the whole way, diagnosis and all, and where it loses points."""
    try:
        report = pipeline.grade(submission, dataclasses.replace(bench, only=only)).report
    except GraderError as error:
        return Result(submission.id, notes=(f"the grader itself failed: {error}",))
    lost = [check for check in of(report) if check.verdict not in FINE and _loss(check) > 0]
    return Result(
        id=submission.id,
        lost=tuple(check.id for check in lost),
        failed=tuple(check.id for check in of(report) if check.verdict not in FINE),
        names={c.id: c.diagnosis.names for c in of(report) if c.diagnosis and c.verdict not in FINE},
        score=report.score or 0.0,
        pending=report.pending,
        notes=tuple(f"{check.id} {check.verdict.value}: {check.message}" for check in lost),
    )


def of(report: Report) -> list[CheckReport]:
    """A report's checks."""
    return [check for problem in report.problems for check in problem.checks]


def _loss(check: CheckReport) -> float:
    return check.points.available - check.points.earned - check.points.carried_forward


def checks_for(mutant: Mutant) -> tuple[str, ...]:
    """The patterns of the checks that a named mutant is graded with."""
    stems = [name for name, _, _ in mutant.replace] + [f"{place.partition('.')[0]}.py" for place in mutant.define]
    first = min((name for name in stems if name in CANONICAL), key=CANONICAL.index, default=CANONICAL[0])
    return REACHES[first.removesuffix(".py")]


def untrained(bench: Bench, patterns: tuple[str, ...]) -> tuple[str, ...]:
    """The ids that glob patterns select, but for the checks that train a model, which take seconds each."""
    lines = (line.id for line in bench.rubric.checks if not checks.trains(line.id))
    return tuple(check for check in lines if any(fnmatchcase(check, pattern) for pattern in patterns))


def first_loss(machine: Machine, reference: dict[str, bytes], bench: Bench) -> Result:
    """The first check of its own part that a machine-made mutant loses; nothing is diagnosed, nothing run after it."""
    own = OWN[machine.target]
    lines = [c for c in bench.rubric.checks if not c.pending and any(fnmatchcase(c.id, pattern) for pattern in own)]
    with bench.sandbox.open({**reference, machine.file: machine.content}) as session:
        student = Student(session)
        lost = next((line.id for line in lines if _loses(line, student, bench)), None)
    return Result(machine.id, (lost,) if lost else ())


def _loses(line: CheckLine, student: Student, bench: Bench) -> bool:
    draw = checks.Draw(np.random.default_rng(public_seed(bench.secret, line.id)))
    trials = checks.trials(line.id, draw)
    answers = student.run([trial.case for trial in trials], bench.rubric.limits_of(line))
    if isinstance(answers, Fault):
        return True
    return judge(gather(trials, answers, bench.rubric.tolerance(line), bench.rubric.single)) is not None


@dataclasses.dataclass(frozen=True)
class Proof:
    """What came of everything that was graded, each in the order in which it is known."""

    reference: Result
    blank: Result
    mutants: list[Result]
    machines: list[Result]
    equivalents: list[Result]
    attacks: list[Tried] = dataclasses.field(default_factory=list)
    left: str = ""
    """What all of it together has changed around it."""


def run(known: Known, bench: Bench, jobs: int) -> Proof:
    """Everything graded, `jobs` at a time; what waits for a clock begins first, as the rest is done meanwhile."""
    files = dict(known.reference.files)

    def work(entry: Entry) -> Result:
        match entry:
            case Submission():
                return graded(entry, bench)
            case Machine():
                return first_loss(entry, files, bench)
            case Mutant():
                chosen = (*untrained(bench, checks_for(entry)), *entry.fails)
                return graded(applied(entry, known.all_mutants, known.texts), bench, chosen)
            case Equivalent():
                chosen = () if entry.trains else untrained(bench, ("*",))
                return graded(applied(entry, known.all_equivalents, known.texts), bench, chosen)

    groups: list[list[Entry]] = [
        [known.reference, known.blank],
        [*known.mutants],
        [*known.machines],
        [*known.equivalents],
    ]
    attacks = sorted(known.attacks, key=lambda attack: not attack.waits)
    with prepared(bench, known.reference, known.texts, known.all_attacks) as ground:
        with ThreadPoolExecutor(jobs, thread_name_prefix="selfcheck") as pool:
            tried = pool.map(lambda attack: carry_out(attack, ground), attacks)
            results = pool.map(work, [entry for group in groups for entry in group])
            (reference, blank), mutants, machines, equivalents = ([next(results) for _ in group] for group in groups)
        return Proof(reference, blank, mutants, machines, equivalents, list(tried), ground.left_behind())
