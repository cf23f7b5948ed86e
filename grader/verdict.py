"""What a check came to, and the report made of it: plain data in the very shape of `report.yaml`."""

from __future__ import annotations

import enum
from fractions import Fraction

import msgspec

SCHEMA = "hw3-report/1"
AND = " + "
"""Joins the names of two misconceptions."""
NOT_SELECTED = "not selected by --only"
"""Why a check is pending that this run was told to leave out."""


class Verdict(enum.Enum):
    """What became of one check."""

    PASSED = "passed"
    FAILED = "failed"
    """An answer came and is wrong."""
    ERROR = "error"
    """The student's code raised, or is still a stub."""
    TIMEOUT = "timeout"
    MEMORY = "memory"
    SKIPPED = "skipped"
    """Something that this check needs did not pass or does not exist."""
    PENDING = "pending"
    """This run could not assess it; its points are not lost."""


class Visibility(enum.Enum):
    """Whether a student can run the like of a check locally."""

    PUBLIC = "public"
    HIDDEN = "hidden"


class Status(enum.Enum):
    """What became of a submission as a whole."""

    GRADED = "graded"
    UNGRADABLE = "ungradable"
    """The submission's own fault, named in `message`."""
    INFRASTRUCTURE_ERROR = "infrastructure_error"
    """The grader's or machine's fault: never a zero, to be retried."""


class Points(msgspec.Struct, frozen=True, kw_only=True):
    """A check's points; what counts is `earned + carried_forward`."""

    earned: float
    available: float
    carried_forward: float = 0.0


class Mismatch(msgspec.Struct, frozen=True, kw_only=True):
    """Where and by how much an array is wrong; numbers have two significant digits.

    `kind` is one of shape, dtype, finite, value, missing, property; `at` is the first index over tolerance; `got` and
    `wanted` are shapes; `relation` and `factor` are those of `grader.relation`.
    """

    what: str
    kind: str
    max_abs: float | None = None
    max_rel: float | None = None
    at: list[int] = []
    tolerance: float | None = None
    got: list[int] | None = None
    wanted: list[int] | None = None
    relation: str | None = None
    factor: float | None = None


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """The named mistake behind a wrong answer."""

    misconception: str
    """Its name; "a + b" where two together explain the answer."""
    match: str
    hint: str

    @property
    def names(self) -> tuple[str, ...]:
        """The names one by one."""
        return tuple(self.misconception.split(AND))


class Raised(msgspec.Struct, frozen=True, kw_only=True):
    """An exception of the student's code and the line of their own file that it came from; untrusted text."""

    kind: str
    text: str
    file: str = ""
    line: int = 0
    source: str = ""


class Filled(enum.Enum):
    """How a field of an exercise was filled in."""

    RIGHT = "right"
    WRONG = "wrong"
    EMPTY = "empty"
    UNREADABLE = "unreadable"
    """Not of the kind that the field asks for, such as a word for a number."""


class FieldReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One field of an exercise; `given` is what the student wrote, untrusted text."""

    name: str
    filled: Filled
    given: str = ""


class StatementReport(msgspec.Struct, frozen=True, kw_only=True):
    """One statement of the quiz: what the student holds, and whether that is right; None: not answered."""

    id: str
    given: bool | None
    right: bool | None


class CheckReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One check of one submission."""

    id: str
    title: str
    visibility: Visibility
    verdict: Verdict
    points: Points
    error: Mismatch | None = None
    diagnosis: Diagnosis | None = None
    message: str = ""
    unwritten: bool = False
    """The stub is still there: not an attempt, and no error to explain."""
    raised: Raised | None = None
    carried_from: list[str] = []
    """The ids of the checks that have paid for what is wrong here."""
    remarks: list[str] = []
    fields: list[FieldReport] = []
    """Of an exercise."""


class ProblemReport(msgspec.Struct, frozen=True, kw_only=True):
    """One of the four problems."""

    id: str
    title: str
    score: float
    max_score: float
    pending: float
    checks: list[CheckReport]


class SubmissionReport(msgspec.Struct, frozen=True, kw_only=True):
    """What was received; `files` maps a name to its "sha256:…"."""

    id: str
    members: list[str]
    source: str
    layout: str
    sha256: str
    files: dict[str, str]


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """What a second run must have in common to give the same bytes."""

    grader: str
    python: str
    numpy: str
    torch: str
    sandbox: str
    rubric: str
    seed: str


class Report(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`report.yaml`: the staff's view of one submission."""

    schema: str
    submission: SubmissionReport
    status: Status
    score: float | None
    max_score: float
    pending: float
    problems: list[ProblemReport]
    needs_review: bool
    message: str
    remarks: list[str]
    environment: Environment
    quiz: list[StatementReport] = []
    """Where the exercises were assessed and a form was handed in."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What the pipeline found for one check, before points: the input of `grader.score`.

    Args:
        share: of the available points that was earned, 0 … 1.
        carried: of the available points that was earned against twins with the submission's own lower mistake.
        needs_review: an error too large for rounding and too small for a mistake, on every seed.
        fields: of an exercise.
    """

    verdict: Verdict
    share: Fraction = Fraction(0)
    carried: Fraction = Fraction(0)
    error: Mismatch | None = None
    diagnosis: Diagnosis | None = None
    message: str = ""
    unwritten: bool = False
    needs_review: bool = False
    raised: Raised | None = None
    carried_from: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    fields: tuple[FieldReport, ...] = ()
