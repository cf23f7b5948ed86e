"""Points are exact, rounded half-even to a hundredth, and nothing unknown earns any."""

from fractions import Fraction

import pytest

from grader import score
from grader.rubric import load
from grader.verdict import Outcome, Verdict

PASSED = Outcome(verdict=Verdict.PASSED, share=Fraction(1))


def test_full_marks_are_the_sum_and_pending_is_kept_apart():
    outcomes = {line.id: Outcome(verdict=Verdict.PENDING) if line.pending else PASSED for line in load().checks}
    assert score.total(score.problems(load(), outcomes)) == (92.0, 8.0)


def test_a_check_without_an_outcome_earns_nothing():
    assert score.total(score.problems(load(), {})) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("share", "earned"),
    [(Fraction(1, 3), 1.67), (Fraction(1, 1000), 0.0), (Fraction(3, 1000), 0.02), (Fraction(1), 5.0)],
)  # 5/1000 and 15/1000 lie half way: to the even hundredth
def test_points_are_rounded_half_even(share, earned, make_rubric):
    outcome = {"a": Outcome(verdict=Verdict.PASSED, share=share)}
    (problem,) = score.problems(make_rubric("{id: a, points: 5, visibility: public}"), outcome)
    assert problem.checks[0].points.earned == earned


def test_what_is_carried_forward_counts_and_is_shown_apart(make_rubric):
    outcome = {"a": Outcome(verdict=Verdict.FAILED, share=Fraction(0), carried=Fraction(1))}
    (problem,) = score.problems(make_rubric("{id: a, points: 5, visibility: public}"), outcome)
    assert (problem.score, problem.checks[0].points.earned, problem.checks[0].points.carried_forward) == (5.0, 0.0, 5.0)


def test_five_checks_that_share_two_points_sum_to_two(make_rubric):
    lines = [f"{{id: c{i}, points: 0.4, visibility: public}}" for i in range(5)]
    reports = score.problems(
        make_rubric(*lines, "{id: rest, points: 3, visibility: public}"), {f"c{i}": PASSED for i in range(5)}
    )
    assert score.total(reports)[0] == 2.0
