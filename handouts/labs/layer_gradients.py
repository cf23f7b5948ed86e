"""How large a gradient each block of a new model gets: what Post-LN and Pre-LN differ in before the first step."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assignment.framework import Module
from handouts.labs.city_training import mean_loss

Ids: TypeAlias = npt.NDArray[np.int64]
Array: TypeAlias = npt.NDArray[Any]


def gradient_norms(model: Module, text: Ids, n_layer: int) -> Array:
    """Compute the length of the gradient of ff.linear_out.weights in every block.

    Args:
        model: its blocks are t_layer_1 to t_layer_<n_layer>; its gradients are set anew.
        text: ids (B, S + 1).
        n_layer: L.

    Returns:
        (L,), the block next to the input first.

    Source: Xiong et al. (2020), section 3.3 and figure 3, which show these matrices.
    """
    model.zero_grad()
    mean_loss(model, text).backward()
    layers = [getattr(model, f"t_layer_{number}") for number in range(1, n_layer + 1)]
    return np.array([np.linalg.norm(layer.ff.linear_out.weights.grad.to_numpy()) for layer in layers])
