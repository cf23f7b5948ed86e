"""An array module that refuses NumPy arrays as CuPy does, computing with NumPy inside: for tests where no GPU is.

Its arrays raise TypeError wherever CuPy's would have to copy between the device and the host unasked, and in two places
where CuPy copies for convenience (an index that is a NumPy array, a NumPy function that is given a device array). The
results of reductions are arrays of no dims, never NumPy scalars. It has the functions and methods that the framework
uses and no others: look a new one up in CuPy's documentation before you add it here. All of these are in CuPy 13
(`put_along_axis`, say, is not).

What it cannot show: CuPy does not raise IndexError for an array of integers that is out of range, `broadcast_to` gives
an array that can be written to, and sums come in another order.
"""

from __future__ import annotations

import operator
import types
from typing import Any

import numpy as np

FUNCTIONS = (
    "arange", "argmax", "ascontiguousarray", "broadcast_to", "empty", "expand_dims", "ones", "ones_like",
    "take_along_axis", "zeros", "zeros_like",
)  # fmt: skip
UFUNCS = (
    "add", "divide", "exp", "log", "matmul", "maximum", "minimum", "multiply", "negative", "power", "sqrt", "subtract",
    "tanh",
)  # fmt: skip
METHODS = (
    "all", "any", "argmax", "astype", "copy", "max", "min", "reshape", "sum", "swapaxes", "transpose",
)  # fmt: skip
OPERATORS = ("add", "sub", "mul", "truediv", "pow", "matmul")
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
PYTHON_NUMBERS = (bool, int, float, np.generic)
FROM_THE_HOST = ("array", "asarray")
"""The functions that copy to the device; all others refuse what is not there."""


