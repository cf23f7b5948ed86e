"""`feedback.md`: what the student may see. A hidden check gives its title and points, and nothing else."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from dataclasses import dataclass

from grader.messages import Texts, texts
from grader.report.gradebook import number
from grader.report.summary import is_blank
from grader.report.text import clean, code_block, markdown, one_line
from grader.verdict import CheckReport, Mismatch, ProblemReport, Report, Status, Verdict, Visibility

HIDDEN_MARK = "◦"

_ARRAY = re.compile(r"\d+\.(?P<kind>out|grad\.param|grad)(?:\.(?P<name>.+))?|(?P<given>param)\.(?P<parameter>.+)")
_EXPLAINED = frozenset({Verdict.FAILED, Verdict.ERROR, Verdict.TIMEOUT, Verdict.MEMORY})


class Detail(enum.Enum):
    """How much of a failed public check is explained."""

    FULL = "full"
    """What is wrong, by how much and where, and the hint."""
    HINT = "hint"
    """What is wrong and the hint, without numbers."""
    SCORE = "score"
    """The points only."""


@dataclass(frozen=True)
class Style:
    """What feedback is to be like: its language ("en" or "zh") and how much it says."""

    language: str = "en"
    detail: Detail = Detail.FULL


def feedback(report: Report, style: Style) -> bytes:
    """`feedback.md`, UTF-8."""
    say = texts(style.language)
    return ("\n\n".join(_sections(report, style, say)) + "\n").encode()


def _sections(report: Report, style: Style, say: Texts) -> Iterator[str]:
    yield f"# {say('title', id=markdown(report.submission.id))}"
    if report.status is Status.UNGRADABLE:
        yield say("ungradable", problem=markdown(report.message) or say("no_problem_given"))
        yield say("ungradable_next")
        yield from _received(report, say)
        return
    yield from _score(report, say)
    if is_blank(report):
        yield say("blank")
        yield say("start")
        yield from _received(report, say)
        return
    for problem in report.problems:
        yield from _problem(problem, style, say)
    checks = [check for problem in report.problems for check in problem.checks]
    if any(check.visibility is Visibility.HIDDEN for check in checks):
        yield say("hidden_note")
    if report.remarks:
        yield f"## {say('remarks')}"
        yield "\n".join(f"- {markdown(remark)}" for remark in report.remarks)
    yield from _received(report, say)


def _score(report: Report, say: Texts) -> Iterator[str]:
    if report.needs_review:
        yield say("score_review")
    else:
        yield say("score", score=number(report.score), max_score=number(report.max_score))
    if report.pending:
        yield say("score_pending", pending=number(report.pending))


def _problem(problem: ProblemReport, style: Style, say: Texts) -> Iterator[str]:
    heading = say(
        "problem", title=markdown(problem.title), score=number(problem.score), max_score=number(problem.max_score)
    )
    yield f"## {heading}"
    yield _table(problem, say)
    if any(check.verdict is Verdict.SKIPPED for check in problem.checks):
        yield say("explain_skipped")
    carried = sum(check.points.carried_forward for check in problem.checks)
    if carried:
        yield say("carried", points=number(carried))
    if style.detail is Detail.SCORE:
        return
    for check in problem.checks:
        if check.visibility is Visibility.PUBLIC and check.verdict in _EXPLAINED and not check.unwritten:
            yield from _finding(check, style, say)


def _table(problem: ProblemReport, say: Texts) -> str:
    rows = [(say("column_check"), say("column_result"), say("column_points")), ("---", "---", "---:")]
    for check in problem.checks:
        mark = f" {HIDDEN_MARK}" if check.visibility is Visibility.HIDDEN else ""
        rows.append((f"{markdown(check.title)}{mark}", _result(check, say), _points(check)))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _result(check: CheckReport, say: Texts) -> str:
    return say("unwritten") if check.unwritten else say(f"verdict_{check.verdict.value}")


def _points(check: CheckReport) -> str:
    return f"{number(check.points.earned + check.points.carried_forward)} / {number(check.points.available)}"


def _finding(check: CheckReport, style: Style, say: Texts) -> Iterator[str]:
    yield f"### {markdown(check.title)}"
    if check.verdict is not Verdict.FAILED or not (check.error or check.message):
        yield say(f"explain_{check.verdict.value}")
    if check.error is not None:
        yield _in_words(check.error, style, say)
    if check.message and style.detail is Detail.FULL and not _says_it_all(check.error):
        # An exception's text is the student's own and keeps its lines; other messages are sentences of the grader.
        yield code_block(check.message) if check.verdict is Verdict.ERROR else markdown(check.message)
    if check.diagnosis is not None and check.diagnosis.hint:
        yield say("hint", hint=clean(check.diagnosis.hint))


def _says_it_all(error: Mismatch | None) -> bool:
    """Whether the numbers are the whole of the message; a shape or a property is told by the message alone."""
    return error is not None and error.kind in ("value", "finite")


def _in_words(error: Mismatch, style: Style, say: Texts) -> str:
    what = _what(error.what, say)
    full = style.detail is Detail.FULL
    values = {"what": what, "at": error.at}
    match error.kind:
        case "value" if full and None not in (error.max_abs, error.max_rel, error.tolerance):
            numbers = {"max_abs": error.max_abs, "max_rel": error.max_rel, "tolerance": error.tolerance}
            sentence = say("error_value", **values, **{name: _short(value) for name, value in numbers.items()})
        case "value":
            sentence = say("error_value_short", what=what)
        case "finite":
            sentence = say("error_finite", **values) if full and error.at else say("error_finite_somewhere", what=what)
        case "property":
            sentence = say("error_property_at", **values) if full and error.at else say("error_property", what=what)
        case kind:
            sentence = say(f"error_{kind}", what=what)
    return sentence[:1].upper() + sentence[1:]


def _short(value: float | None) -> str:
    """Two digits, and an exponent without its leading zero: 0.31, 1e-9."""
    return f"{value:.2g}".replace("e-0", "e-").replace("e+0", "e+")


def _what(array: str, say: Texts) -> str:
    """The name of an array of `grader.case` in words: `0.grad.param.weights` is a gradient of a parameter."""
    match = _ARRAY.fullmatch(array)
    if match is None:
        return say("what_other", name=_name(array))
    if match["given"]:
        return say("what_param", name=_name(match["parameter"]))
    if match["kind"] == "out":
        return say("what_out")
    key = "what_grad_param" if match["kind"] == "grad.param" else "what_grad_input"
    return say(key, name=_name(match["name"] or ""))


def _name(text: str) -> str:
    """An array's name for a code span, which a backtick would end."""
    return one_line(text, 80).replace("`", "'")


def _received(report: Report, say: Texts) -> Iterator[str]:
    yield f"## {say('received')}"
    if not report.submission.files:
        yield say("received_nothing", source=markdown(report.submission.source))
        return
    yield "\n".join(
        f"- {say('received_file', name=markdown(name), sha256=markdown(sha256.removeprefix('sha256:')))}"
        for name, sha256 in report.submission.files.items()
    )
