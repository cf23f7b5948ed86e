"""Properties hold for what is right, name what is wrong, and are total: no answer makes them raise."""

import numpy as np
import pytest

from grader.case import Answer, Call, CallOutcome, Case, Input, Mode, Status
from grader.checks import properties
from grader.checks.dropout import dropped

RNG = np.random.default_rng(0)


def answer(**arrays: np.ndarray) -> Answer:
    named = {name.replace("_", ".", 1): np.asarray(array) for name, array in arrays.items()}
    return Answer(Status.OK, (CallOutcome(Status.OK), CallOutcome(Status.OK)), named)


def outs(first: np.ndarray, second: np.ndarray) -> Answer:
    return Answer(Status.OK, (), {"0.out": np.asarray(first), "1.out": np.asarray(second)})


CASE = Case("nn.logsumexp")


def test_causality_is_about_every_bit_before_the_changed_token():
    a = RNG.standard_normal((2, 4, 3))
    b = a.copy()
    b[:, 2:] += 1
    assert properties.unchanged_before(2)(CASE, outs(a, b)) is None
    assert properties.changed_from(2)(CASE, outs(a, b)) is None
    b[1, 0, 2] = np.nextafter(b[1, 0, 2], 9)
    assert properties.unchanged_before(2)(CASE, outs(a, b)).at == (1, 0, 2)


def test_a_later_output_that_stays_is_named():
    a = RNG.standard_normal((2, 4, 3))
    b = a.copy()
    b[:, 2] += 1
    assert properties.changed_from(2)(CASE, outs(a, b)).at == (0, 3)


@pytest.mark.parametrize(
    ("sample", "right"),
    [
        (lambda n: RNG.uniform(-0.25, 0.25, n), True),
        (lambda n: RNG.uniform(-0.25, 0.25, n).astype(np.float32), True),
        (lambda n: RNG.uniform(0.0, 0.25, n), False),
        (lambda n: RNG.uniform(-0.5, 0.5, n), False),
        (lambda n: RNG.uniform(-0.2, 0.2, n), False),
        (lambda n: np.clip(RNG.normal(0, 0.1, n), -0.25, 0.25), False),
        (lambda n: np.full(n, 0.25), False),
        (lambda n: np.full(n, np.nan), False),
        (np.zeros, False),
    ],
)
def test_uniform_means_range_and_distribution(sample, right):
    found = properties.uniform("bias", 0.25, {})(CASE, answer(param_bias=sample(2048)))
    assert (found is None) == right


@pytest.mark.parametrize(
    ("sample", "name"),
    [
        (lambda n: RNG.uniform(-(100**-0.5), 100**-0.5, n), "from out_size"),
        (np.zeros, "zero"),
        (lambda n: RNG.uniform(-0.2, 0.2, n), ""),
    ],
)
def test_a_bound_that_is_a_known_mistake_is_named(sample, name):
    rule = properties.uniform("bias", 0.25, {"zero": 0.0, "from out_size": 100**-0.5})
    assert rule(CASE, answer(param_bias=sample(2048))).misconception == name


@pytest.mark.parametrize(
    ("sample", "right"),
    [
        (RNG.standard_normal, True),
        (lambda n: RNG.uniform(-1.7, 1.7, n), False),
        (lambda n: RNG.standard_normal(n) * 0.8, False),
        (lambda n: RNG.standard_normal(n) + 0.2, False),
        (lambda n: np.full(n, np.nan), False),
    ],
)
def test_standard_normal_means_mean_width_and_form(sample, right):
    found = properties.standard_normal("weights")(CASE, answer(param_weights=sample(5000)))
    assert (found is None) == right


def dropout_case(x: np.ndarray, cotangent: np.ndarray) -> Case:
    return Case("modules_basic.Dropout", (Call({"x": Input(x)}, Mode.TRAIN, cotangent),))


@pytest.mark.parametrize(
    ("apply", "name"),
    [
        (lambda keep, p: keep / (1 - p), None),
        (lambda keep, _: keep * 1.0, "dropout.not_rescaled"),
        (lambda keep, p: keep * (1 - p), "dropout.scaled_by_keep"),
        (lambda keep, p: (1 - keep) / (1 - p), "dropout.inverted"),
        (lambda keep, p: np.ones_like(keep) / (1 - p), ""),  # nothing is dropped
        (lambda keep, p: keep * 3 / (1 - p), ""),
        (lambda keep, _: keep * np.nan, ""),
    ],
)
def test_dropout_is_judged_by_its_factors_and_known_mistakes_are_named(apply, name):
    p, x, cotangent = 0.1, RNG.standard_normal((100, 200)), RNG.standard_normal((100, 200))
    factors = apply((RNG.random(x.shape) >= p).astype(float), p)
    given = Answer(Status.OK, (), {"0.out": x * factors, "0.grad.x": cotangent * factors})
    broken = dropped(0, "x", p)(dropout_case(x, cotangent), given)
    assert (broken and broken.misconception) == name


def test_a_dropout_whose_gradient_has_another_mask_is_named():
    x, cotangent = RNG.standard_normal((100, 200)), RNG.standard_normal((100, 200))
    factors = (RNG.random(x.shape) >= 0.5) * 2.0
    given = Answer(Status.OK, (), {"0.out": x * factors, "0.grad.x": cotangent})
    assert dropped(0, "x", 0.5)(dropout_case(x, cotangent), given).what == "0.grad.x"


@pytest.mark.parametrize("shape", [(), (3,), (200, 100), (1, 100, 200), (0,)])
def test_an_output_of_any_other_shape_is_wrong_and_never_raises(shape):
    x = RNG.standard_normal((100, 200))
    given = Answer(Status.OK, (), {"0.out": np.ones(shape), "1.out": np.ones((2, 3))})
    assert dropped(0, "x", 0.5)(dropout_case(x, x), given) is not None
    assert properties.input_returned(0, "x", "in evaluation")(dropout_case(x, x), given) is not None


@pytest.mark.parametrize(
    ("first", "second"), [((), ()), ((4,), (4,)), ((2, 4, 3), (2, 3, 4)), ((2, 4, 3), (0,)), ((0, 2, 4, 3), (2, 4, 3))]
)
def test_outputs_without_rows_or_of_two_shapes_break_causality_and_never_raise(first, second):
    given = outs(np.ones(first), np.zeros(second))
    assert properties.unchanged_before(2)(CASE, given) is not None
    assert properties.changed_from(2)(CASE, given) is not None


@pytest.mark.parametrize("shape", [(), (4,), (4, 2, 3), (0,), (1, 2, 4, 3)])
def test_outputs_of_another_shape_than_the_rows_that_are_kept_are_wrong_and_never_raise(shape):
    keep = np.array([[True, False, True, True], [True] * 4])
    given = outs(np.ones(shape), np.ones(shape))
    assert properties.same_output(0, 1, "in evaluation", keep)(CASE, given) is not None
