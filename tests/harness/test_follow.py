"""A mistake costs once, and only where another check has charged it."""

from fractions import Fraction

import pytest

from grader.follow import carried_forward
from grader.misconceptions import find
from grader.rebind import Unnamed
from grader.verdict import Outcome, Verdict

FAILED, PASSED = Outcome(verdict=Verdict.FAILED), Outcome(verdict=Verdict.PASSED, share=Fraction(1))
NO_SCALE, UNBIASED = find("mha.no_scale"), find("layernorm.unbiased")  # cost p3.mha.scale, p2.layernorm.forward


def carried(outcomes, causes):
    return {check for check, outcome in carried_forward(outcomes, causes).items() if outcome.carried}


def test_what_fails_only_through_a_mistake_that_is_charged_is_carried():
    outcomes = {"p3.mha.heads": FAILED, "p3.mha.scale": FAILED, "p3.layer": FAILED}
    causes = dict.fromkeys(outcomes, (NO_SCALE,))
    assert carried(outcomes, causes) == {"p3.mha.heads", "p3.layer"}


def test_the_report_names_what_was_charged_and_where():
    outcomes = {"p3.mha.scale": FAILED, "p3.layer": FAILED}
    message = carried_forward(outcomes, dict.fromkeys(outcomes, (NO_SCALE,)))["p3.layer"].message
    assert "mha.no_scale (p3.mha.scale)" in message


def test_nothing_is_carried_while_the_mistake_is_charged_nowhere():
    outcomes = {"p3.mha.scale": PASSED, "p3.layer": FAILED}
    assert carried(outcomes, {"p3.layer": (NO_SCALE,)}) == set()
    assert carried({"p3.layer": FAILED}, {"p3.layer": (NO_SCALE,)}) == set()


def test_with_two_mistakes_both_must_be_charged():
    outcomes = {"p2.layernorm.forward": FAILED, "p3.mha.scale": PASSED, "p3.layer": FAILED}
    causes = {"p2.layernorm.forward": (UNBIASED,), "p3.layer": (UNBIASED, NO_SCALE)}
    assert carried(outcomes, causes) == set()
    assert carried({**outcomes, "p3.mha.scale": FAILED}, {**causes, "p3.mha.scale": (NO_SCALE,)}) == {"p3.layer"}


def test_a_check_that_fails_for_no_known_reason_pays_and_what_stands_on_it_is_carried():
    outcomes = {"p3.ffn": FAILED, "p3.layer": FAILED}
    assert carried(outcomes, {"p3.layer": (Unnamed("feed_forward", "p3.ffn"),)}) == {"p3.layer"}


@pytest.mark.parametrize("verdict", [Verdict.SKIPPED, Verdict.PENDING, Verdict.TIMEOUT])
def test_what_was_never_judged_wrong_has_not_been_charged(verdict):
    outcomes = {"p3.mha.scale": Outcome(verdict=verdict), "p3.layer": FAILED}
    assert carried(outcomes, {"p3.layer": (NO_SCALE,)}) == set()


def test_a_mistake_that_was_blamed_on_a_check_that_failed_by_another_is_not_paid():
    outcomes = {"p1.loss.value": FAILED, "p1.loss.stable": FAILED}
    mean, sign = find("loss.mean"), find("loss.sign")
    assert carried(outcomes, {"p1.loss.value": (mean,), "p1.loss.stable": (sign,)}) == set()
    assert carried(outcomes, {"p1.loss.value": (mean,), "p1.loss.stable": (mean,)}) == {"p1.loss.stable"}
