"""Comparisons whose messages say what arrived, what was expected, and where."""

from __future__ import annotations

from typing import Any

import hints
import numpy as np
from fixture_files import Fixture

from assignment.framework import Module, Tensor

TOLERANCE = 1e-9
"""Largest error allowed, relative to the largest entry of the expected array."""
SINGLE = 2e-5
"""The same for what was computed in float32."""


def assert_close(actual: Any, expected: Any, what: str, tolerance: float = TOLERANCE, scale: float = 0.0) -> None:
    """Compare shape, then finiteness, then every entry; where that fails, look for a common mistake that gives this.

    Args:
        actual: a tensor of the framework.
        expected: an array, or nested lists.
        what: what `actual` is, for the message.
        tolerance: largest error allowed, relative to `scale`.
        scale: the largest entry of `expected`, where nothing else is given.
    """
    __tracebackhide__ = True
    try:
        compare(actual, expected, what, tolerance, scale)
    except AssertionError as error:
        raise AssertionError(f"{error}{hints.for_array(actual, expected, tolerance)}") from None


def compare(actual: Any, expected: Any, what: str, tolerance: float, scale: float) -> None:
    """Raise at the first difference of shape, finiteness or value."""
    got, want = numbers(actual, what), np.asarray(expected, dtype=np.float64)
    assert got.shape == want.shape, f"{what}: the shape is {got.shape}, expected {want.shape}"
    finite = np.isfinite(got)
    assert finite.all(), f"{what}: {got[first(~finite)]} at {first(~finite)}, expected a finite number"
    error = np.abs(got - want)
    bound = (max(tolerance, SINGLE) if got.dtype == np.float32 else tolerance) * (scale or np.abs(want).max() or 1.0)
    wrong = ~(error <= bound)
    if wrong.any():
        at = first(wrong)
        raise AssertionError(
            f"{what}: {wrong.sum()} of {wrong.size} entries are wrong, first at {at}: "
            f"{got[at]:.10g} arrived, {want[at]:.10g} was expected "
            f"(largest error {error.max():.1e}, allowed {bound:.0e})"
        )


def assert_same(actual: Any, expected: Any, what: str, shows: str = "") -> None:
    """Compare bit for bit; a difference shows the mistake of that name, where one is given."""
    __tracebackhide__ = True
    got, want = numbers(actual, what), numbers(expected, what)
    assert got.shape == want.shape, f"{what}: the shape is {got.shape}, expected {want.shape}"
    differ = got != want
    if differ.any():
        at = first(differ)
        message = f"{what}: not the same at {at}: {got[at]:.17g} arrived, {want[at]:.17g} was expected"
        raise AssertionError(message + (hints.told(shows) if shows else ""))


def assert_can_learn(output: Tensor, shows: str) -> None:
    """Require that a gradient of this can reach the parameters it was made from."""
    __tracebackhide__ = True
    if not output.requires_grad:
        raise AssertionError(f"the output has no history: no gradient would reach the weights{hints.told(shows)}")


def assert_texts(actual: list[str], expected: list[str]) -> None:
    """Compare translations word by word."""
    __tracebackhide__ = True
    if actual != expected:
        raise AssertionError(f"{actual} arrived, {expected} was expected{hints.for_texts(actual, expected)}")


def assert_parameter_gradients(module: Module, saved: Fixture) -> None:
    """Compare the gradient of every parameter of the file.

    A bias of the keys changes no output: its gradient is 0 but for rounding, which the module's largest gradient sets.
    """
    __tracebackhide__ = True
    largest = max(np.abs(gradient).max() for gradient in saved.parameter_gradients.values())
    own = dict(module.named_parameters())
    for name, gradient in saved.parameter_gradients.items():
        zero = np.abs(gradient).max() < 1e-6 * largest
        assert_close(own[name].grad, gradient, f"the gradient of {name}", scale=largest if zero else 0.0)


def numbers(value: Any, what: str) -> Any:
    """Take the elements of a tensor as an array."""
    __tracebackhide__ = True
    if value is None:
        hint = "the path from the output back to it is cut" if "gradient" in what else "is there a `return`?"
        raise AssertionError(f"{what}: None arrived; {hint}")
    elements = value.to_numpy() if isinstance(value, Tensor) else value
    assert isinstance(elements, np.ndarray), f"{what}: a {type(value).__name__} arrived, expected a Tensor"
    return elements


def first(flags: Any) -> tuple[int, ...]:
    """Find the first index that is True."""
    return tuple(int(i) for i in np.argwhere(flags)[0])
