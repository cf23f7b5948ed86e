"""Every operation against torch: values and gradients, in both dtypes, for drawn shapes, layouts and broadcasts."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from assignment.framework import TensorBackend, tensor

UNARY = {  # name: (here, in torch, the lowest input)
    "exp": (lambda x: x.exp(), torch.exp, -2),
    "log": (lambda x: x.log(), torch.log, 0.1),
    "tanh": (lambda x: x.tanh(), torch.tanh, -2),
    "sigmoid": (lambda x: x.sigmoid(), torch.sigmoid, -2),
    "relu": (lambda x: x.relu(), torch.relu, -2),
    "sqrt": (lambda x: x.sqrt(), torch.sqrt, 0.1),
    "negation": (lambda x: -x, torch.neg, -2),
    "power 0": (lambda x: x**0, lambda x: x**0, -2),
    "power 1": (lambda x: x**1, lambda x: x**1, -2),
    "power 2": (lambda x: x**2, lambda x: x**2, -2),
    "power 3": (lambda x: x**3, lambda x: x**3, -2),
    "power 7": (lambda x: x**7, lambda x: x**7, -1),
    "power -1": (lambda x: x**-1, lambda x: x**-1, 0.3),
    "power -3": (lambda x: x**-3, lambda x: x**-3, 0.5),
    "power -0.5": (lambda x: x**-0.5, lambda x: x**-0.5, 0.3),
    "power 1.5": (lambda x: x**1.5, lambda x: x**1.5, 0.3),
    "power 2.3": (lambda x: x**2.3, lambda x: x**2.3, 0.1),
    "power of a number": (lambda x: 2.5**x, lambda x: 2.5**x, -2),
    "number - x": (lambda x: 3 - x, lambda x: 3 - x, -2),
    "number / x": (lambda x: 3 / x, lambda x: 3 / x, 0.3),
    "x - number": (lambda x: x - 3, lambda x: x - 3, -2),
    "x / number": (lambda x: x / 3, lambda x: x / 3, -2),
}
BINARY = {
    "+": (lambda a, b: a + b, -2),
    "-": (lambda a, b: a - b, -2),
    "*": (lambda a, b: a * b, -2),
    "/": (lambda a, b: a / b, 0.3),
    "**": (lambda a, b: a**b, 0.3),
    "a used twice": (lambda a, b: a * b + a * a - a, -2),
}
REDUCTIONS = {
    "sum": (lambda x, dim: x.sum(dim), lambda x, dim: x.sum(dim, keepdim=True)),
    "mean": (lambda x, dim: x.mean(dim=dim), lambda x, dim: x.mean(dim, keepdim=True)),
    "var": (lambda x, dim: x.var(dim), lambda x, dim: x.var(dim, unbiased=False, keepdim=True)),
    "max": (lambda x, dim: x.max(dim=dim), lambda x, dim: x.amax(dim, keepdim=True)),
}
LAYOUTS = {  # of a tensor of three dims: made from a contiguous one, here and in torch
    "contiguous": (lambda x: x, lambda x: x),
    "permuted": (lambda x: x.permute(2, 0, 1), lambda x: x.permute(2, 0, 1)),
    "sliced": (lambda x: x[:, ::2], lambda x: x[:, ::2]),
    "permuted and sliced": (lambda x: x.permute(1, 2, 0)[1:], lambda x: x.permute(1, 2, 0)[1:]),
}
sizes = st.integers(1, 5)
dtypes = st.sampled_from(["float32", "float64"])
seeds = st.integers(0, 2**32 - 1)


def numbers(shape, lowest=-2.0, seed=0):
    return np.random.default_rng(seed).uniform(lowest, 2, shape)


@pytest.mark.parametrize("name", UNARY)
@settings(max_examples=12, deadline=None)
@given(shape=st.lists(sizes, min_size=1, max_size=4), dtype=dtypes, seed=seeds)
def test_functions_of_one_tensor(same_as_torch, name, shape, dtype, seed):
    function, torch_function, lowest = UNARY[name]
    same_as_torch(function, torch_function, numbers(shape, lowest, seed), dtype=dtype)


@st.composite
def two_shapes_that_broadcast(draw):
    whole = draw(st.lists(sizes, min_size=1, max_size=4))

    def part():
        start = draw(st.integers(0, len(whole) - 1))
        return [draw(st.sampled_from([1, size])) for size in whole[start:]]

    return part(), part()


@pytest.mark.parametrize("name", BINARY)
@settings(max_examples=20, deadline=None)
@given(shapes=two_shapes_that_broadcast(), dtype=dtypes, seed=seeds)
def test_operators_on_two_tensors_that_broadcast(same_as_torch, name, shapes, dtype, seed):
    function, lowest = BINARY[name]
    same_as_torch(
        function, function, numbers(shapes[0], lowest, seed), numbers(shapes[1], lowest, seed + 1), dtype=dtype
    )


@st.composite
def shape_and_dim(draw):
    shape = draw(st.lists(sizes, min_size=1, max_size=4))
    return shape, draw(st.integers(-len(shape), len(shape) - 1))


@pytest.mark.parametrize("name", REDUCTIONS)
@settings(max_examples=20, deadline=None)
@given(where=shape_and_dim(), dtype=dtypes, seed=seeds)
def test_reductions_over_a_dim_keep_it_and_count_negative_dims_from_the_end(same_as_torch, name, where, dtype, seed):
    (shape, dim), (function, torch_function) = where, REDUCTIONS[name]
    same_as_torch(lambda x: function(x, dim), lambda x: torch_function(x, dim), numbers(shape, seed=seed), dtype=dtype)


@pytest.mark.parametrize(
    ("function", "torch_function"),
    [
        (lambda x: x.sum(), torch.sum),
        (lambda x: x.mean(), torch.mean),
        (lambda x: x.var(), lambda x: x.var(unbiased=False)),
        (lambda x: x.max(), torch.amax),
    ],
)
def test_reductions_without_a_dim_are_over_everything(same_as_torch, function, torch_function):
    same_as_torch(function, torch_function, numbers((3, 4, 2)))


@pytest.mark.parametrize("dim", [0, 1, None])
def test_equal_largest_values_share_the_gradient_of_max(same_as_torch, dim):
    ties = np.array([[1.0, 3.0, 3.0], [3.0, 0.0, 3.0]])
    keep = {} if dim is None else {"dim": dim, "keepdim": True}
    same_as_torch(lambda x: x.max(dim), lambda x: torch.amax(x, **keep), ties)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("function", "torch_function"),
    [
        (lambda x: x.exp() * x, lambda x: x.exp() * x),
        (lambda x: x.sum(1), lambda x: x.sum(1, keepdim=True)),
        (lambda x: x.max(-1), lambda x: x.amax(-1, keepdim=True)),
        (lambda x: x.contiguous().view(-1), lambda x: x.reshape(-1)),
        (lambda x: x @ x.permute(0, 2, 1), lambda x: x @ x.permute(0, 2, 1)),
        (lambda x: (x + 1).sigmoid(), lambda x: (x + 1).sigmoid()),
    ],
)
def test_any_layout_in_memory_gives_the_same(same_as_torch, function, torch_function, layout, dtype):
    arrange, torch_arrange = LAYOUTS[layout]
    same_as_torch(
        lambda x: function(arrange(x)), lambda x: torch_function(torch_arrange(x)), numbers((3, 4, 5)), dtype=dtype
    )


@settings(max_examples=30, deadline=None)
@given(batch=two_shapes_that_broadcast(), nkm=st.tuples(sizes, sizes, sizes), dtype=dtypes, seed=seeds)
def test_matmul_broadcasts_the_leading_dims(same_as_torch, batch, nkm, dtype, seed):
    n, k, m = nkm
    a, b = numbers([*batch[0], n, k], seed=seed), numbers([*batch[1], k, m], seed=seed + 1)
    same_as_torch(lambda x, y: x @ y, lambda x, y: x @ y, a, b, dtype=dtype)


@settings(max_examples=30, deadline=None)
@given(lead=st.lists(sizes, max_size=3), nkm=st.tuples(sizes, sizes, sizes), dtype=dtypes, seed=seeds)
def test_matmul_by_one_matrix(same_as_torch, lead, nkm, dtype, seed):
    n, k, m = nkm
    a, b = numbers([*lead, n, k], seed=seed), numbers([k, m], seed=seed + 1)
    same_as_torch(lambda x, y: x @ y, lambda x, y: x @ y, a, b, dtype=dtype)
    same_as_torch(lambda y, x: y.permute(1, 0) @ x, lambda y, x: y.T @ x, b, numbers([*lead, k, n], seed=seed))


@pytest.mark.parametrize(
    "key",
    [
        1,
        -1,
        (0, 2),
        (0, 1, 3),
        slice(1, None),
        (slice(None), slice(0, 3, 2)),
        (..., 0),
        (slice(None), None, 1),
        [0, 0, 2],
        np.array([[1, 1], [0, 1]]),
        (np.array([0, 2, 2]), np.array([1, 1, 1])),
        (slice(None), [1, 1]),
    ],
    ids=str,
)
def test_indexing_picks_and_its_gradient_adds_up_where_picked(same_as_torch, key):
    as_torch = (
        tuple(torch.tensor(k) if isinstance(k, np.ndarray) else k for k in key) if isinstance(key, tuple) else key
    )
    as_torch = torch.tensor(as_torch) if isinstance(as_torch, np.ndarray) else as_torch
    same_as_torch(lambda x: x[key], lambda x: x[as_torch], numbers((3, 4, 5)))


def test_a_number_too_large_for_the_exponential_gives_the_limits_of_sigmoid():

    for dtype in ("float32", "float64"):
        ends = tensor([-1e30, -800.0, -90.0, 90.0, 800.0, 1e30], TensorBackend(dtype=dtype)).sigmoid()
        np.testing.assert_allclose(ends.to_numpy(), [0, 0, 0, 1, 1, 1], atol=1e-37)


def test_a_layer_norm_attention_and_loss_composed_of_primitives(same_as_torch):
    def ours(x, w):
        normal = (x - x.mean(2)) / (x.var(2) + 1e-5) ** 0.5
        q = (normal @ w).view(2, 3, 2, 2).permute(0, 2, 1, 3)
        scores = q @ q.permute(0, 1, 3, 2)
        weights = (scores - scores.max(3).detach()).exp()
        weights = weights / weights.sum(3)
        return (weights @ q).permute(0, 2, 1, 3).contiguous().view(2, 3, 4)

    def theirs(x, w):
        q = (torch.nn.functional.layer_norm(x, (4,)) @ w).view(2, 3, 2, 2).permute(0, 2, 1, 3)
        weights = torch.softmax(q @ q.permute(0, 1, 3, 2), 3)
        return (weights @ q).permute(0, 2, 1, 3).reshape(2, 3, 4)

    same_as_torch(ours, theirs, numbers((2, 3, 4)), numbers((4, 4), seed=1))
