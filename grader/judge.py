"""One trial is judged: did the student's code answer, do its arrays agree with the twin's, do its properties hold?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader.case import Answer, Array, Status, Trouble
from grader.checks import Trial, shapes
from grader.compare import compare, gradient_scale
from grader.evidence import Exhibit
from grader.rubric import Tolerance
from grader.verdict import Mismatch, Verdict


@dataclass(frozen=True)
class Finding:
    """Why a trial does not pass. `message` holds the student's numbers and exception text, nothing of the twin."""

    verdict: Verdict
    message: str
    error: Mismatch | None = None
    unwritten: bool = False
    misconception: str = ""


def judge(exhibits: Sequence[Exhibit], tolerance: Tolerance) -> Finding | None:
    """The first fault in a check's answers, or None."""
    for exhibit in exhibits:
        finding = unanswered(exhibit.trial, exhibit.answer) or disagreement(exhibit, tolerance)
        if finding:
            return finding
    return None


def unanswered(trial: Trial, answer: Answer) -> Finding | None:
    """Why the answer cannot be compared: not built, not called, refused, or not the parameters of such a module."""
    name = trial.case.target
    if answer.status is not Status.OK:
        return _trouble(answer.status, answer.trouble, name)
    wrong = shapes.misfit(name, trial.case.arguments, _held(trial, answer))
    if wrong:
        return Finding(Verdict.FAILED, f"{name}: {wrong[1]}", Mismatch(what=f"param.{wrong[0]}", kind="shape"))
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


def disagreement(exhibit: Exhibit, tolerance: Tolerance) -> Finding | None:
    """The first array that is not the twin's, else the first property that does not hold, else None.

    Args:
        exhibit: what was asked and what the worker said; `unanswered` has found nothing wrong with it.
        tolerance: the check's.
    """
    return _values(exhibit, tolerance) or _properties(exhibit.trial, exhibit.answer)


def _held(trial: Trial, answer: Answer) -> dict[str, tuple[int, ...]]:
    """The shapes of the parameters in the student's module."""
    given = trial.case.parameters or {}
    held = {name: array.shape for name, array in given.items() if name not in answer.absent}
    own = {name: array.shape for name, array in answer.arrays.items() if name.startswith("param.")}
    return held | {name.removeprefix("param."): shape for name, shape in own.items()}


def _trouble(status: Status, trouble: Trouble, name: str) -> Finding:
    place = f" ({trouble.file} line {trouble.line}: {trouble.source.strip()})" if trouble.file else ""
    if status is Status.MEMORY:
        return Finding(Verdict.MEMORY, f"{name} ran out of memory{place}")
    if status is Status.UNWRITTEN:
        return Finding(Verdict.ERROR, trouble.text or f"{name} is not written yet", unwritten=True)
    if status is Status.MISSING:
        return Finding(Verdict.ERROR, trouble.text or f"{name} does not exist")
    if status is Status.BAD_VALUE:
        return Finding(Verdict.FAILED, f"{name}: {trouble.text}{place}")
    return Finding(Verdict.ERROR, f"{name}: {trouble.kind}: {trouble.text}{place}")


def _values(exhibit: Exhibit, tolerance: Tolerance) -> Finding | None:
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
            return Finding(Verdict.FAILED, _difference(name, what, error, actual, wanted), error)
    return None


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


def _properties(trial: Trial, answer: Answer) -> Finding | None:
    for holds in trial.properties:
        broken = holds(trial.case, answer)
        if broken:
            error = Mismatch(what=broken.what, kind="property", at=list(broken.at))
            text = f"{trial.case.target}: {broken.text}"
            return Finding(Verdict.FAILED, text, error, misconception=broken.misconception)
    return None
