"""Where tensors live: dtypes, mixtures, and another array module."""

import types

import numpy as np
import pytest

from assignment.framework import TensorBackend, default_backend, ones, rand, tensor, zeros


@pytest.fixture
def float32():
    return TensorBackend(dtype="float32")


@pytest.mark.parametrize("operate", [lambda a, b: a + b, lambda a, b: b * a, lambda a, b: a @ b], ids="+*@")
def test_a_tensor_without_a_chosen_backend_yields_to_the_other(operate, float32):
    chosen, plain = ones((2, 2), float32, requires_grad=True), ones((2, 2), requires_grad=True)
    result = operate(chosen, plain)
    assert result.backend is float32
    assert result.to_numpy().dtype == "float32"
    result.sum().backward()
    assert chosen.grad.to_numpy().dtype == "float32"
    assert plain.grad.to_numpy().dtype == "float64"


def test_of_two_chosen_backends_the_wider_type_wins(float32):
    wide = TensorBackend(dtype="float64")
    assert (ones((1,), float32) + ones((1,), wide)).backend is wide
    assert (ones((1,), wide) + ones((1,), float32)).backend is wide


def test_two_devices_in_one_operation_are_refused_with_the_fix(float32):
    other = types.SimpleNamespace(
        **{name: getattr(np, name) for name in ("array", "zeros", "ones")}, __name__="elsewhere"
    )
    here, there = ones((1,), float32), ones((1,), TensorBackend(other, "float32"))
    with pytest.raises(TypeError, match="make both with the same backend="):
        here + there


def test_whatever_goes_in_a_float32_backend_stays_float32(float32):
    x = tensor(np.arange(6.0).reshape(2, 3), float32, requires_grad=True)
    y = ((x - x.mean(1)) / (x.var(1) + 1e-5) ** 0.5 * np.float64(2)).sigmoid().max(
        0
    ).log().sum() + x.tanh().exp().mean()
    y.backward()
    assert y.to_numpy().dtype == x.grad.to_numpy().dtype == "float32"


def test_an_unknown_dtype_is_refused():
    with pytest.raises(ValueError, match="a backend of dtype int64; expected one of float32, float64"):
        TensorBackend(dtype="int64")


@pytest.mark.usefixtures("on_cpu")
def test_the_generator_is_the_backends_and_can_be_replaced():
    backend = TensorBackend()
    backend.generator = np.random.default_rng(5)
    np.testing.assert_array_equal(rand((3,), backend).to_numpy(), np.random.default_rng(5).random(3))


def test_tensors_made_without_a_backend_are_on_the_default_one():
    assert zeros((1,)).backend is tensor(1.0).backend is default_backend()
