"""What a student is told of the exercises and the quiz: which field is wrong and a hint, never what is right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.exercises import exercises, quiz
from grader.report.gradebook import number
from grader.report.page import Block, Heading, Items, Line, Results, Row, Text, Tone, line, plain
from grader.report.voice import Detail, Voice, is_exercise
from grader.verdict import CheckReport, FieldReport, Filled, ProblemReport, Report, StatementReport, Verdict

_UNREAD = frozenset({Verdict.ERROR, Verdict.SKIPPED})
_TONES = {Verdict.PASSED: Tone.GOOD, Verdict.FAILED: Tone.BAD}


def is_exercises_only(report: Report) -> bool:
    """Whether a run has looked at the exercises and at nothing else."""
    checks = [check for problem in report.problems for check in problem.checks]
    code = [check for check in checks if not is_exercise(check)]
    return len(code) < len(checks) and all(check.verdict is Verdict.PENDING for check in code)


def exercises_part(report: Report, voice: Voice) -> Iterator[Block]:
    """The exercises and the quiz; nothing where a run has left them out."""
    for problem in report.problems:
        if any(map(is_exercise, problem.checks)):
            yield from _exercises(problem, voice)
    if report.quiz:
        yield from _quiz(report.quiz, voice)


def _exercises(problem: ProblemReport, voice: Voice) -> Iterator[Block]:
    title, has_points = voice.problem_title(problem), problem.max_score > 0
    if has_points:
        top, bar = number(problem.max_score), (problem.score, problem.pending, problem.max_score)
        yield Heading(2, voice.line("problem", title=title, score=number(problem.score), max_score=top), bar)
    else:
        right = sum(check.verdict is Verdict.PASSED for check in problem.checks)
        yield Heading(2, voice.line("exercises_right", title=title, right=right, total=len(problem.checks)))
    reasons = {check.message for check in problem.checks if check.verdict in _UNREAD and check.message}
    if reasons:  # no form, or one that cannot be read: the same for all
        yield from (Text(voice.line("in_words", text=voice.told(reason))) for reason in sorted(reasons))
        return
    head = (voice.say("column_exercise"), voice.say("column_result"), voice.say("column_points"))
    yield Results(head, tuple(_row(check, voice) for check in problem.checks))
    failed = [check for check in problem.checks if check.verdict is Verdict.FAILED]
    if failed and voice.style.detail is not Detail.SCORE:
        yield Items(tuple(_found(check, voice) for check in failed))
    texts = (str(exercise.number) for exercise in exercises().values() if not exercise.fields)
    yield Text(voice.line("exercises_texts", numbers=voice.say("numbers_between").join(texts)))


def _row(check: CheckReport, voice: Voice) -> Row:
    result = voice.say("unwritten" if check.unwritten else f"exercise_{check.verdict.value}")
    earned, available = number(check.points.earned), number(check.points.available)
    points = f"{earned} / {available}" if check.points.available else voice.say("points_pending")
    return Row(voice.title(check), False, _TONES.get(check.verdict, Tone.QUIET), result, points)  # none is hidden


def _found(check: CheckReport, voice: Voice) -> Line:
    """The fields that are not right, and the hint."""
    exercise = exercises()[check.id]
    wrong = [_field(check, field, voice) for field in check.fields if field.filled is not Filled.RIGHT]
    told = voice.line("exercise_fields", title=voice.title(check))
    for place, field in enumerate(wrong):
        told += (*(plain(voice.say("exercise_between")) if place else ()), *field)
    hint = line(exercise.hint.of(voice.style.language)) if exercise.hint else ()
    return told + voice.line("exercise_hint", hint=hint, section=exercise.section)


def _field(check: CheckReport, field: FieldReport, voice: Voice) -> Line:
    kind = exercises()[check.id].fields[field.name]
    words = voice.say(f"kind_{kind.value}")
    return voice.line(f"field_{field.filled.value}", name=field.name, given=field.given, kind=words)


def _quiz(statements: Sequence[StatementReport], voice: Voice) -> Iterator[Block]:
    """How many statements were judged rightly, and of each that was answered the reason."""
    answered = [found for found in statements if found.right is not None]
    right = sum(found.right is True for found in answered)
    yield Heading(2, voice.line("quiz_right", right=right, total=len(statements)))
    if answered and voice.style.detail is not Detail.SCORE:
        yield Items(tuple(_judged(found, voice) for found in answered))
    if len(answered) < len(statements):
        yield Text(voice.line("quiz_open", number=len(statements) - len(answered)))


def _judged(found: StatementReport, voice: Voice) -> Line:
    asked, language = quiz()[found.id], voice.style.language
    judged = voice.line(f"quiz_{str(asked.truth).lower()}_{'right' if found.right else 'wrong'}")
    reason = line(asked.reason.of(language)) if voice.full else ()
    return (
        line(asked.statement.of(language))
        + judged
        + reason
        + voice.line("quiz_place", section=asked.section, lab=asked.lab)
    )
