# Lösung von Zoë
"""Functions on tensors: some are given, and Problem 1 asks for `logsumexp` and `softmax_loss`.

All are composed of the framework's operations, so each has its gradient by itself. Where a function works along a
dimension `dim`, negative numbers count from the last, and a result that is reduced keeps the dimension, with size 1.
"""

from __future__ import annotations

import math

from assignment import framework
from assignment.framework import Tensor


def GELU(x: Tensor) -> Tensor:  # noqa: N802  # the course's name
    """Compute the Gaussian error linear unit in its tanh form, element by element.

    0.5 x (1 + tanh(u)) with u = sqrt(2/pi) (x + 0.044715 x^3), which equals x sigmoid(2 u).

    Shapes: x of any shape -> the same shape.

    Source: Hendrycks & Gimpel (2016), "Gaussian Error Linear Units", section 2; lecture 6, section 9.1.
    """
    u = (x + x**3 * 0.044715) * math.sqrt(2 / math.pi)
    return x * (u * 2).sigmoid()


def one_hot(input: Tensor, num_classes: int) -> Tensor:
    """Turn ids (...) into vectors (..., num_classes): 1 at the id, 0 elsewhere.

    A product `one_hot(ids, n) @ W` only looks up rows of W; the framework never builds the large matrix for it.

    Raises:
        ValueError: an id is not a whole number from 0 to num_classes - 1.
    """
    return framework.one_hot(input, num_classes)


def max(input: Tensor, dim: int) -> Tensor:
    """Take the largest entries along `dim`, which is kept; the gradient goes to where they stand.

    Shapes: (..., n, ...) -> (..., 1, ...).
    """
    return input.max(dim)


def argmax(input: Tensor, dim: int) -> Tensor:
    """Mark the largest entries along `dim`: 1 where an entry equals the maximum, 0 elsewhere; no gradient.

    Shapes: (..., n, ...) -> the same shape.
    """
    return input == input.max(dim)


def softmax(input: Tensor, dim: int) -> Tensor:
    """Compute exp(x) / sum(exp(x)) along `dim`.

    Shapes: (..., n, ...) -> the same shape, with sums of 1 along `dim`.
    """
    exponentials = (input - input.detach().max(dim)).exp()  # softmax(x - m) is the same for every constant m
    return exponentials / exponentials.sum(dim)


def logsumexp(input: Tensor, dim: int) -> Tensor:
    """Compute log(sum(exp(x))) along `dim`, which is kept, for entries of any size.

    exp(1000) is infinite, so the formula cannot be taken at its word; with the largest entry m along `dim`,
    log(sum(exp(x))) = m + log(sum(exp(x - m))), where nothing overflows. For [1000, 999, 998] it is 1000.407606. The
    result does not depend on m, which may therefore count as a constant (`detach`); the gradient is softmax(x).

    Shapes: (..., n, ...) -> (..., 1, ...).

    Source: lecture 6, section 9.1.
    """
    largest = input.detach().max(dim)  # (..., 1, ...)
    return (input - largest).exp().sum(dim).log() + largest


def logsoftmax(input: Tensor, dim: int) -> Tensor:
    """Compute log(softmax(x)) = x - logsumexp(x) along `dim`.

    Shapes: (..., n, ...) -> the same shape.
    """
    return input - logsumexp(input, dim)


def softmax_loss(logits: Tensor, target: Tensor) -> Tensor:
    """Compute each example's cross-entropy of softmax(logits) and its target class: logsumexp(z) - z_y.

    The losses stay apart: no sum, no mean. The gradient of a loss is softmax(z) - onehot(y).

    Shapes: logits (N, C) and target (N,), class ids 0 ... C - 1 -> losses (N,).

    Source: lecture 6, sections 7.1 and 9.1.
    """
    examples, classes = logits.shape
    chosen = (one_hot(target, classes) * logits).sum(dim=1)  # (N, C) -> (N, 1)
    return (logsumexp(logits, dim=1) - chosen).view(examples)  # (N, 1) -> (N,)
