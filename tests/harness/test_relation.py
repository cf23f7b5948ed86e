"""How a wrong array is related to the right one: found where it is so, and nowhere else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.relation import Relation, relate

RIGHT = np.random.default_rng(7).standard_normal((4, 3, 5))


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (-RIGHT, Relation("sign")),
        (2 * RIGHT, Relation("twice")),
        (4 * RIGHT, Relation("batch_times")),
        (RIGHT / 4, Relation("batch_divided")),
        (0.35355 * RIGHT, Relation("factor", 0.35)),
        (-3 * RIGHT, Relation("factor", -3.0)),
        (RIGHT + 0.123, Relation("offset", 0.12)),
        (RIGHT.transpose(0, 2, 1), Relation("transposed")),
        (RIGHT.transpose(2, 1, 0), Relation("transposed")),
        (RIGHT + RIGHT**2, None),
        (RIGHT.reshape(4, 5, 3), None),
        (RIGHT[0], None),
        (np.zeros_like(RIGHT), None),
        (np.full_like(RIGHT, np.nan), None),
        (RIGHT.astype(str), None),
    ],
)
def test_the_relation_is_named(actual, expected):
    assert relate(actual, RIGHT, batch=4) == expected


def test_a_square_array_with_its_axes_exchanged_is_transposed():
    square = RIGHT[0, :, :3]
    assert relate(square.T, square) == Relation("transposed")


def test_without_a_batch_of_three_or_more_its_size_is_a_factor_like_any_other():
    assert relate(4 * RIGHT, RIGHT) == Relation("factor", 4.0)
    assert relate(2 * RIGHT, RIGHT, batch=2) == Relation("twice")


@pytest.mark.parametrize("few", [np.array([2.0]), np.array([2.0, -2.0]), np.zeros((3, 3)), np.zeros(0)])
def test_few_numbers_have_no_common_factor_or_difference(few):
    assert relate(few * 1.7 + 0.3, few, batch=4) is None


def test_one_number_may_have_the_other_sign():
    assert relate(np.array(-0.7), np.array(0.7)) == Relation("sign")


def test_rounding_is_allowed_for_and_no_more():
    assert relate(-RIGHT * (1 + 1e-8), RIGHT) == Relation("sign")
    assert relate(-RIGHT + 1e-4 * RIGHT**2, RIGHT) is None
    assert relate(-RIGHT + 1e-4 * RIGHT**2, RIGHT, rounding=1e-2) == Relation("sign")


@given(st.floats(-50, 50).filter(lambda f: abs(f) > 0.01 and min(abs(f - k) for k in (-1, 0, 1, 2, 4, 0.25)) > 0.01))
def test_any_other_factor_has_two_digits(factor):
    found = relate(factor * RIGHT, RIGHT, batch=4)
    assert found.kind == "factor"
    assert found.factor == float(f"{factor:.1e}")


@pytest.mark.parametrize("actual", [np.copysign(1.7e308, RIGHT), np.full_like(RIGHT, -1.7e308)])
def test_numbers_so_large_that_their_products_are_infinite_are_not_a_multiple(actual):
    with np.errstate(over="ignore", invalid="ignore"):  # as in the pipeline
        assert relate(actual, RIGHT) is None
