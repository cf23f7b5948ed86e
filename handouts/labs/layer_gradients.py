"""How large a gradient each block of a new model gets: what Post-LN and Pre-LN differ in before the first step."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assignment.framework import Module, tensor
from handouts.labs.course import nn

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
    logits = model(tensor(text[:, :-1], backend=model.backend))  # (B, S) -> (B, S, V)
    labels = tensor(text[:, 1:].reshape(-1), backend=model.backend)  # (B, S) -> (B S,)
    nn.softmax_loss(logits.view(-1, logits.shape[-1]), labels).mean().backward()  # (B, S, V) -> (B S, V)
    layers = [getattr(model, f"t_layer_{number}") for number in range(1, n_layer + 1)]
    return np.array([np.linalg.norm(layer.ff.linear_out.weights.grad.to_numpy()) for layer in layers])
