"""A graded submission on its way to the disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from grader.submission import Submission
from grader.verdict import Report


@dataclass(frozen=True)
class Used:
    """What one check's requests used in the sandbox; it varies from run to run.

    Args:
        requests: how many.
        cpu_s: seconds of processor time, all together.
        peak_mib: resident memory of the largest, in MiB.
    """

    requests: int
    cpu_s: float
    peak_mib: float


@dataclass(frozen=True)
class Graded:
    """What grading one submission gives.

    Args:
        report: the same bytes on every run.
        timings: check id -> seconds, which vary from run to run and so stay out of the report.
        used: check id -> what its requests used, likewise.
        unfinished: a long check ran out of time, so `--resume` goes on with this submission.
    """

    report: Report
    timings: Mapping[str, float] = field(default_factory=dict)
    used: Mapping[str, Used] = field(default_factory=dict)
    unfinished: bool = False


GradeOne = Callable[[Submission], Graded]
"""Grades one submission, from several threads at once; raises only for the grader's or the machine's own fault."""
