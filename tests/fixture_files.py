"""The arrays in `tests/fixtures/`: seeded inputs and parameters, and what a right implementation makes of them.

The expected arrays were computed in float64 by PyTorch modules with the same parameters, not by the framework.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from hints import with_lookalikes

from assignment.framework import Module, tensor_from_numpy

FOLDER = Path(__file__).resolve().parent / "fixtures"


@dataclass(frozen=True)
class Fixture:
    """One file.

    Attributes:
        inputs: what goes into the call, by name.
        parameters: the values of the module's parameters, by dotted name.
        cotangent: dL/d(out), what to call `backward` with; None where no gradients are compared.
        out: what the call must return.
        gradients: what must then be in `.grad` of an input, by name.
        parameter_gradients: the same for the module's parameters.
    """

    inputs: dict[str, Any]
    parameters: dict[str, Any]
    cotangent: Any
    out: Any
    gradients: dict[str, Any]
    parameter_gradients: dict[str, Any]

    def load_into(self, module: Module) -> None:
        """Give the module's parameters this file's values."""
        __tracebackhide__ = True
        own = dict(module.named_parameters())
        for name, value in self.parameters.items():
            if name not in own and name == "lm_head.bias":
                continue  # it is 0 in every file: a head without bias is right too
            kind = type(module).__name__
            assert name in own, f"{kind} has no parameter {name}; it has {', '.join(own) or 'none'}"
            shape = own[name].value.shape
            # How wide the feed-forward network of a layer is, is your choice: it gets this file's width.
            free = "ff.linear_" in name
            assert free or shape == value.shape, f"{kind}: {name} has shape {shape}, expected {value.shape}"
            own[name].value = tensor_from_numpy(value, backend=own[name].value.backend)


def fixture(name: str) -> Fixture:
    """Read `tests/fixtures/<name>.npz`."""
    with np.load(FOLDER / f"{name}.npz", allow_pickle=False) as file:
        content = dict(file)
    arrays = {key: with_lookalikes(key, content) for key in content}

    def group(prefix: str) -> dict[str, Any]:
        return {key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)}

    return Fixture(
        inputs=group("input."),
        parameters=group("parameter."),
        cotangent=arrays.get("cotangent"),
        out=arrays["out"],
        gradients=group("gradient."),
        parameter_gradients=group("parameter_gradient."),
    )
