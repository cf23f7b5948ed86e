"""`feedback.md` and `feedback.html`: what the student may see. Of a hidden check no array, number or text is in it."""

from __future__ import annotations

from collections.abc import Iterator

from grader.report.finding import Homes, finding, homes
from grader.report.gradebook import number
from grader.report.page import Block, Code, Heading, Items, Page, Results, Row, Text, Tone, plain
from grader.report.page_html import as_html
from grader.report.page_markdown import as_markdown
from grader.report.summary import is_blank
from grader.report.voice import Detail, Style, Voice, is_carried, is_explained, is_hidden
from grader.verdict import CheckReport, ProblemReport, Report, Status, Verdict

__all__ = ["Detail", "Style", "feedback", "feedback_html", "page"]

FIRST_TESTS = "pytest tests/test_nn.py -k logsumexp"
_TONES = {Verdict.PASSED: Tone.GOOD, Verdict.SKIPPED: Tone.QUIET, Verdict.PENDING: Tone.QUIET}


def feedback(report: Report, style: Style) -> bytes:
    """`feedback.md`, UTF-8."""
    return as_markdown(page(report, style)).encode()


def feedback_html(report: Report, style: Style) -> bytes:
    """`feedback.html`, UTF-8: one file that needs no other."""
    return as_html(page(report, style)).encode()


def page(report: Report, style: Style) -> Page:
    """The feedback on one submission, not yet in either form."""
    voice = Voice(style)
    blocks = _ungradable(report, voice) if report.status is Status.UNGRADABLE else _graded(report, voice)
    return Page(style.language, voice.say("title", id=report.submission.id), tuple(blocks))


def _ungradable(report: Report, voice: Voice) -> Iterator[Block]:
    yield Heading(1, voice.line("title", id=report.submission.id))
    yield Text(voice.line("ungradable", problem=report.message or voice.say("no_problem_given")), lead=True)
    yield Text(voice.line("ungradable_next"))
    yield from _received(report, voice)


def _graded(report: Report, voice: Voice) -> Iterator[Block]:
    yield from _score(report, voice)
    if is_blank(report):
        yield Text(voice.line("blank"))
        yield Text(voice.line("start"))
        yield Code(FIRST_TESTS)
        yield Text(voice.line("start_next"))
        yield from _received(report, voice)
        return
    checks = [check for problem in report.problems for check in problem.checks]
    known = homes(checks, voice)
    yield from _next_step(checks, voice)
    for problem in report.problems:
        yield from _problem(problem, voice, known)
    if any(map(is_hidden, checks)):
        yield Text(voice.line("hidden_note"))
    remarks = [*report.remarks, *(remark for check in checks if not is_hidden(check) for remark in check.remarks)]
    if remarks:
        yield Heading(2, voice.line("remarks"))
        yield Items(tuple(map(plain, dict.fromkeys(remarks))))
    yield from _received(report, voice)


def _score(report: Report, voice: Voice) -> Iterator[Block]:
    known = report.score is not None and not report.needs_review
    bar = (report.score or 0.0, report.pending, report.max_score) if known else None
    yield Heading(1, voice.line("title", id=report.submission.id), bar)
    if known:
        score, top = number(report.score or 0.0), number(report.max_score)
        yield Text(voice.line("score", score=score, max_score=top), lead=True)
    else:
        yield Text(voice.line("score_review"), lead=True)
    if report.pending:
        yield Text(voice.line("score_pending", pending=number(report.pending)))


def _next_step(checks: list[CheckReport], voice: Voice) -> Iterator[Block]:
    """The first thing to repair; the checks stand in the order in which they build on each other."""
    todo = next((check for check in checks if is_explained(check) or check.unwritten), None)
    if todo is not None:
        yield Text(voice.line("next_step", title=voice.title(todo)))
    elif all(check.verdict in {Verdict.PASSED, Verdict.PENDING} for check in checks):
        yield Text(voice.line("all_passed"))


def _problem(problem: ProblemReport, voice: Voice, known: Homes) -> Iterator[Block]:
    title, score, top = voice.problem_title(problem), number(problem.score), number(problem.max_score)
    bar = (problem.score, problem.pending, problem.max_score)
    yield Heading(2, voice.line("problem", title=title, score=score, max_score=top), bar)
    told = voice.style.detail is not Detail.SCORE
    yield _results(problem, voice, told)
    if any(check.verdict is Verdict.SKIPPED for check in problem.checks):
        yield Text(voice.line("explain_skipped"))
    yield from _carried(problem, voice, known)
    if told:
        yield from (finding(check, voice, known) for check in problem.checks if is_explained(check))


def _carried(problem: ProblemReport, voice: Voice, known: Homes) -> Iterator[Block]:
    """What keeps its points although something else is wrong, together where it is the same thing."""
    between = voice.say("between")
    groups: dict[tuple[str, str], list[CheckReport]] = {}
    for check in filter(is_carried, problem.checks):
        payers = between.join(known.titles.get(payer, payer) for payer in check.carried_from)
        ladders = [voice.ladder(name) for name in check.diagnosis.names] if check.diagnosis and voice.full else []
        names = between.join(ladder.name for ladder in ladders if ladder)
        groups.setdefault((names, payers), []).append(check)
    for (names, payers), checks in groups.items():
        points, top = number(sum(map(_earned, checks))), number(sum(check.points.available for check in checks))
        key = "carried_named" if names else "carried"
        values = {"names": names} if names else {}
        yield Text(voice.line(key, points=points, available=top, payers=payers, **values))
        if len(groups) > 1:  # else the table shows which
            yield Items(tuple(plain(voice.title(check)) for check in checks))


def _earned(check: CheckReport) -> float:
    return check.points.earned + check.points.carried_forward


def _results(problem: ProblemReport, voice: Voice, told: bool) -> Results:
    head = (voice.say("column_check"), voice.say("column_result"), voice.say("column_points"))
    return Results(head, tuple(_row(check, voice, told) for check in problem.checks))


def _row(check: CheckReport, voice: Voice, told: bool) -> Row:
    if is_carried(check):
        tone, key = Tone.CARRIED, "verdict_carried"
    elif check.unwritten:
        tone, key = Tone.QUIET, "unwritten"
    else:
        tone, key = _TONES.get(check.verdict, Tone.BAD), f"verdict_{check.verdict.value}"
    earned = voice.say("points_pending") if check.verdict is Verdict.PENDING else number(_earned(check))
    points = f"{earned} / {number(check.points.available)}"
    anchor = check.id if told and is_explained(check) else ""
    return Row(voice.title(check), is_hidden(check), tone, voice.say(key), points, anchor)


def _received(report: Report, voice: Voice) -> Iterator[Block]:
    yield Heading(2, voice.line("received"))
    whole = {report.submission.source: report.submission.sha256}
    yield Items(
        tuple(
            voice.line("received_file", name=name, sha256=sha256.removeprefix("sha256:"))
            for name, sha256 in (report.submission.files or whole).items()
        )
    )
