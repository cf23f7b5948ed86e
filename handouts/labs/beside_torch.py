"""One of our modules and its PyTorch twin on the same numbers: how far apart are they?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from assignment.framework import Module, tensor
from handouts.labs.masks import recorded_masks
from handouts.labs.torch_twins import Twin


@dataclass(frozen=True)
class Difference:
    """The largest absolute differences between a module and its twin.

    Attributes:
        output: of the output.
        gradients: of the gradient of each parameter, by dotted name; of the input, too, as "input" (not of ids).
    """

    output: float
    gradients: dict[str, float]

    @property
    def largest(self) -> float:
        """The largest of them all."""
        return max(self.output, *self.gradients.values())


def compare(ours: Module, twin: Twin, x: NDArray[np.float64], p_dropout: float, rng: np.random.Generator) -> Difference:
    """Run both forward and backward on x, from the same parameters and with the same dropout masks.

    Backward starts from random numbers and not from a sum: the gradient of a sum through a softmax or a layer norm is
    0, and would show nothing.

    Args:
        ours: one of our modules.
        twin: its twin; it gets our parameters and masks.
        x: input (B, S, D); whole numbers of shape (B, S) are ids.
        p_dropout: the probability of all dropouts of `ours`.
        rng: draws dL/d(output).
    """
    is_ids = np.issubdtype(x.dtype, np.integer)
    our_x, their_x = tensor(x, requires_grad=not is_ids), torch.from_numpy(x.copy()).requires_grad_(not is_ids)
    twin.copy_from(ours)
    with recorded_masks(ours, p_dropout) as masks:
        our_output = ours(our_x)
    twin.use_masks(masks)
    their_output = twin(their_x)
    cotangent = rng.standard_normal(our_output.shape)
    ours.zero_grad()
    our_output.backward(cotangent)
    their_output.backward(torch.from_numpy(cotangent))
    our_gradients = {name: parameter.grad for name, parameter in ours.named_parameters()}
    their_gradients = {name: parameter.grad for name, parameter in twin.named_parameters()}
    if not is_ids:
        our_gradients["input"], their_gradients["input"] = our_x.grad, their_x.grad
    return Difference(
        _apart(our_output, their_output),
        {name: _apart(our_gradients[name], gradient) for name, gradient in their_gradients.items()},
    )


def _apart(ours: object, theirs: object) -> float:
    """Take the largest absolute difference of two tensors; inf where there is only one, or another shape."""
    if ours is None or theirs is None:
        return np.inf
    a, b = ours.to_numpy(), theirs.detach().numpy()  # type: ignore[attr-defined]  # ours, and PyTorch's
    return float(np.abs(a - b).max()) if a.shape == b.shape else np.inf
