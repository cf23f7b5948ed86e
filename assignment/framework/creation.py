"""New tensors: from numbers, lists and arrays, or filled. Without a backend they are on the default one, float64."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .backend import TensorBackend, default_backend
from .tensor import Tensor


def tensor(data: Any, backend: TensorBackend | None = None, requires_grad: bool = False) -> Tensor:
    """A tensor with a copy of a number, nested lists, an array or another tensor's elements."""
    backend = backend or default_backend()
    return Tensor(backend.array(data.array if isinstance(data, Tensor) else data), backend, requires_grad)


def tensor_from_numpy(array: Any, backend: TensorBackend | None = None, requires_grad: bool = False) -> Tensor:
    """A tensor with a copy of a NumPy array's elements."""
    return tensor(array, backend, requires_grad)


def zeros(shape: Sequence[int], backend: TensorBackend | None = None, requires_grad: bool = False) -> Tensor:
    """A tensor of zeros."""
    backend = backend or default_backend()
    return Tensor(backend.xp.zeros(tuple(shape), dtype=backend.dtype), backend, requires_grad)


def ones(shape: Sequence[int], backend: TensorBackend | None = None, requires_grad: bool = False) -> Tensor:
    """A tensor of ones."""
    backend = backend or default_backend()
    return Tensor(backend.xp.ones(tuple(shape), dtype=backend.dtype), backend, requires_grad)


def rand(shape: Sequence[int], backend: TensorBackend | None = None, requires_grad: bool = False) -> Tensor:
    """A tensor of random numbers, uniform in [0, 1), from the backend's generator."""
    backend = backend or default_backend()
    return Tensor(backend.array(backend.source().random(tuple(shape))), backend, requires_grad)


def randn(shape: Sequence[int], backend: TensorBackend | None = None, requires_grad: bool = False) -> Tensor:
    """A tensor of random numbers, normal with mean 0 and variance 1, from the backend's generator."""
    backend = backend or default_backend()
    return Tensor(backend.array(backend.source().standard_normal(tuple(shape))), backend, requires_grad)
