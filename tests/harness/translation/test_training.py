"""A submission trains in bounded requests; wherever it is stopped, it goes on, and ends as if it had not been."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest
from harness.translation.toy import course_on

from grader.errors import InfrastructureError
from grader.fingerprint import ROOT
from grader.preflight import REFERENCE, submission_of
from grader.recipe import Line
from grader.student import Student
from grader.translation import BLEU, RUN, checkpoint, training
from grader.verdict import Verdict

EASY = Line(0, 1)
"""On the toy text every model that learns anything earns all points."""


@pytest.fixture
def stopped_after(monkeypatch) -> Callable[[int], list[int]]:
    """Has the machine fail at a submission's n-th request, once; returns what was asked, by its number of calls."""

    def stop(number: int) -> list[int]:
        asked: list[int] = []
        real = Student.run

        def run(self, cases, limits):
            asked.append(len(cases[0].calls))
            if len(asked) == number:
                raise InfrastructureError("the machine stumbled")
            return real(self, cases, limits)

        monkeypatch.setattr(Student, "run", run)
        return asked

    return stop


@pytest.fixture
def clock(monkeypatch) -> Callable[[int], None]:
    """Lets the time limit be met before a training's n-th request."""

    def late(number: int) -> None:
        ticks = iter([0.0] * (number + 1))  # the first one sets the deadline
        monkeypatch.setattr(training, "time", SimpleNamespace(monotonic=lambda: next(ticks, 1e9)))

    return late


def outcome(trainee):
    return {check: trainee.judged(check) for check in (RUN, BLEU)}


@pytest.fixture(scope="module")
def whole(toy, bench, tmp_path_factory):
    """What the reference's run comes to that nothing stops, and its checkpoint."""
    folder = tmp_path_factory.mktemp("whole")
    reference = submission_of(ROOT / "solution", REFERENCE)
    with bench.sandbox.open({**bench.stubs, **reference.files}) as session:
        found = outcome(course_on(toy, bench, lambda _: folder).train(reference, Student(session)))
    return found, (folder / checkpoint.FILE).read_bytes()


def test_the_reference_learns_writes_and_earns_its_points(make_course, graded, solution_with, tmp_path):
    found = graded(solution_with(), make_course(scale=EASY))
    assert [found[check].verdict for check in (RUN, BLEU)] == [Verdict.PASSED, Verdict.PASSED]
    assert [found[check].points.earned for check in (RUN, BLEU)] == [2, 6]
    said = " | ".join([*found[RUN].remarks, *found[BLEU].remarks])
    for words in ("300 pairs of small-language", "vocabulary=420", "95% interval", "tok:13a", "on unescaped text"):
        assert words in said
    kept = sorted(path.name for path in (tmp_path / "staff" / "s").iterdir())
    assert kept == ["checkpoint.npz", "curve.png", "translations.jsonl"]


def test_without_a_text_the_long_checks_are_pending_as_before(graded, solution_with):
    found = graded(solution_with(), None)
    assert {found[check].verdict for check in (RUN, BLEU)} == {Verdict.PENDING}
    assert found[BLEU].message == "needs the IWSLT data and time to train"


def test_a_stub_that_the_model_needs_is_not_trained(make_course, graded, solution_with):
    stub = ("translation.py", "    # BEGIN SOLUTION: Problem 4: loss_fn\n", "    raise NotImplementedError\n")
    found = graded(solution_with(stub), make_course())
    assert [found[check].verdict for check in (RUN, BLEU)] == [Verdict.SKIPPED, Verdict.SKIPPED]


@pytest.mark.parametrize("number", [1, 4, 6, 9])  # before any checkpoint; at a validation; in an epoch; at the end
def test_a_run_that_was_stopped_goes_on_and_ends_as_if_it_had_not_been(
    number, whole, make_course, trainee, solution_with, stopped_after, tmp_path
):
    asked = stopped_after(number)
    with pytest.raises(InfrastructureError, match="stumbled"):
        trainee(solution_with(), make_course()).judged(RUN)
    stumbled = len(asked)
    again = trainee(solution_with(), make_course(resume=True))
    assert (outcome(again), (tmp_path / "staff" / "s" / checkpoint.FILE).read_bytes()) == whole
    assert len(asked) - stumbled == 9 - (number - 1)  # nothing was done twice


def test_another_attempt_of_the_same_run_goes_on_and_a_new_run_begins_anew(
    make_course, trainee, solution_with, stopped_after
):
    asked, course = stopped_after(4), make_course()
    with pytest.raises(InfrastructureError):
        trainee(solution_with(), course).judged(RUN)
    trainee(solution_with(), course).judged(RUN)
    assert len(asked) == 4 + 6
    trainee(solution_with(), make_course()).judged(RUN)
    assert len(asked) == 4 + 6 + 9


def test_a_checkpoint_of_another_submission_or_a_damaged_one_is_not_gone_on_with(
    make_course, trainee, solution_with, stopped_after, tmp_path
):
    asked = stopped_after(0)
    trainee(solution_with(), make_course()).judged(RUN)
    trainee(solution_with(("nn.py", "from __future__", "# another\nfrom __future__")), make_course(resume=True)).judged(
        RUN
    )
    assert len(asked) == 9 + 9
    (tmp_path / "staff" / "s" / checkpoint.FILE).write_bytes(b"PK\x03\x04 no archive")
    trainee(solution_with(), make_course(resume=True)).judged(RUN)
    assert len(asked) == 3 * 9


def test_a_run_whose_time_is_up_is_pending_with_its_score_so_far_and_goes_on(
    whole, make_course, trainee, solution_with, clock, monkeypatch
):
    clock(5)  # an epoch of three requests and its validation, and one request of the next epoch
    late = trainee(solution_with(), make_course())
    found = outcome(late)
    assert {judged.finding.verdict for judged in found.values()} == {Verdict.PENDING}
    assert "in epoch 2 of 2 (BLEU so far: " in found[BLEU].finding.message
    assert late.is_unfinished
    monkeypatch.undo()
    again = trainee(solution_with(), make_course(resume=True))
    assert outcome(again) == whole[0]
    assert not again.is_unfinished


def test_a_run_without_any_time_has_no_score_yet(make_course, trainee, solution_with):
    found = trainee(solution_with(), make_course(minutes=1e-12)).judged(BLEU)
    assert "in epoch 1 of 2 (BLEU so far: ?)" in found.finding.message


def test_unfinished_checks_are_pending_in_the_report_and_lose_nothing(make_course, graded, solution_with):
    found = graded(solution_with(), make_course(minutes=1e-12))
    assert {found[check].verdict for check in (RUN, BLEU)} == {Verdict.PENDING}


def test_the_worker_gets_no_reference_and_no_text(make_course, trainee, solution_with, monkeypatch):
    seen = []
    real = Student.run

    def run(self, cases, limits):
        seen.extend(cases)
        return real(self, cases, limits)

    monkeypatch.setattr(Student, "run", run)
    course = make_course()
    trainee(solution_with(), course).judged(RUN)
    lesson = course.lesson
    texts = [
        pair[language].split()
        for case in seen
        for call in case.calls
        for pair in (call.inputs["examples"].value if "examples" in call.inputs else ())
        for language in ("de", "en")
    ]
    assert texts
    assert {word.rstrip("0123456789") for text in texts for word in text} == {"w", "<eos_en>"}
    pieces = lesson.material.pieces
    targets = {lesson.named([pieces(text)["input_ids"]])[0] for text in lesson.material.references}
    assert targets.isdisjoint(" ".join(text).removesuffix(" <eos_en>") for text in texts)
