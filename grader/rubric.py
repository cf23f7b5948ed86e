"""The rubric and the tolerances, read strictly: an unknown key, a missing id or a wrong sum is refused."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable
from fnmatch import fnmatchcase
from fractions import Fraction
from importlib import resources
from typing import Literal, TypeVar

import msgspec
import yaml

from grader.case import Budget, Limits
from grader.errors import UsageError
from grader.exercises import exercises
from grader.recipe import TranslationLine
from grader.verdict import Visibility

T = TypeVar("T")

LONGEST_S, MOST_MIB = 24 * 3600, 1024 * 1024
MOST_REPLY_MIB = 1024
LEAST_MIB = 192
"""Of address space: NumPy itself does not load with less."""


class OwnLimits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What of the head's limits is otherwise for one check."""

    wall_s: float | msgspec.UnsetType = msgspec.UNSET
    cpu_s: int | msgspec.UnsetType = msgspec.UNSET
    memory_mib: int | msgspec.UnsetType = msgspec.UNSET
    reply_mib: int | msgspec.UnsetType = msgspec.UNSET


class CheckLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One check's line; see the head of rubric.yaml."""

    id: str
    points: float
    visibility: Visibility
    needs: list[str] = []
    after: list[str] = []
    tolerance: str = "float64"
    pending: str = ""
    long: bool = False
    limits: OwnLimits = OwnLimits()

    @property
    def exact_points(self) -> Fraction:
        """The points as the decimal that the file shows."""
        return Fraction(str(self.points))


class Problem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One problem of the assignment."""

    id: str
    title: str
    checks: list[CheckLine]


class LimitsLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one request to the worker may use."""

    wall_s: float
    cpu_s: int
    memory_mib: int
    reply_mib: int = Limits.reply_mib


class BudgetLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What all requests for one submission may take together."""

    requests: int = Budget.requests
    seconds: float = Budget.seconds


class RubricFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file as it stands."""

    schema: Literal["hw3-rubric/1"]
    max_score: float
    limits: LimitsLine
    problems: list[Problem]
    budget: BudgetLine = BudgetLine()
    translation: TranslationLine | None = None
    exercises: Problem | None = None


class Tolerance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Relative errors allowed in one class, and what `grader.calibrate` measured round them.

    Args:
        outputs: for what a call returns.
        gradients: for gradients.
        wrong: an error above is clearly wrong.
        spread: the largest error of any right answer.
        mistake: the smallest error of any named misconception.
    """

    outputs: float
    gradients: float
    wrong: float
    spread: float = 0.0
    mistake: float = 0.0


class TolerancesFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file as it stands."""

    schema: Literal["hw3-tolerances/1"]
    classes: dict[str, Tolerance]


