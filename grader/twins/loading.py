"""Parameters of a submission copied into a twin of the same parameter names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn

from grader.errors import IncomparableError

from .model import FeedForward

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from grader.case import Answer, Array, Case

    from .parts import Part

OWN = "param."
WIDTH_AXIS = {"linear_in.weights": 1, "linear_in.bias": 0, "linear_out.weights": 0}
"""Where the width of a feed-forward network stands in the shapes of its parameters."""


def effective_parameters(case: Case, answer: Answer, part: Part) -> dict[str, Array]:
    """Collect the values that the submission's module really computed with.

    Those of the case, but the submission's own where the case gives none, and for a feed-forward network of another
    width. Nothing else that the submission says of itself replaces a value of the case.
    """
    own = {name.removeprefix(OWN): value for name, value in answer.arrays.items() if name.startswith(OWN)}
    if case.parameters is None:
        return own
    values = dict(case.parameters)
    for name in answer.reshaped:
        if name in own and (name in free_widths(part) or has_any_shape(part, name)):
            values[name] = own[name]
    for name in answer.absent:
        if name.rpartition(".")[2] == "bias":
            values.pop(name, None)
    return values


def copy_from(part: Part, values: Mapping[str, Array]) -> None:
    """Give the twin's parameters these values, a bias that is not among them 0, and any other NaN.

    Raises:
        IncomparableError: a value has a shape with which the twin cannot compute.
    """
    free = free_widths(part)
    widths: dict[str, int] = {}
    for name, parameter in part.named_parameters():
        owner, _, leaf = name.rpartition(".")
        if name not in values:
            continue
        shape = list(parameter.shape)
        value = torch.tensor(values[name], dtype=torch.float64)
        if name in free and value.ndim == len(shape):
            feed_forward, axis = free[name]
            shape[axis] = widths.setdefault(feed_forward, value.shape[axis])
        if list(value.shape) != shape and not has_any_shape(part, name):
            raise IncomparableError(f"parameter {name} has shape {tuple(value.shape)}; the twin's is {tuple(shape)}")
        setattr(part.get_submodule(owner), leaf, nn.Parameter(value))
    zero_missing_biases(part, values, widths)


def has_any_shape(part: Part, name: str) -> bool:
    """Say whether the parameter of that name belongs to a twin that takes any shape."""
    owner = part.get_submodule(name.rpartition(".")[0]) if name in dict(part.named_parameters()) else None
    return bool(getattr(owner, "any_shape", False))


def zero_missing_biases(part: Part, values: Mapping[str, Array], widths: Mapping[str, int]) -> None:
    """Set every bias that has no value to 0, as wide as its network is."""
    free = free_widths(part)
    for name, parameter in list(part.named_parameters()):
        owner, _, leaf = name.rpartition(".")
        if leaf == "bias" and name not in values:
            size = widths.get(free[name][0], parameter.numel()) if name in free else parameter.numel()
            setattr(part.get_submodule(owner), leaf, nn.Parameter(torch.zeros(size, dtype=torch.float64)))


def free_widths(part: Part) -> dict[str, tuple[str, int]]:
    """Map the parameters whose width a submission may choose to their network's path and the axis of the width."""
    return dict(_free_widths(part))


def _free_widths(part: Part) -> Iterator[tuple[str, tuple[str, int]]]:
    for path, module in part.named_modules():
        if isinstance(module, FeedForward) and module.width_is_free:
            for leaf, axis in WIDTH_AXIS.items():
                yield (f"{path}.{leaf}" if path else leaf), (path, axis)
