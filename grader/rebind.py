"""A fault without a name in a module below: what stands above is judged over the reference's module in its place.

In a sandbox of its own, the names of the broken modules are bound to the reference's once the student's files are
loaded; all else stays theirs. Of such a run only arrays are taken, and only to see whether they are right: no text, as
the reference of these modules, and of no others, can be read there. Who finds it has lost its points already.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

from grader.case import Fault, Limits
from grader.diagnose import LEARNERS, TARGETS, USED_BY, Causes, explains
from grader.evidence import Exhibit, gather
from grader.judge import broken_property, unanswered
from grader.misconceptions import Misconception, parts_with
from grader.rubric import Tolerance
from grader.sandbox import Sandbox
from grader.student import Spending, Student

MOST_REPLACED = 1
"""Parts of a model that learns, which is all a student's: with every part replaced, nothing of theirs would learn."""

STUDENTS = frozenset({*TARGETS.values(), "modules_basic.Dropout"})
"""All that students write."""

REBOUND = "rebound.py"
"""What the file with the reference's modules is called in the sandbox; see `grader.worker.rebind`."""


@dataclass(frozen=True)
class Unnamed:
    """A fault that no misconception explains, in one part of a submission; the cause of what fails above it."""

    part: str
    blames: str

    @property
    def name(self) -> str:
        """What a report calls it."""
        return f"what is wrong in {TARGETS[self.part].partition('.')[2]}"


class Repaired:
    """A submission with some of its parts replaced by the reference's; each set of parts has a sandbox of its own.

    Args:
        sandbox: where it runs.
        files: the submission's, with the stubs for missing ones.
        reference: the solution's files.
        spending: of the submission's budget.
    """

    def __init__(
        self, sandbox: Sandbox, files: Mapping[str, bytes], reference: Mapping[str, bytes], spending: Spending
    ) -> None:
        self._sandbox, self._files, self._reference, self._spending = sandbox, files, reference, spending
        self._students: dict[tuple[str, ...], Student] = {}
        self._open = contextlib.ExitStack()

    def student(self, parts: Sequence[str]) -> Student:
        """The submission with these parts replaced; its sandbox is opened at the first call.

        Raises:
            InfrastructureError: see `Sandbox.open`.
        """
        key = tuple(sorted(parts))
        if key not in self._students:
            files = {**self._files, REBOUND: excerpt(self._reference, [TARGETS[part] for part in key])}
            self._students[key] = Student(self._open.enter_context(self._sandbox.open(files)), self._spending)
        return self._students[key]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()


def explain_by_repair(
    exhibits: Sequence[Exhibit],
    broken: Mapping[str, str],
    earlier: Sequence[Misconception],
    repaired: Repaired,
    limits: Limits,
    tolerances: tuple[Tolerance, Tolerance],
) -> Causes:
    """The faults below a failed check, if what the check looks at is right where these modules are right.

    Args:
        exhibits: the check's trials and answers.
        broken: part -> the check that it failed, for every part that is wrong without a name.
        earlier: the named mistakes of other checks.
        repaired: the submission without those faults.
        limits: of a request.
        tolerances: the check's own, and that of float32.

    Raises:
        InfrastructureError: the sandbox was lost; that says nothing of the submission.
    """
    target = exhibits[0].trial.case.target
    below = [part for part in USED_BY.get(target, ())[1:] if part in broken]
    if not below or (target in LEARNERS and len(below) > MOST_REPLACED):
        return ()
    targets = tuple(TARGETS[part] for part in below)
    trials = [exhibit.trial for exhibit in exhibits]
    answers = repaired.student(below).run([replace(trial.case, rebind=targets) for trial in trials], limits)
    if isinstance(answers, Fault):
        return ()
    again = gather(trials, answers, *tolerances)
    if any(unanswered(e.trial, e.answer) or broken_property(e.trial, e.answer) for e in again):
        return ()
    compared = [exhibit for exhibit in again if exhibit.trial.compare]
    named = tuple(dict.fromkeys(m for m in earlier if m.part not in below))
    for mistakes in ((), named) if named else ((),):
        parts = parts_with(*mistakes)
        if all(explains(exhibit, parts) for exhibit in compared):
            return (*mistakes, *(Unnamed(part, broken[part]) for part in below))
    return ()


def confirmed(
    causes: Causes,
    exhibits: Sequence[Exhibit],
    earlier: Sequence[Misconception],
    repaired: Repaired,
    limits: Limits,
    tolerances: tuple[Tolerance, Tolerance],
) -> Causes:
    """The causes of a failed check; none if a mistake below hides what the check looks at, and this is not right.

    Where Linear lets no gradient through, modules that have none themselves look right. Such a mistake in a module
    below explains only what is right over the reference's module in its place.

    Args:
        causes: what explains the failure.
        exhibits: the check's trials and answers.
        earlier: the named mistakes of other checks.
        repaired: the submission without those faults.
        limits: of a request.
        tolerances: the check's own, and that of float32.

    Raises:
        InfrastructureError: see `explain_by_repair`.
    """
    below = USED_BY.get(exhibits[0].trial.case.target, ())[1:]
    named = [cause for cause in causes if isinstance(cause, Misconception)]
    hiding = {mistake.part: mistake.blames for mistake in named if mistake.hides and mistake.part in below}
    if not hiding:
        return causes
    replaced = {cause.part: cause.blames for cause in causes if isinstance(cause, Unnamed)} | hiding
    others = dict.fromkeys((*earlier, *named))
    found = explain_by_repair(exhibits, replaced, tuple(others), repaired, limits, tolerances)
    return causes if found else ()


def excerpt(reference: Mapping[str, bytes], targets: Sequence[str]) -> bytes:
    """A module with the reference's definitions of some targets, and of no other; what they use is the student's.

    Args:
        reference: the solution's files.
        targets: "<file>.<name>" each.
    """
    imports, definitions = ["from __future__ import annotations"], list[str]()
    for file in dict.fromkeys(target.partition(".")[0] for target in targets):
        wanted = {target.partition(".")[2] for target in targets if target.partition(".")[0] == file}
        others = {name.partition(".")[2] for name in STUDENTS if name.partition(".")[0] == file} - wanted
        tree = ast.parse(reference[f"{file}.py"])
        kept = [node for node in tree.body if getattr(node, "name", None) not in others and not _is_future(node)]
        used = {node.id for statement in kept for node in ast.walk(statement) if isinstance(node, ast.Name)}
        imports += [f"from .{file} import {name}" for name in sorted(others & used)]
        imports += [ast.unparse(node) for node in kept if isinstance(node, ast.Import | ast.ImportFrom)]
        definitions += [ast.unparse(node) for node in kept if not isinstance(node, ast.Import | ast.ImportFrom)]
    return "\n".join([*imports, *definitions, ""]).encode()  # in this order: an import must not undo a definition


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"
