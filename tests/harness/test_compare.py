"""Two arrays meet: in the order shape, kind, finite, values; never broadcast."""

import numpy as np
import pytest

from grader.compare import compare, two_digits


def test_equal_arrays_agree():
    assert compare("0.out", np.array([1.0, 2.0]), np.array([1.0, 2.0]), 1e-9) is None


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (np.ones((1, 3)), np.zeros((0, 3))),  # np.allclose(ones(1,3), zeros(0,3)) is True
        (np.ones((3,)), np.ones((1, 3))),
        (np.ones((2, 1)), np.ones((2, 2))),
        (np.float64(1.0), np.ones(1)),
    ],
)
def test_a_shape_is_never_broadcast(actual, expected):
    assert compare("0.out", np.asarray(actual), expected, 1e-9).kind == "shape"


@pytest.mark.parametrize("actual", [np.array([True]), np.array([1 + 0j]), np.array(["1"])])
def test_what_is_no_real_number_is_a_wrong_dtype(actual):
    assert compare("0.out", actual, np.array([1.0]), 1e-9).kind == "dtype"


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_nan_or_an_infinity_is_never_within_tolerance(bad):
    error = compare("0.out", np.array([[1.0, bad]]), np.array([[1.0, 1.0]]), 1e300)
    assert (error.kind, error.at) == ("finite", [0, 1])


def test_a_nan_on_the_expected_side_is_never_passed():
    assert compare("0.out", np.array([1.0]), np.array([np.nan]), 1.0) is not None


def test_the_error_is_relative_to_the_largest_entry():
    expected = np.array([1000.0, 1.0])
    assert compare("0.out", expected + np.array([0.0, 0.9e-6]), expected, 1e-9) is None
    error = compare("0.out", expected + np.array([0.0, 1.1e-6]), expected, 1e-9)
    assert (error.kind, error.at, error.max_abs, error.max_rel) == ("value", [1], 1.1e-6, 1.1e-9)


def test_against_zeros_the_error_is_absolute():
    assert compare("0.out", np.array([1e-10]), np.array([0.0]), 1e-9) is None
    assert compare("0.out", np.array([1e-8]), np.array([0.0]), 1e-9).kind == "value"


def test_an_own_scale_replaces_the_largest_entry():
    assert compare("g", np.array([1e-12]), np.array([0.0]), 1e-9, scale=1e-2) is None
    assert compare("g", np.array([1e-12]), np.array([0.0]), 1e-9, scale=1e-4).kind == "value"


def test_numbers_in_reports_have_two_digits():
    assert [two_digits(x) for x in (0.0, 0.123456, 9.99e-10, 1234.0)] == [0.0, 0.12, 1e-9, 1200.0]
