"""How far a function is from an affine one: whether what two inputs change adds up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assignment.framework import Tensor, tensor

Array: TypeAlias = npt.NDArray[Any]


def defect(function: Callable[[Tensor], Tensor], x: Array, y: Array) -> float:
    """Compute |f(x + y) - f(x) - f(y) + f(0)| / |f(x + y) - f(0)|: 0 for f(x) = A x + b, whatever A and b.

    Args:
        function: keeps or changes the shape, the same way for all.
        x: an input.
        y: another, of the same shape.
    """
    both, first, second, none = (function(tensor(part)).to_numpy() for part in (x + y, x, y, np.zeros_like(x)))
    return float(np.linalg.norm(both - first - second + none) / np.linalg.norm(both - none))
