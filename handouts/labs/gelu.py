"""The tanh form of GELU in its usual writing, to be laid beside x sigmoid(2u)."""

from __future__ import annotations

import math

from assignment.framework import Tensor


def tanh_gelu(x: Tensor) -> Tensor:
    """Compute 0.5 x (1 + tanh(u)) with u = sqrt(2/pi) (x + 0.044715 x^3), element by element.

    Shapes: x of any shape -> the same shape.

    Source: Hendrycks & Gimpel (2016), "Gaussian Error Linear Units", section 2.
    """
    u = (x + x**3 * 0.044715) * math.sqrt(2 / math.pi)
    return x * (u.tanh() + 1) * 0.5
