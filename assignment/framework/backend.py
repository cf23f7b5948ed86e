"""Where tensors live: an array module (NumPy or CuPy), a floating type and a source of random numbers.

This is the only file of the framework that names an array module; the others reach it through `backend.xp`.
"""

from __future__ import annotations

import functools
import importlib
import numbers
from typing import Any, TypeAlias, TypeGuard

import numpy as np

Array: TypeAlias = Any
"""An array of `TensorBackend.xp`: `numpy.ndarray` or `cupy.ndarray`."""

Scalar: TypeAlias = float | int
"""A Python number. NumPy scalars of any width are accepted wherever it stands; see `is_scalar`."""

FLOATING_TYPES = ("float32", "float64")

DEVICES = ("auto", "cpu", "cuda")
"""What `backend_for` can be asked for; "auto" is a GPU where there is one."""


class DeviceError(RuntimeError):
    """The device that was asked for cannot be used here."""


class TensorBackend:
    """An array module, a dtype and a generator of random numbers: what new tensors are made with.

    Args:
        array_module: `numpy`, or `cupy` on a GPU.
        dtype: "float64" (exact to about 1e-15) or "float32" (half the memory, twice the speed).
        seed: of the generator; None: fresh entropy from the system.

    Raises:
        ValueError: `dtype` is neither of the two.
    """

    def __init__(self, array_module: Any = np, dtype: Any = "float64", seed: int | None = None) -> None:
        self.xp = array_module
        self.dtype = np.dtype(dtype)
        self.generator = np.random.default_rng(seed)
        self.on_cpu = array_module is np
        if self.dtype.name not in FLOATING_TYPES:
            raise ValueError(f"a backend of dtype {self.dtype}; expected one of {', '.join(FLOATING_TYPES)}")

    def array(self, data: Any) -> Array:
        """A contiguous array of this backend with a copy of `data`; a single number gets shape (1,)."""
        array = self.xp.array(to_host(data) if self.on_cpu else data, dtype=self.dtype, order="C")
        return array if array.ndim else array.reshape(1)  # (1,)

    def convert(self, array: Array) -> Array:
        """`array` in this backend's module and dtype, itself where it already is."""
        return self.xp.asarray(to_host(array) if self.on_cpu else array, dtype=self.dtype)

    def brought(self, ids: Array) -> Array:
        """Whole numbers to pick elements by, in this backend's module; themselves where they already are."""
        return self.xp.asarray(to_host(ids) if self.on_cpu else ids)

    def source(self) -> Any:
        """What random arrays are drawn from, where they will live: the generator, or on a GPU one that it seeds.

        That one serves a single draw, so the state of `generator` alone decides what comes next, on any device.
        """
        if self.on_cpu:
            return self.generator
        random = self.xp.random
        return random.Generator(random.Philox4x3210(int(self.generator.integers(1 << 32))))

    def __repr__(self) -> str:
        return f"TensorBackend({self.xp.__name__}, {self.dtype.name})"


@functools.cache
def default_backend() -> TensorBackend:
    """The backend of tensors made without one: NumPy, float64. It yields to any other where the two meet."""
    return TensorBackend()


def backend_for(device: str = "auto", dtype: Any = "float32", seed: int | None = None) -> TensorBackend:
    """The backend of a device: "cpu", "cuda" (through CuPy), or "auto", which takes CUDA where it can be used.

    Raises:
        DeviceError: "cuda" was asked for, and there is no CuPy or no GPU; it says which.
        ValueError: `device` is none of the three, or `dtype` no floating type.
    """
    if device not in DEVICES:
        raise ValueError(f"device {device!r}; expected one of {', '.join(DEVICES)}")
    if device == "cpu":
        return TensorBackend(np, dtype, seed)
    try:
        return TensorBackend(cuda_arrays(), dtype, seed)
    except DeviceError:
        if device == "cuda":
            raise
        return TensorBackend(np, dtype, seed)


def cuda_arrays() -> Any:
    """CuPy, when it is installed and sees a GPU.

    Raises:
        DeviceError: it is not, or does not.
    """
    fix = "or choose the device cpu"
    try:
        cupy = importlib.import_module("cupy")
    except ImportError as error:
        reason = str(error).strip().partition("\n")[0]
        raise DeviceError(
            f"device cuda: CuPy cannot be imported ({reason}); install it (pip install cupy-cuda12x) {fix}"
        ) from None
    try:
        gpus = cupy.cuda.runtime.getDeviceCount()
    except RuntimeError as error:  # CUDARuntimeError: no driver, or one that is too old
        raise DeviceError(f"device cuda: CuPy finds no GPU ({error}); see what nvidia-smi says {fix}") from None
    if not gpus:
        raise DeviceError(f"device cuda: CuPy finds no GPU; see what nvidia-smi says {fix}")
    return cupy


def common_backend(first: TensorBackend, second: TensorBackend) -> TensorBackend:
    """The backend of a result of tensors of two backends: the chosen one before the default one, then the wider type.

    Raises:
        TypeError: the two are on different devices and both were chosen on purpose.
    """
    if first is second or second is default_backend():
        return first
    if first is default_backend():
        return second
    if first.xp is not second.xp:
        raise TypeError(f"tensors of {first} and of {second} in one operation; make both with the same backend=")
    return first if first.dtype.itemsize >= second.dtype.itemsize else second


def to_host(array: Any) -> Any:
    """An array of any module as a NumPy array; anything else as it is."""
    return array.get() if hasattr(array, "get") and hasattr(array, "__cuda_array_interface__") else array


def is_array(value: object) -> bool:
    """Whether `value` is an array of NumPy or CuPy."""
    return isinstance(value, np.ndarray) or hasattr(value, "__cuda_array_interface__")


def is_scalar(value: object) -> TypeGuard[Scalar]:
    """Whether `value` is one number: Python's, or NumPy's of any width."""
    return isinstance(value, float | int | numbers.Real | np.number | np.bool_)
