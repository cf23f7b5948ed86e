"""A small reverse-mode automatic differentiation framework on NumPy arrays (lecture 5).

Read it in this order: `tensor` (what you use), `elementwise` and `operations` (the primitives and their gradients),
`autodiff` (how gradients flow back), then `module` and `optim`. `backend`, `creation` and `shapes` hold no surprises;
`one_hot` and `blocks` make it fast and change no result.
"""

from . import blocks
from .autodiff import Function, Step
from .backend import DeviceError, TensorBackend, backend_for, default_backend
from .creation import ones, rand, randn, tensor, tensor_from_numpy, zeros
from .module import Module, Parameter
from .one_hot import OneHot, one_hot
from .optim import SGD, Adam, Optimizer, average_checkpoints, warmup_learning_rate
from .tensor import Tensor
from .tools import GradientError, gradcheck, trace_shapes

__all__ = [
    "SGD",
    "Adam",
    "DeviceError",
    "Function",
    "GradientError",
    "Module",
    "OneHot",
    "Optimizer",
    "Parameter",
    "Step",
    "Tensor",
    "TensorBackend",
    "average_checkpoints",
    "backend_for",
    "blocks",
    "default_backend",
    "gradcheck",
    "one_hot",
    "ones",
    "rand",
    "randn",
    "tensor",
    "tensor_from_numpy",
    "trace_shapes",
    "warmup_learning_rate",
    "zeros",
]
