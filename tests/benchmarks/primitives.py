"""F8-F10: the cost of one small operation, and two habits that cost a hundred times as much when left to NumPy."""

from __future__ import annotations

import functools

import numpy as np
import torch

from assignment.framework import Tensor, TensorBackend, one_hot, randn, tensor

from .frame import Row, ratios

BACKEND = TensorBackend(dtype="float32", seed=0)


def small_add(*, backward: bool) -> list[float]:
    """A (4, 16) add with history / torch's, forward only or with its backward."""
    torch.set_num_threads(1)
    x, y = (randn((4, 16), BACKEND, requires_grad=True) for _ in range(2))
    torch_x, torch_y = (torch.tensor(value.to_numpy(), requires_grad=True) for value in (x, y))
    weights = np.ones((4, 16), dtype=np.float32)
    torch_weights = torch.tensor(weights)
    if backward:
        return ratios(
            lambda: (x + y).backward(weights),
            lambda: torch.autograd.backward(torch_x + torch_y, torch_weights),
            repeat=5_000,
        )
    return ratios(lambda: x + y, lambda: torch_x + torch_y, repeat=20_000)


def cube() -> list[float]:
    """`x ** 3` / `x * x * x`, forward and backward."""
    x = randn((128, 40, 1024), BACKEND, requires_grad=True)
    weights = BACKEND.generator.standard_normal(x.shape, dtype=np.float32)

    def backward(y: Tensor) -> None:
        x.zero_grad_()
        y.backward(weights)

    return ratios(lambda: backward(x**3), lambda: backward(x * x * x), repeat=4)


def look_up() -> list[float]:
    """`one_hot(ids) @ W` forward and backward / a gather and a scatter in NumPy."""
    n_vocab, width, words = 10_000, 256, 5_120
    ids = BACKEND.generator.integers(0, n_vocab, words)
    table = randn((n_vocab, width), BACKEND, requires_grad=True)
    weights = BACKEND.generator.standard_normal((words, width), dtype=np.float32)
    words_tensor = tensor(ids, BACKEND)

    def ours() -> None:
        table.zero_grad_()
        (one_hot(words_tensor, n_vocab) @ table).backward(weights)

    def theirs() -> None:
        array = table.to_numpy()
        looked_up = array[ids]
        gradient = np.zeros_like(array)
        np.add.at(gradient, ids, weights)
        assert looked_up.shape == weights.shape

    ours()
    expected = np.zeros_like(table.to_numpy())
    np.add.at(expected, ids, weights)
    assert table.grad is not None
    np.testing.assert_allclose(table.grad.to_numpy(), expected)
    return ratios(ours, theirs, repeat=10)


ROWS = (
    Row("F8/forward", "a (4, 16) add / torch", 1.5, 1.2, functools.partial(small_add, backward=False)),
    Row(
        "F8/backward", "a (4, 16) add with its backward / torch", 1.2, 1.0, functools.partial(small_add, backward=True)
    ),
    Row("F9", "x ** 3 / x * x * x, forward and backward", 3, 1.2, cube),
    Row("F10", "one_hot(ids) @ W / gather and scatter, forward and backward", 2, 1.2, look_up),
)
