"""What a submission can do wrong while it trains, and what it can say of it: all of it is its own failure."""

from fractions import Fraction

import pytest

from grader.case import Fault, FaultKind, Limits
from grader.recipe import Line
from grader.student import Student
from grader.translation import BLEU, RUN
from grader.verdict import Verdict

STALLED = ("translation.py", "return (losses * weights).sum() / weights.sum()", "return losses.sum() * 0 + 1")
SILENT = ("translation.py", "translations.append(tokenizer.decode(ids[prompt_length:]))", 'translations.append("")')
COPYING = ("translation.py", "tokenizer.decode(ids[prompt_length:])", "example[tgt_key]")
TOO_FEW = ("translation.py", "    return translations\n", "    return translations[1:]\n")
RAISING = ("translation.py", "    was_training = model.training\n", "    raise ValueError('no luck')\n")


@pytest.mark.parametrize(
    ("change", "verdict", "says", "excused"),
    [
        (STALLED, Verdict.FAILED, "the loss does not fall", "p4.grammar.exact"),
        (SILENT, Verdict.FAILED, "6 of 6 translations are empty", "p4.generate"),
        (TOO_FEW, Verdict.FAILED, "6 sentences went in, 5 came out", None),
        (RAISING, Verdict.ERROR, "ValueError: no luck (translation.py line", None),
    ],
    ids=["a loss without gradient", "a generate that says nothing", "one too few", "a generate that raises"],
)
def test_a_submission_that_does_not_learn_or_write_fails(
    change, verdict, says, excused, make_course, trainee, solution_with
):
    finding = trainee(solution_with(change), make_course(recipe={"epochs": 1})).judged(RUN).finding
    assert finding.verdict is verdict
    assert says in finding.message
    assert (excused is None) == (not finding.excused)
    assert excused is None or excused in finding.excused


def test_a_wrong_generate_costs_once_where_the_model_itself_translates(make_course, graded, solution_with):
    found = graded(solution_with(SILENT), make_course(scale=Line(0, 1)))
    assert [found[check].verdict for check in ("p4.generate", RUN, BLEU)] == [Verdict.FAILED] * 3
    assert [found[check].points.earned for check in ("p4.generate", RUN, BLEU)] == [0, 0, 0]
    assert [found[check].points.carried_forward for check in ("p4.generate", RUN, BLEU)] == [0, 2, 6]
    assert found[BLEU].carried_from == ["p4.generate"]


def test_a_generate_that_reads_the_translation_finds_a_wrong_one(make_course, trainee, solution_with):
    copied = trainee(solution_with(COPYING), make_course(scale=Line(0, 60))).judged(BLEU)
    assert copied.finding.share < Fraction(1, 2)


TAMPER = """
    return translations
    # END SOLUTION


from assignment.training import moments
import numpy
real = moments.state_of


def tampered(model, optimizer):
    state = real(model, optimizer)
    {change}
    return state


moments.state_of = tampered


def _unused():
"""


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("state['parameter.model.ln.bias'] = numpy.zeros(3)", "other parameters than the model had before"),
        ("state['mean.model.ln.bias'] = numpy.zeros(3)", "moments of other shapes"),
        ("state['square.model.ln.bias'] *= numpy.nan", "holds a NaN"),
        ("state['counts'] += 10 ** 9", "does not count the steps"),
        ("state['more.model'] = numpy.zeros(3)", "arrays that are no part of one"),
        ("state['a b'] = numpy.zeros(3)", "what came back is no answer: an array named 'state.a b'"),
        ("state['parameter.model.ln.bias'] = numpy.array([object()])", "an array of object"),
        ("state = [state]", "returned list; expected arrays by name"),
        ("state['big'] = numpy.zeros(2**21)", "returned more than 2 MiB of numbers"),
        ("while True: pass", "time limit 2 s (30 s on the clock)"),
    ],
)
def test_a_hostile_state_ends_the_run_as_the_submissions_failure(change, says, make_course, trainee, solution_with):
    hostile = solution_with(
        ("translation.py", "    return translations\n    # END SOLUTION\n", TAMPER.format(change=change) + "    pass\n")
    )
    limits = Limits(wall_s=30.0, cpu_s=2, memory_mib=1024, reply_mib=2)
    judged = trainee(hostile, make_course(limits=limits))
    for check in (RUN, BLEU):
        finding = judged.judged(check).finding
        assert finding.verdict in {Verdict.FAILED, Verdict.ERROR, Verdict.TIMEOUT}
        assert says in finding.message


def test_a_request_that_gets_no_answer_is_called_by_its_limit(make_course, trainee, solution_with, monkeypatch):
    monkeypatch.setattr(Student, "run", lambda *_: Fault(FaultKind.MEMORY, "memory limit 1 GiB"))
    finding = trainee(solution_with(), make_course()).judged(RUN).finding
    assert (finding.verdict, finding.message) == (Verdict.MEMORY, "memory limit 1 GiB")
