"""The rule of dropout: right factors hold it, each kind of wrong ones breaks it under its name."""

import numpy as np
import pytest

from grader.case import Answer, Call, CallOutcome, Case, Input, Mode, Status
from grader.checks.dropout import dropped

P = 0.5
X = np.random.default_rng(0).standard_normal((100, 200)) + 3.0
COTANGENT = np.random.default_rng(1).standard_normal((100, 200))
KEEP = np.random.default_rng(2).random((100, 200)) > P


def judged(factors, gradient_factors=None):
    call = Call({"x": Input(X)}, Mode.TRAIN, cotangent=COTANGENT)
    case = Case("modules_basic.Dropout", (call,), {"p_dropout": P}, None, 0)
    gradient = COTANGENT * (factors if gradient_factors is None else gradient_factors)
    answer = Answer(Status.OK, (CallOutcome(Status.OK),), {"0.out": X * factors, "0.grad.x": gradient})
    return dropped(0, "x", P)(case, answer)


def test_a_mask_drawn_entry_by_entry_holds():
    assert judged(KEEP * 2.0) is None


@pytest.mark.parametrize(
    ("factors", "name"),
    [(KEEP * 1.0, "dropout.not_rescaled"), (KEEP * 0.5, "dropout.scaled_by_keep"), (KEEP * 3.0, "")],
)
def test_another_factor_breaks_it_and_the_known_ones_have_names(factors, name):
    assert judged(factors).misconception == name


@pytest.mark.parametrize("axis", [0, 1])
def test_whole_rows_or_columns_that_are_dropped_together_break_it(axis):
    one = np.take(KEEP, [0], axis=1 - axis) * 2.0  # one entry a row, or one a column
    broken = judged(np.broadcast_to(one, X.shape))
    assert "together" in broken.text or "share" in broken.text


def test_rows_of_the_right_share_that_are_dropped_together_break_it():
    rows = (np.arange(100) % 2 * 2.0)[:, None]
    assert "along axis" in judged(np.broadcast_to(rows, X.shape)).text


def test_a_gradient_past_the_mask_breaks_it():
    assert judged(KEEP * 2.0, np.ones_like(X)).misconception == "dropout.other_gradient"
