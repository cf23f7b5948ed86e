"""One comparison for all tests of the framework: the same function here and in torch, its values and its gradients."""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

from assignment.framework import TensorBackend, blocks, default_backend, tensor

ON_CPU, WAITING, ON_A_DEVICE = "at once", "in blocks", "on a device"

TOLERANCE = {"float32": 2e-5, "float64": 1e-12}


def close(ours, theirs, dtype):
    expected = theirs.detach().numpy()
    actual = ours.to_numpy()
    assert actual.shape == (expected.shape or (1,))
    assert actual.dtype == dtype
    np.testing.assert_allclose(actual, expected.reshape(actual.shape), rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


@pytest.fixture(scope="session")
def device_arrays() -> ModuleType:
    """An array module that refuses NumPy arrays, as CuPy does: see refusing.py."""
    spec = importlib.util.spec_from_file_location("refusing", Path(__file__).with_name("refusing.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.MODULE


@pytest.fixture(scope="module", params=[ON_CPU, WAITING, ON_A_DEVICE], autouse=True)
def mode(request, device_arrays):
    """Every test is run three times: as for small tensors; as for large ones, computed in blocks; as on a GPU.

    For the last, every backend that names no array module, the default one too, gets one that refuses NumPy arrays.
    """
    with pytest.MonkeyPatch.context() as patch:
        if request.param == WAITING:
            patch.setattr(blocks, "LARGE", 1)
            patch.setattr(blocks, "BLOCK", 4)
        if request.param == ON_A_DEVICE:
            patch.setattr(TensorBackend.__init__, "__defaults__", (device_arrays, "float64", None))
            patch.setattr(default_backend(), "xp", device_arrays)
            patch.setattr(default_backend(), "on_cpu", False)
        yield request.param


@pytest.fixture
def on_cpu(mode):
    """For a test of what only arrays on the CPU do."""
    if mode == ON_A_DEVICE:
        pytest.skip("only on the CPU")


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
