"""What of a submission's answer reaches its twin: parameters that it may choose, dropout masks, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from grader.case import Answer, Call, Case, Input, Mode, Status
from grader.errors import IncomparableError, UnmatchedMasksError
from grader.twins import run

D = 2


def array(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def ffn_values(width):
    return {
        "linear_in.weights": array(1, D, width),
        "linear_in.bias": array(2, width),
        "linear_out.weights": array(3, width, D),
        "linear_out.bias": array(4, D),
    }


def own(values):
    return {f"param.{name}": value for name, value in values.items()}


X = array(5, 3, 4, D)
FFN = Case("transformer.FeedForward", (Call({"x": Input(X)}, cotangent=array(6, *X.shape)),), {"n_embd": D})
GIVEN = replace(FFN, parameters=ffn_values(4 * D))
WIDTH_NAMES = ("linear_in.weights", "linear_in.bias", "linear_out.weights")


def ffn(values):
    middle = gelu(X @ values["linear_in.weights"] + values["linear_in.bias"])
    return middle @ values["linear_out.weights"] + values["linear_out.bias"]


def test_the_submissions_own_parameters_are_used_where_the_case_has_none():
    result = run(FFN, Answer(Status.OK, arrays=own(ffn_values(8))))
    assert result["0.out"] == pytest.approx(ffn(ffn_values(8)), rel=1e-13)


def test_another_width_of_a_feed_forward_network_is_taken_with_the_submissions_values():
    wide = ffn_values(16)
    answer = Answer(Status.OK, arrays=own(wide), reshaped=WIDTH_NAMES)
    result = run(GIVEN, answer)
    assert result["0.out"] == pytest.approx(ffn(wide), rel=1e-13)
    assert result["0.grad.param.linear_in.weights"].shape == (D, 16)
    assert run(FFN, Answer(Status.OK, arrays=own(wide)))["0.out"] == pytest.approx(ffn(wide), rel=1e-13)


def test_a_width_that_was_asked_for_cannot_be_chosen():
    asked = replace(GIVEN, arguments={"n_embd": D, "middle_dim": 8})
    answer = Answer(Status.OK, arrays=own(ffn_values(16)), reshaped=WIDTH_NAMES)
    assert run(asked, answer)["0.out"] == pytest.approx(ffn(ffn_values(8)), rel=1e-13)
    with pytest.raises(IncomparableError, match=r"linear_in.weights has shape \(2, 16\); the twin's is \(2, 8\)"):
        run(replace(asked, parameters=None), answer)


def test_a_claim_that_another_parameter_has_another_shape_changes_nothing():
    claimed = {"linear_out.bias": np.zeros(D)}
    answer = Answer(Status.OK, arrays=own(claimed), reshaped=("linear_out.bias",))
    assert run(GIVEN, answer)["0.out"] == pytest.approx(ffn(ffn_values(8)), rel=1e-13)


def test_widths_that_do_not_fit_each_other_are_incomparable():
    values = ffn_values(16) | {"linear_in.bias": array(2, 15)}
    with pytest.raises(IncomparableError, match=r"linear_in.bias has shape \(15,\); the twin's is \(16,\)"):
        run(FFN, Answer(Status.OK, arrays=own(values)))


@pytest.mark.parametrize("case", [FFN, GIVEN])
@pytest.mark.parametrize("width", [8, 16])
def test_an_absent_bias_counts_as_zero_and_has_no_gradient(case, width):
    values = ffn_values(width)
    absent = ("linear_in.bias", "linear_out.bias")
    held = {name: value for name, value in values.items() if name not in absent}
    result = run(case, Answer(Status.OK, arrays=own(held), absent=absent, reshaped=tuple(held)))
    expected = ffn(values | {"linear_in.bias": np.zeros(width), "linear_out.bias": np.zeros(D)})
    if case is GIVEN and width == 8:
        expected = gelu(X @ GIVEN.parameters["linear_in.weights"]) @ GIVEN.parameters["linear_out.weights"]
    assert result["0.out"] == pytest.approx(expected, rel=1e-13)
    assert {name for name in result if ".grad.param." in name} == {f"0.grad.param.{name}" for name in held}


def test_absent_weights_match_nothing():
    held = {name: value for name, value in ffn_values(8).items() if name != "linear_in.weights"}
    assert np.isnan(run(FFN, Answer(Status.OK, arrays=own(held)))["0.out"]).all()


DROPOUT = Case(
    "modules_basic.Dropout",
    (Call({"x": Input(X)}, mode=Mode.TRAIN, cotangent=array(6, *X.shape)), Call({"x": Input(X)})),
    {"p_dropout": 0.5},
    {},
    masks=True,
)
MASK = 2.0 * (array(7, *X.shape) > 0)


def test_the_recorded_mask_is_multiplied_in_training_and_nothing_in_evaluation():
    result = run(DROPOUT, Answer(Status.OK, arrays={"0.mask..0": MASK}))
    assert (result["0.out"] == X * MASK).all()
    assert (result["0.grad.x"] == DROPOUT.calls[0].cotangent * MASK).all()
    assert (result["1.out"] == X).all()


def test_an_unknown_factor_where_the_input_was_zero_does_no_harm():
    x, mask = X.copy(), MASK.copy()
    x[0], mask[0] = 0.0, np.nan
    case = replace(DROPOUT, calls=(Call({"x": Input(x)}, mode=Mode.TRAIN),))
    assert (run(case, Answer(Status.OK, arrays={"0.mask..0": mask}))["0.out"] == x * np.nan_to_num(mask)).all()


def test_without_dropout_no_mask_is_needed_and_a_recorded_one_is_passed_over():
    case = replace(DROPOUT, arguments={"p_dropout": 0.0})
    for arrays in ({}, {"0.mask..0": np.ones_like(X)}):
        assert (run(case, Answer(Status.OK, arrays=arrays))["0.out"] == X).all()


@pytest.mark.parametrize(
    ("arrays", "what"),
    [
        ({}, r"no dropout mask '\.0'"),
        ({"0.mask..0": MASK[0]}, "has shape"),
        ({"0.mask..0": MASK, "0.mask..1": MASK}, r"no dropout for the masks \['\.1'\]"),
        ({"0.mask..0": MASK, "0.mask.inner.0": MASK}, "no dropout for the masks"),
    ],
)
def test_masks_of_other_places_cannot_be_compared(arrays, what):
    with pytest.raises(UnmatchedMasksError, match=what):
        run(DROPOUT, Answer(Status.OK, arrays=arrays))


def test_masks_are_not_used_where_the_case_does_not_ask_for_them():
    with pytest.raises(UnmatchedMasksError):
        run(replace(DROPOUT, masks=False), Answer(Status.OK, arrays={"0.mask..0": MASK}))


def test_only_the_calls_that_are_asked_for_are_made_and_need_masks():
    case = replace(DROPOUT, calls=(DROPOUT.calls[0], DROPOUT.calls[0], DROPOUT.calls[1]))
    answer = Answer(Status.OK, arrays={"0.mask..0": MASK})
    assert run(case, answer, calls=[0, 2]).keys() == {"0.out", "0.grad.x", "2.out"}
    assert run(case, answer, calls=frozenset()) == {}
    with pytest.raises(UnmatchedMasksError):
        run(case, answer)
