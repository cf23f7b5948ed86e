"""What goes wrong in Linear, Embedding, Dropout and LayerNorm1d."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.misconceptions.registry import misconception, seen_by_property
from grader.twins.layers import Embedding, LayerNorm1d, Linear


@misconception("linear.bias_unused", "linear", blames="p2.linear.forward", section="5.1")
class BiasUnused(Linear):
    """The bias exists and is not added."""

    def forward(self, x: Tensor) -> Tensor:
        """(..., in) @ (in, out) -> (..., out)."""
        return x @ self.weights  # (..., out)


@misconception("linear.gradient_cut", "linear", blames="p2.linear.forward", section="5.1", hides=True)
class InputGradientCut(Linear):
    """The input loses its history on the way in."""

    def forward(self, x: Tensor) -> Tensor:
        """(..., in) -> (..., out)."""
        return super().forward(x.detach())


seen_by_property(
    "linear.weights_bound", blames="p2.linear.init", section="2.2", says="The weights' range is not ±1/sqrt(in_size)."
)
seen_by_property(
    "linear.bias_bound_out_size", blames="p2.linear.init", section="2.2", says="The bias is drawn in ±1/sqrt(out_size)."
)
seen_by_property("linear.bias_zero", blames="p2.linear.init", section="2.2", says="The bias starts at zero.")


@misconception("embedding.gradient_cut", "embedding", blames="p2.embedding.forward", section="4.1", hides=True)
class EmbeddingGradientCut(Embedding):
    """The table is read in a way that leaves no history, so it never learns."""

    def forward(self, ids: Tensor) -> Tensor:
        """(B, S) -> (B, S, D)."""
        return super().forward(ids).detach()


@misconception("embedding.last_one_counts", "embedding", blames="p2.embedding.forward", section="4.1")
class LastOneCounts(Embedding):
    """Of an id that occurs several times, only the last occurrence's gradient is kept (`=` where `+=` is due)."""

    def forward(self, ids: Tensor) -> Tensor:
        """(B, S) -> (B, S, D)."""
        flat = ids.flatten().long()  # (B S,)
        last = {int(token): place for place, token in enumerate(flat)}
        keeps = torch.tensor([last[int(token)] == place for place, token in enumerate(flat)]).reshape(ids.shape)
        rows = super().forward(ids)
        return torch.where(keeps[..., None], rows, rows.detach())  # (B, S, 1) over (B, S, D)


seen_by_property(
    "embedding.uniform",
    blames="p2.embedding.init",
    section="4.1",
    says="The table is drawn uniformly.",
)
seen_by_property(
    "embedding.small", blames="p2.embedding.init", section="4.1", says="The table's standard deviation is not 1."
)
seen_by_property(
    "dropout.not_rescaled", blames="p2.dropout.train", section="7.2", says="What is kept is not multiplied by 1/(1-p)."
)
seen_by_property(
    "dropout.scaled_by_keep",
    blames="p2.dropout.train",
    section="7.2",
    says="What is kept is multiplied by 1-p.",
)
seen_by_property(
    "dropout.inverted",
    blames="p2.dropout.train",
    section="7.2",
    says="A share p is kept, not dropped.",
)
seen_by_property(
    "dropout.other_gradient",
    blames="p2.dropout.train",
    section="7.2",
    says="The gradient does not pass the same mask.",
)
seen_by_property("dropout.same_mask", blames="p2.dropout.fresh", section="7.2", says="Every call draws the same mask.")
seen_by_property(
    "dropout.in_evaluation", blames="p2.dropout.eval", section="7.2", says="Values are dropped in evaluation too."
)


@misconception("layernorm.unbiased", "layer_norm", blames="p2.layernorm.forward", section="5.3")
class Unbiased(LayerNorm1d):
    """The variance divides by n - 1."""

    def variance(self, x: Tensor) -> Tensor:
        """(..., 1)."""
        return x.var(-1, correction=1, keepdim=True)


@misconception("layernorm.eps_outside", "layer_norm", blames="p2.layernorm.eps", section="5.3")
class EpsOutside(LayerNorm1d):
    """eps is added to the standard deviation, outside the root."""

    def deviation(self, x: Tensor) -> Tensor:
        """(..., 1)."""
        return self.variance(x).sqrt() + self.eps


@misconception("layernorm.no_eps", "layer_norm", blames="p2.layernorm.eps", section="5.3")
class NoEps(LayerNorm1d):
    """eps is not used."""

    def deviation(self, x: Tensor) -> Tensor:
        """(..., 1)."""
        return self.variance(x).sqrt()


@misconception("layernorm.no_root", "layer_norm", blames="p2.layernorm.forward", section="5.3")
class NoRoot(LayerNorm1d):
    """Divided by the variance instead of its root."""

    def deviation(self, x: Tensor) -> Tensor:
        """(..., 1)."""
        return self.variance(x) + self.eps


@misconception("layernorm.wrong_axis", "layer_norm", blames="p2.layernorm.forward", section="5.3")
class WrongAxis(LayerNorm1d):
    """Mean and variance are taken over the first axis, as BatchNorm does."""

    def mean(self, x: Tensor) -> Tensor:
        """(1, ...)."""
        return x.mean(0, keepdim=True)

    def variance(self, x: Tensor) -> Tensor:
        """(1, ...)."""
        return x.var(0, correction=0, keepdim=True)


@misconception("layernorm.wrong_axis/sequence", "layer_norm", blames="p2.layernorm.forward", section="5.3")
class SequenceAxis(LayerNorm1d):
    """Mean and variance are taken over the sequence (the last but one axis)."""

    def mean(self, x: Tensor) -> Tensor:
        """(..., 1, D)."""
        return x.mean(-2, keepdim=True)

    def variance(self, x: Tensor) -> Tensor:
        """(..., 1, D)."""
        return x.var(-2, correction=0, keepdim=True)


@misconception("layernorm.not_centred", "layer_norm", blames="p2.layernorm.forward", section="5.3")
class NotCentred(LayerNorm1d):
    """The mean is not subtracted."""

    def mean(self, x: Tensor) -> Tensor:
        """(..., 1); the variance is taken about the real mean all the same."""
        return torch.zeros_like(super().mean(x))


@misconception("layernorm.weights_unused", "layer_norm", blames="p2.layernorm.forward", section="5.3")
class WeightsUnused(LayerNorm1d):
    """The normalised input is not multiplied by the weights."""

    def affine(self, normal: Tensor) -> Tensor:
        """(..., D)."""
        return normal + self.bias


@misconception("layernorm.bias_unused", "layer_norm", blames="p2.layernorm.forward", section="5.3")
class NormBiasUnused(LayerNorm1d):
    """The bias is not added."""

    def affine(self, normal: Tensor) -> Tensor:
        """(..., D)."""
        return normal * self.weights


@misconception("layernorm.statistics_cut", "layer_norm", blames="p2.layernorm.grad", section="5.3")
class StatisticsCut(LayerNorm1d):
    """Mean and variance count as constants in the gradient."""

    def mean(self, x: Tensor) -> Tensor:
        """(..., 1)."""
        return super().mean(x).detach()

    def variance(self, x: Tensor) -> Tensor:
        """(..., 1)."""
        return super().variance(x).detach()
