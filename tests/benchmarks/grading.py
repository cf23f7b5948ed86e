"""G1-G3: what grading one submission costs, sandbox and all. Times, not ratios: a class is as large as it is."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Sequence

import numpy as np

from grader import checks, pipeline, rubric, sandbox
from grader.checks import Trial
from grader.evidence import gather
from grader.fingerprint import ROOT
from grader.grading import environment
from grader.judge import judge
from grader.preflight import REFERENCE, submission_of
from grader.stubs import release_stubs
from grader.student import Student
from grader.submission import CANONICAL, Submission

from .frame import ROUNDS, Row

SECRET = b"a secret of the benchmarks, long enough"
COMPARISONS = 60
MODULES = ("p3.mha.heads", "p3.mha.grad", "p3.ffn", "p3.layer", "p2.layernorm.forward", "p2.linear.forward")


@functools.cache
def bench() -> pipeline.Bench:
    """The shipped rubric and the best sandbox of this machine."""
    lines, box = rubric.load(), sandbox.probe("auto")
    reference = submission_of(ROOT / "solution", REFERENCE).files
    return pipeline.Bench(lines, box, release_stubs(), SECRET, environment(lines, box.tier, SECRET), reference)


def reference() -> Submission:
    """The reference, as a submission."""
    files = {name: (ROOT / "solution" / name).read_bytes() for name in CANONICAL}
    return Submission("reference", ("reference",), "solution", "plain", "", files)


def blank() -> Submission:
    """The stubs, as a submission."""
    return Submission("blank", ("blank",), "assignment", "plain", "", dict(release_stubs()))


def comparisons() -> list[float]:
    """Seconds for 60 comparisons of modules with their twins, from opening a sandbox to the verdicts."""
    trials: list[Trial] = []
    for identifier in (
        "p3.mha.heads",
        "p3.mha.grad",
        "p3.ffn",
        "p3.layer",
        "p2.layernorm.forward",
        "p2.linear.forward",
    ):
        trials += checks.trials(identifier, checks.Draw(np.random.default_rng(len(trials))))
    trials = (trials * COMPARISONS)[:COMPARISONS]
    tolerance = bench().rubric.tolerances["float64"]

    def one_round() -> None:
        with bench().sandbox.open({**release_stubs(), **reference().files}) as session:
            answers = Student(session).run([trial.case for trial in trials], bench().rubric.limits)
            assert not hasattr(answers, "kind"), answers
            assert judge(gather(trials, answers, tolerance, bench().rubric.single)) is None

    return _rounds(one_round, time.perf_counter)


def whole(submission: Callable[[], Submission]) -> list[float]:
    """Processor seconds of one submission, ours and the sandbox's."""
    return _rounds(lambda: pipeline.grade(submission(), bench()), _processor_seconds)


def _processor_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _rounds(work: Callable[[], object], clock: Callable[[], float]) -> list[float]:
    work()  # warm: the twins' results are cached from here on, as within a class
    values = []
    for _ in range(ROUNDS):
        start = clock()
        work()
        values.append(clock() - start)
    return values


def _correct() -> Sequence[float]:
    return whole(reference)


def _blank() -> Sequence[float]:
    return whole(blank)


ROWS = (
    Row("G1", "seconds for 60 float64 comparisons of modules, sandbox and all", 0.5, 0.25, comparisons),
    Row("G2", "processor seconds of a whole correct submission, but for training and IWSLT", 30, 12, _correct),
    Row("G3", "processor seconds of a blank submission", 1.0, 0.4, _blank),
)
