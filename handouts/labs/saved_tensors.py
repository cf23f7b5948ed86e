"""Counts what a PyTorch module keeps in memory for its backward pass."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def saved_numbers(layer: nn.Module, x: Tensor) -> int:
    """Count the numbers that `layer(x)` saves for backward.

    A tensor that several operations save is kept in memory once, and is counted once; the layer's own parameters are
    there anyway, and are not counted.

    Args:
        layer: any module of one input.
        x: its input, which must require a gradient, as it does in the middle of a model.
    """
    parameters = {_address(parameter) for parameter in layer.parameters()}
    kept: dict[int, Tensor] = {}  # holds on to every tensor, so that no address is used twice

    def pack(saved: Tensor) -> Tensor:
        if _address(saved) not in parameters:
            kept[_address(saved)] = saved
        return saved

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda saved: saved):
        layer(x)
    return sum(saved.untyped_storage().nbytes() // saved.element_size() for saved in kept.values())


def _address(of: Tensor) -> int:
    """Where its elements lie: the same for all views of one tensor."""
    return of.untyped_storage().data_ptr()
