"""Every exception that the grader raises on purpose. Each message says what arrived, what was expected, and the fix."""

from __future__ import annotations


class GraderError(Exception):
    """The root: never raised itself."""


class UsageError(GraderError):
    """The command line or a file that staff wrote is wrong: exit status 2."""


class RefusedToStartError(GraderError):
    """Grading would not be trustworthy here (no isolation, the reference not at full marks): exit status 3."""


class InfrastructureError(GraderError):
    """The grader's or the machine's own fault while grading one submission: retried, never a zero."""


class UngradableError(GraderError):
    """A submission that cannot be graded through its own fault; the message is shown to its student."""


class ProtocolError(GraderError):
    """Bytes from a worker that are not exactly one valid frame."""


class IncomparableError(GraderError):
    """A submission's own parameters have shapes that no twin can compute with: its outputs cannot be right."""


class UnmatchedMasksError(GraderError):
    """Dropout was used at other places than in the twin: right perhaps, but not comparable with dropout on."""


class ExercisesError(GraderError):
    """An `exercises.yaml` that cannot be read through its own fault; the message is shown to its student."""