class Rubric:
    """The checks with their points, and the tolerances that they name."""

    def __init__(self, rubric_text: str, tolerances_text: str) -> None:
        rubric = _read(rubric_text, RubricFile, "rubric.yaml")
        self.problems = tuple(rubric.problems)
        self.checks = tuple(line for problem in self.problems for line in problem.checks)
        self.exercises = rubric.exercises
        self.max_score = Fraction(str(rubric.max_score))
        self.limits = Limits(**msgspec.structs.asdict(rubric.limits))
        self.budget = Budget(**msgspec.structs.asdict(rubric.budget))
        self.translation = rubric.translation
        self.tolerances = _read(tolerances_text, TolerancesFile, "tolerances.yaml").classes
        self.sha256 = hashlib.sha256((rubric_text + "\0" + tolerances_text).encode()).hexdigest()
        self._validate()

    def tolerance(self, line: CheckLine) -> Tolerance:
        """The tolerance class of a check."""
        return self.tolerances[line.tolerance]

    def limits_of(self, line: CheckLine) -> Limits:
        """What one request of a check may use: the head's limits, with its own in their place."""
        return dataclasses.replace(self.limits, **msgspec.to_builtins(line.limits))

    def selected(self, patterns: Iterable[str]) -> frozenset[str]:
        """The ids that glob patterns select, with all that they need; no pattern: all, exercises only with points."""
        globs = tuple(patterns)
        usual = {line.id for line in self.checks} | {line.id for line in self.exercise_lines if line.points}
        chosen = {name for name in self.ids if any(fnmatchcase(name, glob) for glob in globs)} if globs else usual
        for line in reversed(self.checks):  # needs stand above what needs them
            if line.id in chosen:
                chosen |= {*line.needs, *line.after}
        return frozenset(chosen)

    @property
    def exercise_lines(self) -> tuple[CheckLine, ...]:
        """The lines of the exercises, which are no checks of code."""
        return tuple(self.exercises.checks) if self.exercises else ()

    @property
    def ids(self) -> tuple[str, ...]:
        """All that may be selected: the checks, then the exercises."""
        return tuple(line.id for line in (*self.checks, *self.exercise_lines))

    def has_exercises(self, selected: frozenset[str]) -> bool:
        """Whether a report has a part for the exercises: one is selected, or they have points."""
        return any(line.points or line.id in selected for line in self.exercise_lines)

    @property
    def single(self) -> Tolerance:
        """What holds instead for an answer in float32."""
        return self.tolerances["float32"]

    def _validate(self) -> None:
        if "float32" not in self.tolerances:
            raise UsageError("tolerances.yaml: the class float32, which every rubric needs, is missing")
        _require_sensible("the head", self.limits)
        seen: set[str] = set()
        for line in self.checks:
            for earlier in (*line.needs, *line.after):
                if earlier not in seen:
                    raise UsageError(f"rubric.yaml: {line.id} needs {earlier!r}, which is no check above it")
            if line.id in seen:
                raise UsageError(f"rubric.yaml: {line.id} stands twice; a check has one line")
            if line.long and (self.translation is None or not line.pending):
                raise UsageError(
                    f"rubric.yaml: {line.id} is long; expected the head to have translation, which says how long "
                    "checks train, and the line to have pending, for when they do not"
                )
            if line.points < 0:
                raise UsageError(f"rubric.yaml: {line.id} has {line.points} points; expected 0 or more")
            if line.tolerance not in self.tolerances:
                raise UsageError(
                    f"rubric.yaml: {line.id} names tolerance {line.tolerance!r}; there are {sorted(self.tolerances)}"
                )
            _require_sensible(line.id, self.limits_of(line))
            seen.add(line.id)
        self._require_sensible_budget()
        self._validate_exercises()
        total = sum((line.exact_points for line in (*self.checks, *self.exercise_lines)), Fraction(0))
        if total != self.max_score:
            raise UsageError(f"rubric.yaml: the checks sum to {float(total)}, max_score is {float(self.max_score)}")

    def _validate_exercises(self) -> None:
        numeric, seen = {name for name, exercise in exercises().items() if exercise.fields}, set[str]()
        for line in self.exercise_lines:
            plain = CheckLine(line.id, max(line.points, 0), line.visibility)
            if line != plain or line.id not in numeric - seen:
                raise UsageError(
                    f"rubric.yaml: {line.id} among the exercises; expected one of {', '.join(sorted(numeric))}, once, "
                    "with points of 0 or more, its visibility, and nothing else"
                )
            seen.add(line.id)

    def _require_sensible_budget(self) -> None:
        """Raises: UsageError: a budget within which not every check can be asked once, or use its own time once."""
        short = [line for line in self.checks if not line.long]
        longest = max((self.limits_of(line).wall_s for line in short), default=0.0)
        if self.budget.requests < len(short):
            raise UsageError(
                f"rubric.yaml: budget has {self.budget.requests} requests for {len(short)} checks; expected one for "
                "each, or more"
            )
        if not longest <= self.budget.seconds <= LONGEST_S:  # a NaN, too
            raise UsageError(
                f"rubric.yaml: budget has {self.budget.seconds:g} seconds; expected {longest:g}, the longest wall_s of "
                f"a check, to {LONGEST_S}"
            )


def load() -> Rubric:
    """The rubric that ships with this grader.

    Raises:
        UsageError: a file is malformed; the message names the file and the place.
    """
    here = resources.files("grader")
    return Rubric(here.joinpath("rubric.yaml").read_text("utf-8"), here.joinpath("tolerances.yaml").read_text("utf-8"))


def _require_sensible(whose: str, limits: Limits) -> None:
    """Raises: UsageError: a limit that no request could keep, or that would never be met."""
    for name, value, unit, least, most in (
        ("wall_s", limits.wall_s, "seconds", 0.1, LONGEST_S),
        ("cpu_s", limits.cpu_s, "seconds", 1, LONGEST_S),
        ("memory_mib", limits.memory_mib, "MiB", LEAST_MIB, MOST_MIB),
        ("reply_mib", limits.reply_mib, "MiB", 1, MOST_REPLY_MIB),
    ):
        if not least <= value <= most:  # a NaN, too
            raise UsageError(f"rubric.yaml: {whose} has {name} {value:g}; expected {least:g} to {most:g} {unit}")
    if limits.wall_s < limits.cpu_s:
        raise UsageError(
            f"rubric.yaml: {whose} has wall_s {limits.wall_s:g} and cpu_s {limits.cpu_s}; expected a wall_s "
            "of at least cpu_s, or the processor time could never be used up: raise wall_s, too"
        )


def _read(text: str, kind: type[T], name: str) -> T:
    try:
        return msgspec.convert(yaml.safe_load(text), kind)
    except (msgspec.ValidationError, yaml.YAMLError) as error:
        raise UsageError(f"{name}: {' '.join(str(error).split())}") from error
