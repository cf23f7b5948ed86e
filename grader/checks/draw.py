"""Where a check's numbers come from: one generator a check, derived from the class's secret seed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.case import Json
from grader.checks import shapes

FloatArray = npt.NDArray[np.float64]


class Draw:
    """The random numbers of one check; the same for every submission of a class.

    Args:
        generator: seeded from the secret seed and the check's id.
    """

    def __init__(self, generator: np.random.Generator) -> None:
        self.generator = generator

    def normal(self, *shape: int, scale: float = 1.0) -> FloatArray:
        """N(0, scale²)."""
        return self.generator.standard_normal(shape) * scale

    def ids(self, n: int, *shape: int) -> FloatArray:
        """Token ids 0 … n-1, as the framework holds them (floats)."""
        return self.generator.integers(0, n, shape).astype(np.float64)

    def seed(self) -> int:
        """The public seed of a case, for the student's own random numbers."""
        return int(self.generator.integers(2**31))

    def parameters(self, target: str, arguments: Mapping[str, Json]) -> dict[str, FloatArray]:
        """Values for every parameter of the target, none of them at its initial value.

        Weight matrices have the scale that keeps a layer's output at unit size; LayerNorm weights are not 1 and no
        bias is 0, so that an unused one shows.
        """
        return {name: self._parameter(name, shape) for name, shape in shapes.of(target, arguments).items()}

    def start(self, target: str, arguments: Mapping[str, Json]) -> dict[str, FloatArray]:
        """Values from which the target learns well: those that the assignment asks for."""
        return {name: self._initial(name, shape) for name, shape in shapes.of(target, arguments).items()}

    def _initial(self, name: str, shape: tuple[int, ...]) -> FloatArray:
        if "embeddings" in name:
            return self.normal(*shape)
        path, _, leaf = name.rpartition(".")
        if path.rpartition(".")[2].startswith("ln"):
            return np.full(shape, float(leaf == "weights"))
        if leaf == "bias":
            return np.zeros(shape)
        bound = float(shape[0]) ** -0.5
        return self.generator.uniform(-bound, bound, shape)

    def _parameter(self, name: str, shape: tuple[int, ...]) -> FloatArray:
        if name.endswith("bias"):
            return self.normal(*shape, scale=0.5)
        if len(shape) == 1:  # LayerNorm weights
            return 1.0 + self.normal(*shape, scale=0.5)
        if "embeddings" in name:
            return self.normal(*shape)
        return self.normal(*shape, scale=float(shape[0]) ** -0.5)


def other(draw: Draw, array: npt.NDArray[Any], n: int) -> FloatArray:
    """Ids that differ from `array` everywhere."""
    shift = draw.generator.integers(1, n, array.shape)
    return np.asarray((array + shift) % n, dtype=np.float64)
