"""How far Adam moves a parameter at the beginning, in units of the learning rate."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assignment.framework import Adam, Parameter, zeros

Array: TypeAlias = npt.NDArray[Any]

LR = 1e-3
BETA1, BETA2, EPS = 0.9, 0.98, 1e-9
"""Those of Vaswani et al. (2017), section 5.3."""


def moves(gradients: Array) -> Array:
    """Give Adam one gradient after the other.

    Args:
        gradients: (steps, n), for n parameters.

    Returns:
        By what each parameter went down at each step, over the learning rate, (steps, n).
    """
    parameter = Parameter(zeros(gradients.shape[1:]))
    optimizer = Adam([parameter], lr=LR, beta1=BETA1, beta2=BETA2, eps=EPS)
    found = []
    for gradient in gradients:
        before = parameter.value.to_numpy()
        optimizer.zero_grad()
        (parameter.value * gradient).sum().backward()  # whose gradient is `gradient`
        optimizer.step()
        found.append((before - parameter.value.to_numpy()) / LR)
    return np.array(found)


def settled(beta1: float = BETA1) -> float:
    """Compute how large a move is in the end, root mean square, if the gradients are noise of mean 0.

    The mean of the gradients, sum((1 - beta1) beta1^k g), then has the variance (1 - beta1) / (1 + beta1) of one.
    """
    return float(((1 - beta1) / (1 + beta1)) ** 0.5)
