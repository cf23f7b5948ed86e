"""What goes wrong in logsumexp, softmax_loss and the masked loss of the translation task."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from grader.misconceptions.registry import misconception
from grader.twins.functions import LogSumExp, SoftmaxLoss
from grader.twins.translation import LossFn


@misconception("lse.no_shift", "logsumexp", blames="p1.lse.stable", section="9.1")
class NoShift(LogSumExp):
    """The maximum is not subtracted before exp."""

    def shift(self, z: Tensor, dim: int) -> Tensor:
        """Zero, (..., 1, ...)."""
        return torch.zeros_like(super().shift(z, dim))


@misconception("lse.last_dim", "logsumexp", blames="p1.lse.value", section="9.1")
class LastDim(LogSumExp):
    """The argument `dim` is ignored: always the last dimension."""

    def forward(self, z: Tensor, dim: int) -> Tensor:
        """(..., n) -> (..., 1)."""
        del dim
        return super().forward(z, -1)


@misconception("lse.dim_dropped", "logsumexp", blames="p1.lse.value", section="9.1")
class DimDropped(LogSumExp):
    """The reduced dimension is not kept."""

    def forward(self, z: Tensor, dim: int) -> Tensor:
        """(..., n, ...) -> (..., ...)."""
        return super().forward(z, dim).squeeze(dim)


@misconception("lse.max_not_added_back", "logsumexp", blames="p1.lse.value", section="9.1")
class MaxNotAddedBack(LogSumExp):
    """The maximum is subtracted and never added again."""

    def forward(self, z: Tensor, dim: int) -> Tensor:
        """(..., n, ...) -> (..., 1, ...)."""
        return super().forward(z, dim) - self.shift(z, dim)


@misconception("lse.max_carries_gradient", "logsumexp", blames="p1.lse.grad", section="9.1")
class MaxCarriesGradient(LogSumExp):
    """The maximum added back carries a gradient, the one subtracted does not: softmax + one-hot of the maximum."""

    def forward(self, z: Tensor, dim: int) -> Tensor:
        """(..., n, ...) -> (..., 1, ...)."""
        largest = z.amax(dim, keepdim=True)
        return super().forward(z, dim) + largest - largest.detach()


@misconception("lse.max_gradient_cut", "logsumexp", blames="p1.lse.grad", section="9.1")
class MaxGradientCut(LogSumExp):
    """The maximum subtracted carries a gradient, the one added back does not: softmax - one-hot of the maximum."""

    def forward(self, z: Tensor, dim: int) -> Tensor:
        """(..., n, ...) -> (..., 1, ...)."""
        largest = z.amax(dim, keepdim=True)
        return super().forward(z, dim) - largest + largest.detach()


@misconception("loss.mean", "softmax_loss", blames="p1.loss.value", section="7.1")
class Mean(SoftmaxLoss):
    """The losses are averaged over the batch."""

    def reduce(self, losses: Tensor) -> Tensor:
        """(N,) -> (1,)."""
        return losses.mean().reshape(1)  # (1,)


@misconception("loss.sum", "softmax_loss", blames="p1.loss.value", section="7.1")
class Sum(SoftmaxLoss):
    """The losses are summed over the batch."""

    def reduce(self, losses: Tensor) -> Tensor:
        """(N,) -> (1,)."""
        return losses.sum().reshape(1)  # (1,)


@misconception("loss.sign", "softmax_loss", blames="p1.loss.value", section="7.1")
class Sign(SoftmaxLoss):
    """The log-likelihood, whose sign is the other one."""

    def reduce(self, losses: Tensor) -> Tensor:
        """(N,)."""
        return -losses


@misconception("loss.column", "softmax_loss", blames="p1.loss.value", section="7.1")
class Column(SoftmaxLoss):
    """The losses keep a dimension of size 1."""

    def reduce(self, losses: Tensor) -> Tensor:
        """(N,) -> (N, 1)."""
        return losses[:, None]  # (N, 1)


@misconception("loss.target_gradient_cut", "softmax_loss", blames="p1.loss.grad", section="9.1")
class TargetGradientCut(SoftmaxLoss):
    """The target's logit carries no gradient: softmax without minus one-hot."""

    def chosen(self, logits: Tensor, target: Tensor) -> Tensor:
        """(N, C) -> (N,)."""
        return super().chosen(logits, target).detach()


@misconception("translation.loss_unshifted", "loss_fn", blames="p4.loss", section="7.1")
class Unshifted(LossFn):
    """Each position is asked for its own token instead of the next one."""

    def labels(self, batch: Mapping[str, Tensor]) -> Tensor:
        """(B, S)."""
        return batch["input_ids"]


@misconception("translation.loss_counts_source", "loss_fn", blames="p4.loss", section="6.3")
class CountsSource(LossFn):
    """Every position counts, source and padding too."""

    def weights(self, batch: Mapping[str, Tensor]) -> Tensor:
        """(B, S)."""
        return torch.ones_like(batch["label_token_weights"])


@misconception("translation.loss_weights_inverted", "loss_fn", blames="p4.loss", section="6.3")
class WeightsInverted(LossFn):
    """Source and padding count, the target does not."""

    def weights(self, batch: Mapping[str, Tensor]) -> Tensor:
        """(B, S)."""
        return 1 - batch["label_token_weights"]


@misconception("translation.loss_pad_in_denominator", "loss_fn", blames="p4.loss", section="6.3")
class PadInDenominator(LossFn):
    """The weighted sum is divided by the number of positions, not by the sum of the weights."""

    def mean(self, losses: Tensor, weights: Tensor) -> Tensor:
        """(B S,), (B S,) -> ()."""
        return (losses * weights).mean()


@misconception("translation.loss_sum", "loss_fn", blames="p4.loss", section="6.3")
class WeightedSum(LossFn):
    """The weighted losses are summed, not averaged."""

    def mean(self, losses: Tensor, weights: Tensor) -> Tensor:
        """(B S,), (B S,) -> ()."""
        return (losses * weights).sum()
