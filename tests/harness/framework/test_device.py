"""Choosing a device, and what only matters where there are two: ids, indices and random numbers from the host."""

import sys
import types

import numpy as np
import pytest

from assignment.framework import (
    SGD,
    DeviceError,
    Parameter,
    TensorBackend,
    backend_for,
    one_hot,
    rand,
    randn,
    tensor,
)


@pytest.fixture(scope="module", autouse=True)
def mode():
    """Once is enough here: each test says itself where its tensors are."""
    return "at once"


@pytest.fixture
def device(device_arrays):
    return TensorBackend(device_arrays, "float32", seed=3)


@pytest.fixture
def install(monkeypatch):
    """Puts a CuPy in place that finds so many GPUs; None: there is no CuPy."""

    def put(count):
        def devices():
            if isinstance(count, Exception):
                raise count
            return count

        runtime = types.SimpleNamespace(getDeviceCount=devices)
        cupy = types.SimpleNamespace(__name__="cupy", cuda=types.SimpleNamespace(runtime=runtime))
        monkeypatch.setitem(sys.modules, "cupy", None if count is None else cupy)
        return cupy

    return put


@pytest.mark.parametrize("device", ["auto", "cuda"])
def test_cuda_is_taken_where_it_can_be_used(install, device):
    cupy = install(2)
    backend = backend_for(device, "float64", seed=1)
    assert (backend.xp, backend.dtype, backend.on_cpu) == (cupy, "float64", False)


@pytest.mark.parametrize("count", [None, 0, RuntimeError("cudaErrorInsufficientDriver")])
def test_without_a_usable_gpu_auto_is_the_cpu(install, count):
    install(count)
    backend = backend_for("auto")
    assert (backend.xp, backend.dtype, backend.on_cpu) == (np, "float32", True)


@pytest.mark.parametrize(
    ("count", "says"),
    [
        (None, r"CuPy cannot be imported \(.*cupy.*\); install it \(pip install cupy-cuda12x\)"),
        (0, "CuPy finds no GPU; see what nvidia-smi says"),
        (RuntimeError("cudaErrorInsufficientDriver"), r"CuPy finds no GPU \(cudaErrorInsufficientDriver\)"),
    ],
)
def test_cuda_that_cannot_be_used_is_an_error_of_one_line_with_the_reason(install, count, says):
    install(count)
    with pytest.raises(DeviceError, match=says) as error:
        backend_for("cuda")
    assert "\n" not in str(error.value)
    assert str(error.value).endswith("or choose the device cpu")


def test_the_cpu_is_taken_when_asked_for_and_an_unknown_device_is_refused(install):
    install(2)
    assert backend_for("cpu").xp is np
    with pytest.raises(ValueError, match="device 'gpu'; expected one of auto, cpu, cuda"):
        backend_for("gpu")


@pytest.mark.parametrize(
    "unasked",
    [
        np.asarray,
        lambda a: np.add(a, 1),
        np.sum,
        lambda a: a + np.ones(2),
        lambda a: np.ones(2) + a,
        lambda a: a[np.array([0])],
        lambda a: a.__setitem__(0, np.ones(1)),
    ],
)
def test_the_module_of_these_tests_refuses_every_copy_that_nobody_asked_for(device_arrays, unasked):
    with pytest.raises(TypeError):
        unasked(device_arrays.zeros((2,)))


def test_ids_without_a_backend_follow_the_table_that_they_look_up_in(device):
    table = tensor(np.arange(12.0).reshape(4, 3), device, requires_grad=True)
    rows = one_hot(tensor([2, 2, 0]), 4)
    looked_up = rows @ table
    assert (looked_up.backend, "array" in rows.__dict__) == (device, False)
    looked_up.sum().backward()
    assert table.grad.to_numpy().tolist() == [[1] * 3, [0] * 3, [2] * 3, [0] * 3]
    on_the_cpu = tensor(np.eye(4))
    assert (one_hot(tensor([2], device), 4) @ on_the_cpu).backend is device


@pytest.mark.parametrize("draw", [rand, randn])
def test_random_numbers_of_a_device_are_drawn_there_and_decided_by_the_state_of_the_generator(device, draw):
    first = draw((5, 2), device)
    state = device.generator.bit_generator.state
    second = draw((5, 2), device)
    assert type(second.array).__name__ == "DeviceArray"
    assert (first.to_numpy() != second.to_numpy()).any()
    device.generator.bit_generator.state = state
    np.testing.assert_array_equal(draw((5, 2), device).to_numpy(), second.to_numpy())


def test_a_tensor_on_either_side_is_indexed_by_arrays_and_tensors_of_the_other(device):
    here, there = TensorBackend(np), device
    for x, ids in (
        (tensor([5.0, 6.0], here), tensor([1, 1, 0], there)),
        (tensor([5.0, 6.0], there), tensor([1, 1, 0], here)),
    ):
        assert x[ids].to_numpy().tolist() == x[ids.array.astype("int64")].to_numpy().tolist() == [6, 6, 5]


def test_a_learning_rate_that_is_a_numpy_number_leaves_the_dtype_alone():
    parameter = Parameter(tensor([1.0], TensorBackend(dtype="float32")))
    (parameter.value * 2).backward()
    SGD([parameter], lr=np.float64(0.25)).step()
    assert (parameter.value.item(), parameter.value.to_numpy().dtype) == (0.5, "float32")
