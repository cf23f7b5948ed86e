"""The stream of sums that runs through a model: its size after each block, and what comes out without the last norm."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assignment.framework import Module, Tensor, tensor

Ids: TypeAlias = npt.NDArray[np.int64]
Array: TypeAlias = npt.NDArray[Any]


def after_each_block(model: Module, ids: Ids, n_layer: int) -> list[Tensor]:
    """Run the model on ids (B, S) and keep what each of its blocks t_layer_1 ... hands on: (B, S, D) each."""
    kept: list[Tensor] = []
    layers = [getattr(model, f"t_layer_{number}") for number in range(1, n_layer + 1)]
    forget = [layer.register_forward_hook(lambda _module, _inputs, output: kept.append(output)) for layer in layers]
    model(tensor(ids, backend=model.backend))
    for remove in forget:
        remove()
    return kept


def sizes(model: Module, ids: Ids, n_layer: int) -> Array:
    """Compute the root mean square of what each block hands on, (n_layer,)."""
    return np.array([np.sqrt((stream.to_numpy() ** 2).mean()) for stream in after_each_block(model, ids, n_layer)])


def logits_without_last_norm(model: Module, ids: Ids, n_layer: int) -> Array:
    """Compute what lm_head would make of the last block's output as it is: ids (B, S) -> logits (B, S, V)."""
    logits: Array = model.lm_head(after_each_block(model, ids, n_layer)[-1]).to_numpy()
    return logits
