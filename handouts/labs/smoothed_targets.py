"""What label smoothing asks a model for: targets, a gap between logits, and the answer that is best on average."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assignment.framework import tensor
from assignment.training import smoothing
from handouts.labs.course import nn

Array: TypeAlias = npt.NDArray[Any]

ALL, OTHERS = "all", "others"
"""The two conventions of `assignment.training.smoothing`: PyTorch's, and that of the lecture's slides."""


def target(n_classes: int, right: int, eps: float, convention: str) -> Array:
    """Make the smoothed target (C,) of one example, whose right class is `right`."""
    one_hot = np.zeros(n_classes)
    one_hot[right] = 1.0
    return best_answer(one_hot, eps, convention)


def best_answer(p: Array, eps: float, convention: str) -> Array:
    """Compute the mean smoothed target where the right class is drawn from p (..., V).

    A cross-entropy is least where the answer is the mean target, so this is what a model ends with that learns without
    error: with "all" (1 - eps) p + eps / V.

    Raises:
        ValueError: `convention` is neither of the two.
    """
    classes = p.shape[-1]
    if convention == ALL:
        others: Array | float = eps / classes
    elif convention == OTHERS:
        others = eps * (1 - p) / (classes - 1)
    else:
        raise ValueError(f"convention {convention!r}; expected {ALL} or {OTHERS}")
    answer: Array = (1 - eps) * p + others
    return answer


def best_gap(n_classes: int, eps: float) -> float:
    """Compute by how much the right logit is to exceed the others, with "others": log((1 - eps)(V - 1) / eps)."""
    return math.log((1 - eps) * (n_classes - 1) / eps)


def gradient(logits: Array, right: int, eps: float, convention: str) -> Array:
    """Find the gradient (C,) of the smoothed loss, yours and what the course adds, at one example's logits (C,)."""
    z = tensor(logits[None, :], requires_grad=True)  # (1, C)
    label, weight = tensor([right]), tensor([1.0])  # (1,) each
    loss = nn.softmax_loss(z, label) + smoothing.addition(z, label, weight, eps, convention)  # (1,)
    loss.backward()
    assert z.grad is not None  # it was asked for
    found: Array = z.grad.to_numpy()[0]
    return found
