"""One trial is judged: did the student's code answer, do its arrays agree with the twin's, do its properties hold?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import msgspec
import numpy as np

from grader.case import Answer, Array, Case, Role, Status, Trouble
from grader.checks import Trial, shapes
from grader.compare import compare, gradient_scale
from grader.evidence import Exhibit
from grader.relation import ROUNDING, relate
from grader.verdict import Mismatch, Raised, Verdict


@dataclass(frozen=True)
class Finding:
    """Why a trial does not pass; `share` and `excused` are those of `Broken`.

    `message` holds the student's numbers and exception text, nothing of the twin.
    """

    verdict: Verdict
    message: str
    error: Mismatch | None = None
    unwritten: bool = False
    misconception: str = ""
    raised: Raised | None = None
    share: Fraction = Fraction(0)
    excused: tuple[str, ...] = ()
    unclear: bool = False


def judge(exhibits: Sequence[Exhibit]) -> Finding | None:
    """The first fault in a check's answers, or None."""
    for exhibit in exhibits:
        finding = unanswered(exhibit.trial, exhibit.answer) or disagreement(exhibit)
        if finding:
            return finding
    return None


def unanswered(trial: Trial, answer: Answer) -> Finding | None:
    """Why the answer cannot be compared: not built, not called, refused, or not the parameters of such a module."""
    name = trial.case.target
    if answer.status is not Status.OK:
        return _trouble(answer.status, answer.trouble, name)
    held = _held(trial, answer)
    wrong = shapes.misfit(name, trial.case.arguments, held)
    if wrong:
        parameter, text = wrong
        got = list(held[parameter]) if parameter in held else None
        error = Mismatch(what=f"param.{parameter}", kind="missing" if got is None else "shape", got=got)
        return Finding(Verdict.FAILED, f"{name}: {text}", error)
    for number, outcome in enumerate(answer.calls):
        if number in trial.refused:
            if outcome.status is Status.OK:
                error = Mismatch(what=f"{number}.out", kind="property")
                text = f"{name} raises no error where one is due"
                return Finding(Verdict.FAILED, text, error, misconception=trial.unrefused)
            if outcome.status is Status.RAISED:
                continue
        if outcome.status is not Status.OK:
            return _trouble(outcome.status, outcome.trouble, name)
    return None


def disagreement(exhibit: Exhibit) -> Finding | None:
    """The first array that is not the twin's, else the first property that does not hold, else None.

    Args:
        exhibit: what was asked and what the worker said; `unanswered` has found nothing wrong with it.
    """
    return _values(exhibit) or broken_property(exhibit.trial, exhibit.answer)


def _held(trial: Trial, answer: Answer) -> dict[str, tuple[int, ...]]:
    """The shapes of the parameters that the student's module computed with; the twins take over the same ones."""
    given = trial.case.parameters
    held = {name: array.shape for name, array in (given or {}).items() if name not in answer.absent}
    own = {k.removeprefix("param."): v.shape for k, v in answer.arrays.items() if k.startswith("param.")}
    return held | {name: shape for name, shape in own.items() if given is None or name in answer.reshaped}


def _trouble(status: Status, trouble: Trouble, name: str) -> Finding:
    finding = _in_words(status, trouble, name)
    if status not in {Status.RAISED, Status.MEMORY, Status.BAD_VALUE} or not (trouble.kind or trouble.file):
        return finding
    source = trouble.source.strip()
    raised = Raised(kind=trouble.kind, text=trouble.text, file=trouble.file, line=trouble.line, source=source)
    return replace(finding, raised=raised)


def _in_words(status: Status, trouble: Trouble, name: str) -> Finding:
    place = f" ({trouble.file} line {trouble.line}: {trouble.source.strip()})" if trouble.file else ""
    if status is Status.MEMORY:
        return Finding(Verdict.MEMORY, f"{name} ran out of memory{place}")
    if status is Status.UNWRITTEN:
        return Finding(Verdict.ERROR, trouble.text or f"{name} is not written yet", unwritten=True)
    if status is Status.MISSING:
        return Finding(Verdict.ERROR, trouble.text or f"{name} does not exist")
    if status is Status.BAD_VALUE:
        return Finding(Verdict.FAILED, f"{name}: {trouble.text}{place}")
    said = f": {trouble.text}" if trouble.text else ""
    return Finding(Verdict.ERROR, f"{name}: {trouble.kind}{said}{place}")


def _values(exhibit: Exhibit) -> Finding | None:
    tolerance = exhibit.tolerance
    name, answer, expected = exhibit.trial.case.target, exhibit.answer, exhibit.expected()
    for what, wanted in expected.items():
        gradient = ".grad." in what
        actual = answer.arrays.get(what)
        if actual is None:
            text = (
                f"{name}: {_words(what)} is missing: no gradient reaches it" if gradient else f"{name} returned nothing"
            )
            return Finding(Verdict.FAILED, text, Mismatch(what=what, kind="missing"))
        scale = gradient_scale(what, expected) if gradient else None
        error = compare(what, actual, wanted, tolerance.gradients if gradient else tolerance.outputs, scale)
        if error:
            text = _difference(name, what, error, actual, wanted)
            unclear = error.kind == "value" and (error.max_rel or 0.0) <= tolerance.wrong
            return Finding(Verdict.FAILED, text, _related(error, actual, wanted, exhibit), unclear=unclear)
    return None


def _related(error: Mismatch, actual: Array, wanted: Array, exhibit: Exhibit) -> Mismatch:
    """`error` with both shapes where they differ, and how the numbers are related where they are."""
    if error.kind == "shape":
        error = msgspec.structs.replace(error, got=list(actual.shape), wanted=list(wanted.shape))
    found = relate(actual, wanted, _batch(exhibit.trial.case), max(ROUNDING, exhibit.tolerance.outputs))
    return msgspec.structs.replace(error, relation=found.kind, factor=found.factor) if found else error


def _batch(case: Case) -> int:
    """The size of the batch that the first call gets; 0 where it has none."""
    for given in case.calls[0].inputs.values():
        if isinstance(given.value, np.ndarray) and given.role in {Role.VARIABLE, Role.CONSTANT, Role.BATCH}:
            sizes = given.value.shape[1:] if given.role is Role.BATCH else given.value.shape
            return int(sizes[0]) if sizes else 0
    return 0


def _difference(name: str, what: str, error: Mismatch, actual: Array, wanted: Array) -> str:
    words = _words(what)
    if error.kind == "shape":
        return f"{name}: {words} has shape {actual.shape}, expected {wanted.shape}"
    if error.kind == "dtype":
        return f"{name}: {words} holds {actual.dtype}, expected numbers"
    if error.kind == "finite":
        return f"{name}: {words} holds a NaN or an infinity at {tuple(error.at)}"
    return f"{name}: {words} is wrong from {tuple(error.at)} on"


def _words(what: str) -> str:
    _, _, rest = what.partition(".")
    if rest.startswith("grad.param."):
        return f"the gradient of parameter {rest.removeprefix('grad.param.')}"
    if rest.startswith("grad."):
        return f"the gradient of {rest.removeprefix('grad.')}"
    return "the output"


def broken_property(trial: Trial, answer: Answer) -> Finding | None:
    """The first property of a trial that does not hold, or None."""
    for holds in trial.properties:
        broken = holds(trial.case, answer)
        if broken:
            error = Mismatch(what=broken.what, kind="property", at=list(broken.at))
            text = f"{trial.case.target}: {broken.text}"
            return Finding(
                Verdict.FAILED,
                text,
                error,
                misconception=broken.misconception,
                share=broken.share,
                excused=broken.excused,
            )
    return None
