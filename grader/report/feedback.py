"""`feedback.md` and `feedback.html`: what the student may see. Of a hidden check no array, number or text is in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.intake.tree import archive_suffix, source_cap
from grader.messages.phrases import checks_in
from grader.report.exercises import exercises_part, is_exercises_only
from grader.report.finding import finding
from grader.report.gradebook import number
from grader.report.homes import Homes, homes
from grader.report.page import Block, Code, Heading, Items, Line, Page, Results, Row, Text, Tone, plain
from grader.report.page_html import as_html
from grader.report.page_markdown import as_markdown
from grader.report.summary import is_blank
from grader.report.voice import Detail, Style, Voice, is_carried, is_exercise, is_explained, is_hidden
from grader.verdict import CheckReport, ProblemReport, Report, Status, Verdict

__all__ = ["Detail", "Style", "feedback", "feedback_html", "page"]

ORDINARY = re.compile(r"[\w .,+()\[\]'/-]+")
"""Names of files that mean nothing in Markdown, HTML or a terminal."""
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
    problem = voice.told(report.message) if report.message else voice.say("no_problem_given")
    yield Text(voice.line("ungradable", problem=problem), lead=True)
    yield Text(voice.line("ungradable_next"))
    yield from _received(report, voice)


def _graded(report: Report, voice: Voice) -> Iterator[Block]:
    if is_exercises_only(report):
        yield Heading(1, voice.line("title", id=report.submission.id))
        yield Text(voice.line("exercises_only"))
        yield from exercises_part(report, voice)
        yield from _noted(report, voice)
        yield from _received(report, voice)
        return
    yield from _score(report, voice)
    if is_blank(report):
        yield Text(voice.line("blank"))
        yield Text(voice.line("start"))
        yield Code(FIRST_TESTS)
        yield Text(voice.line("start_next"))
        yield from exercises_part(report, voice)
        yield from _received(report, voice)
        return
    checks = [check for problem in report.problems for check in problem.checks]
    known = homes(checks, voice)
    yield from _next_step(checks, voice, known)
    if any(map(is_hidden, checks)):
        yield Text(voice.line("hidden_note"))
    for problem in report.problems:
        if not any(map(is_exercise, problem.checks)):
            yield from _problem(problem, voice, known)
    yield from exercises_part(report, voice)
    yield from _noted(report, voice)
    yield from _received(report, voice)


def _noted(report: Report, voice: Voice) -> Iterator[Block]:
    checks = (check for problem in report.problems for check in problem.checks if not is_hidden(check))
    remarks = [*report.remarks, *(remark for check in checks for remark in check.remarks)]
    if remarks:
        yield Heading(2, voice.line("remarks"))
        yield Items(tuple(plain(voice.told(remark)) for remark in dict.fromkeys(remarks)))


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
        yield from _pending([check for problem in report.problems for check in problem.checks], voice)


def _pending(checks: list[CheckReport], voice: Voice) -> Iterator[Block]:
    """Why points could not be assessed, the most points first."""
    points: dict[str, float] = {}
    for check in checks:
        if check.verdict is Verdict.PENDING and check.message:
            points[check.message] = points.get(check.message, 0.0) + check.points.available
    reasons = sorted(points, key=lambda reason: -points[reason])
    if reasons:
        lines = (voice.line("pending_reason", points=number(points[r]), reason=voice.told(r)) for r in reasons)
        yield Items(tuple(lines))


def _next_step(checks: list[CheckReport], voice: Voice, known: Homes) -> Iterator[Block]:
    """The first thing to repair; the checks stand in the order in which they build on each other."""
    code = (check for check in checks if not is_exercise(check))
    todo = next((check for check in code if is_explained(check) or check.unwritten), None)
    if todo is not None:
        place = known.explained_at(todo) or todo.id
        has_finding = is_explained(todo) and voice.style.detail is not Detail.SCORE
        yield Text(voice.line("next_step", title=known.titles[place]), anchor=place if has_finding else "")
    elif all(check.verdict is Verdict.PENDING for check in checks):
        yield Text(voice.line("nothing_assessed"))
    elif all(check.verdict in {Verdict.PASSED, Verdict.PENDING} for check in checks):
        yield Text(voice.line("all_passed"))


def _problem(problem: ProblemReport, voice: Voice, known: Homes) -> Iterator[Block]:
    title, score, top = voice.problem_title(problem), number(problem.score), number(problem.max_score)
    bar = (problem.score, problem.pending, problem.max_score)
    yield Heading(2, voice.line("problem", title=title, score=score, max_score=top), bar)
    told = voice.style.detail is not Detail.SCORE
    yield _results(problem, voice, known if told else None)
    yield from _skipped(problem, voice, known)
    yield from _carried(problem, voice, known)
    if told:
        explained = (check for check in problem.checks if is_explained(check) and not known.is_repeated(check))
        yield from (finding(check, voice, known) for check in explained)


def _skipped(problem: ProblemReport, voice: Voice, known: Homes) -> Iterator[Block]:
    """What keeps checks from being tried: those that they build on, unless these were not tried either."""
    skipped = {check.id: check.message for check in problem.checks if check.verdict is Verdict.SKIPPED}
    if not skipped:
        return
    needed = dict.fromkeys(check for message in skipped.values() for check in checks_in(message))
    roots = [known.titles[check] for check in needed if check in known.titles.keys() - skipped.keys()]
    titles = voice.say("between").join(roots)
    yield Text(voice.line("explain_skipped_for", titles=titles) if titles else voice.line("explain_skipped"))


def _carried(problem: ProblemReport, voice: Voice, known: Homes) -> Iterator[Block]:
    """What keeps its points although something else is wrong, together where it is the same thing."""
    between = voice.say("between")
    groups: dict[tuple[str, str], list[CheckReport]] = {}
    for check in filter(is_carried, problem.checks):
        payers = between.join(known.titles.get(payer, payer) for payer in check.carried_from)
        ladders = [voice.ladder(name) for name in check.diagnosis.names] if check.diagnosis and voice.full else []
        names = between.join(ladder.name for ladder in ladders if ladder)
        groups.setdefault((names, payers), []).append(check)
    carried = [check for checks in groups.values() for check in checks]
    points, top = number(sum(map(_earned, carried))), number(sum(check.points.available for check in carried))
    if len(groups) == 1:  # the table shows which
        ((names, payers),) = groups
        values = {"names": names} if names else {}
        key = "carried_named" if names else "carried"
        yield Text(voice.line(key, points=points, available=top, payers=payers, **values))
    elif groups:
        yield Text(voice.line("carried_several", points=points, available=top))
        yield Items(tuple(_carried_item(*key, checks, voice) for key, checks in groups.items()))


def _carried_item(names: str, payers: str, checks: list[CheckReport], voice: Voice) -> Line:
    titles = voice.say("titles_between").join(map(voice.title, checks))
    if names:
        return voice.line("carried_item_named", names=names, titles=titles)
    return voice.line("carried_item", payers=payers, titles=titles)


def _earned(check: CheckReport) -> float:
    return check.points.earned + check.points.carried_forward


def _results(problem: ProblemReport, voice: Voice, known: Homes | None) -> Results:
    head = (voice.say("column_check"), voice.say("column_result"), voice.say("column_points"))
    return Results(head, tuple(_row(check, voice, known) for check in problem.checks))


def _row(check: CheckReport, voice: Voice, known: Homes | None) -> Row:
    """A line of the table; where findings follow (`known`), it leads to the one that explains it."""
    anchor = check.id if known and is_explained(check) else ""
    if is_carried(check):
        tone, key = Tone.CARRIED, "verdict_carried"
    elif check.unwritten:
        tone, key = Tone.QUIET, "unwritten"
    elif anchor and known and known.is_repeated(check):
        tone, key, anchor = Tone.BAD, "verdict_again", known.explained_at(check)
    else:
        tone, key = _TONES.get(check.verdict, Tone.BAD), f"verdict_{check.verdict.value}"
    earned = voice.say("points_pending") if check.verdict is Verdict.PENDING else number(_earned(check))
    points = f"{earned} / {number(check.points.available)}"
    return Row(voice.title(check), is_hidden(check), tone, voice.say(key), points, anchor)


def _received(report: Report, voice: Voice) -> Iterator[Block]:
    yield Heading(2, voice.line("received"))
    received = report.submission
    files = dict(received.files)
    if archive_suffix(received.source) or source_cap(received.source) is not None:  # what came as one file
        files = {_ordinary(received.source): received.sha256} | files
    found = tuple(_file(name, sha256, voice) for name, sha256 in files.items())
    yield Items(found or (voice.line("received_source", name=_ordinary(received.source)),))


def _ordinary(source: str) -> str:
    """The name that a student gave to a file; of one that could be more than a name, its ending."""
    return source if ORDINARY.fullmatch(source) else f"\u2026{archive_suffix(source)}"


def _file(name: str, sha256: str, voice: Voice) -> Line:
    return voice.line("received_file", name=name, sha256=sha256.removeprefix("sha256:"))
