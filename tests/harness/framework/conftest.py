"""One comparison for all tests of the framework: the same function here and in torch, its values and its gradients."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from assignment.framework import TensorBackend, blocks, tensor

TOLERANCE = {"float32": 2e-5, "float64": 1e-12}


def close(ours, theirs, dtype):
    expected = theirs.detach().numpy()
    actual = ours.to_numpy()
    assert actual.shape == (expected.shape or (1,))
    assert actual.dtype == dtype
    np.testing.assert_allclose(actual, expected.reshape(actual.shape), rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


@pytest.fixture(scope="session", params=["at once", "in blocks"], autouse=True)
def _mode(request):
    """Every test is run twice: as for small tensors, and as for large ones, which wait and are computed in blocks."""
    if request.param == "at once":
        yield
        return
    kept = blocks.LARGE, blocks.BLOCK
    blocks.LARGE, blocks.BLOCK = 1, 4
    yield
    blocks.LARGE, blocks.BLOCK = kept


@pytest.fixture(scope="session")
def same_as_torch() -> Callable[..., None]:
    """`check(function, torch_function, *arrays, dtype)`: equal values, and equal gradients under random weights."""

    def check(function, torch_function, *arrays, dtype="float64"):
        backend = TensorBackend(dtype=dtype, seed=0)
        ours = [tensor(array, backend, requires_grad=True) for array in arrays]
        theirs = [torch.tensor(array, dtype=getattr(torch, dtype), requires_grad=True) for array in arrays]
        output, expected = function(*ours), torch_function(*theirs)
        close(output, expected, dtype)
        weights = np.random.default_rng(1).uniform(-1, 1, output.shape).astype(dtype)
        output.backward(weights)
        expected.backward(torch.tensor(weights.reshape(expected.shape)))
        for mine, other in zip(ours, theirs, strict=True):
            close(mine.grad, other.grad, dtype)

    return check