class DeviceArray:
    """An array that only its own module may touch; `get` copies it to the host."""

    __array_priority__ = 100
    __hash__ = None

    def __init__(self, hidden: Any) -> None:
        self._hidden = np.asarray(hidden)

    def get(self) -> np.ndarray:
        """A copy as a NumPy array."""
        return self._hidden.copy()

    # What NumPy asks for: all refused

    def __array__(self, *_arguments: object, **_keywords: object) -> np.ndarray:
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")

    def __array_ufunc__(self, ufunc: Any, *_arguments: object, **_keywords: object) -> Any:
        raise TypeError(f"numpy.{ufunc.__name__} of an array on the device")

    def __array_function__(self, function: Any, *_arguments: object, **_keywords: object) -> Any:
        raise TypeError(f"numpy.{function.__name__} of an array on the device")

    # What it is

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"shape": self.shape, "typestr": self.dtype.str, "version": 3}

    @property
    def shape(self) -> tuple[int, ...]:
        return self._hidden.shape

    @property
    def ndim(self) -> int:
        return self._hidden.ndim

    @property
    def size(self) -> int:
        return self._hidden.size

    @property
    def dtype(self) -> np.dtype:
        return self._hidden.dtype

    @property
    def base(self) -> DeviceArray | None:
        return None if self._hidden.base is None else DeviceArray(self._hidden.base)

    @property
    def flags(self) -> types.SimpleNamespace:
        flags = self._hidden.flags
        return types.SimpleNamespace(c_contiguous=flags.c_contiguous, f_contiguous=flags.f_contiguous)

    @property
    def T(self) -> DeviceArray:  # noqa: N802  # its name in NumPy
        return DeviceArray(self._hidden.T)

    def item(self) -> Any:
        return self._hidden.item()

    def __len__(self) -> int:
        return len(self._hidden)

    def __bool__(self) -> bool:
        return bool(self._hidden)

    def __int__(self) -> int:
        return int(self._hidden)

    def __float__(self) -> float:
        return float(self._hidden)

    def __repr__(self) -> str:
        return repr(self._hidden)

    def __str__(self) -> str:
        return str(self._hidden)

    def __format__(self, spec: str) -> str:
        return format(self._hidden, spec)

    # Parts of it

    def __getitem__(self, key: Any) -> DeviceArray:
        return DeviceArray(self._hidden[index(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        self._hidden[index(key)] = inside(value)


def inside(value: Any) -> Any:
    """What is in a device array; a Python or NumPy number as it is.

    Raises:
        TypeError: it is anything else, such as a NumPy array.
    """
    if isinstance(value, DeviceArray):
        return value._hidden
    if value is None or isinstance(value, PYTHON_NUMBERS):
        return value
    raise TypeError(f"Unsupported type {type(value)}")


def index(key: Any) -> Any:
    """A key with what is in its device arrays.

    Raises:
        TypeError: there is a NumPy array in it.
    """
    if isinstance(key, tuple):
        return tuple(map(index, key))
    return key if isinstance(key, slice | list | types.EllipsisType) else inside(key)


def argument(value: Any) -> Any:
    """An argument of a function or a method: shapes, dtypes and the like pass, arrays must be of the device."""
    return value if isinstance(value, tuple | str | np.dtype | type) else inside(value)


def outside(result: Any, *given: Any) -> DeviceArray:
    """A result as a device array: one of those given, `out` or one that needed no change, where it is that one's."""
    for array in given:
        if isinstance(array, DeviceArray) and array._hidden is result:
            return array
    return DeviceArray(result)


def refusing(function: Any) -> Any:
    """A NumPy function for arrays of the device."""

    def call(*arguments: Any, **keywords: Any) -> DeviceArray:
        result = function(*map(argument, arguments), **{name: argument(value) for name, value in keywords.items()})
        return outside(result, *arguments, *keywords.values())

    return call


def from_the_host(function: Any) -> Any:
    """One of the two functions that copy to the device, from anything that NumPy makes an array of."""
    refuses = refusing(function)

    def call(data: Any, **keywords: Any) -> DeviceArray:
        return refuses(data if isinstance(data, DeviceArray) else DeviceArray(np.array(data)), **keywords)

    return call


def method(name: str) -> Any:
    """A method of NumPy's arrays for arrays of the device."""
    return lambda self, *arguments, **keywords: refusing(getattr(self._hidden, name))(*arguments, **keywords)


def yields(other: Any) -> bool:
    """Whether the other operand asks to be let first, as the framework's tensors do."""
    return not isinstance(other, DeviceArray) and getattr(other, "__array_ufunc__", True) is None


def binary(function: Any, *, swapped: bool = False, in_place: bool = False) -> Any:
    """An operator of device arrays and numbers."""

    def call(self: DeviceArray, other: Any) -> Any:
        if yields(other):
            return NotImplemented
        value = inside(other)
        if in_place:
            function(self._hidden, value)
            return self
        return DeviceArray(function(value, self._hidden) if swapped else function(self._hidden, value))

    return call


class Ufunc:
    """A universal function, with `at` where CuPy has it."""

    def __init__(self, name: str) -> None:
        self.call = refusing(getattr(np, name))

    def __call__(self, *arguments: Any, **keywords: Any) -> DeviceArray:
        return self.call(*arguments, **keywords)


class Add(Ufunc):
    """The one universal function whose `at` the framework uses."""

    def at(self, array: DeviceArray, key: Any, values: Any) -> None:
        np.add.at(array._hidden, index(key), inside(values))


class PhiloxSeed:
    """CuPy's bit generator `Philox4x3210`; here a seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed


class DeviceGenerator:
    """Draws arrays on the device."""

    def __init__(self, bits: PhiloxSeed) -> None:
        self._hidden = np.random.Generator(np.random.Philox(bits.seed))

    def random(self, size: tuple[int, ...]) -> DeviceArray:
        return DeviceArray(self._hidden.random(size))

    def standard_normal(self, size: tuple[int, ...]) -> DeviceArray:
        return DeviceArray(self._hidden.standard_normal(size))


def completed(array_class: type) -> type:
    """The class with its methods and operators, each made of NumPy's."""
    for name in METHODS:
        setattr(array_class, name, method(name))
    for name in OPERATORS:
        function = getattr(operator, name)
        setattr(array_class, f"__{name}__", binary(function))
        setattr(array_class, f"__r{name}__", binary(function, swapped=True))
        setattr(array_class, f"__i{name}__", binary(getattr(operator, f"i{name}"), in_place=True))
    for name in COMPARISONS:
        setattr(array_class, f"__{name}__", binary(getattr(operator, name)))
    array_class.__neg__ = lambda self: DeviceArray(-self._hidden)
    return array_class


completed(DeviceArray)

MODULE = types.SimpleNamespace(
    __name__="refusing",
    ndarray=DeviceArray,
    random=types.SimpleNamespace(Generator=DeviceGenerator, Philox4x3210=PhiloxSeed),
    **{name: refusing(getattr(np, name)) for name in FUNCTIONS},
    **{name: from_the_host(getattr(np, name)) for name in FROM_THE_HOST},
    **{name: Add(name) if name == "add" else Ufunc(name) for name in UFUNCS},
)
"""The module: `TensorBackend(MODULE, "float32")`."""
