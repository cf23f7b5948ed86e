"""What goes wrong in MultiHeadAttention."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.misconceptions.registry import misconception, seen_by_property
from grader.twins.attention import HIDDEN, MultiHeadAttention
from grader.twins.functions import softmax


def _added(twin: MultiHeadAttention, scores: Tensor, pad_mask: Tensor | None) -> Tensor:
    """Scores (B, h, S, S) with HIDDEN added where others put it in their place; the two differ where all is hidden."""
    if twin.causal:
        scores = scores + HIDDEN * twin.future(scores.shape[-1])
    return scores if pad_mask is None else scores + HIDDEN * twin.padding(pad_mask)


@misconception("mha.no_scale", "attention", blames="p3.mha.scale", section="2.2")
class NoScale(MultiHeadAttention):
    """The scores are not divided by sqrt(Dh)."""

    def scale(self, head_size: int) -> float:
        """Nothing."""
        del head_size
        return 1.0


@misconception("mha.scale_n_embd", "attention", blames="p3.mha.scale", section="2.2")
class ScaleOfModel(MultiHeadAttention):
    """The scores are divided by sqrt(n_embd), not by the root of the head's own size."""

    def scale(self, head_size: int) -> float:
        """D = h Dh."""
        return float((self.n_head * head_size) ** -0.5)


@misconception("mha.scale_no_root", "attention", blames="p3.mha.scale", section="2.2")
class ScaleWithoutRoot(MultiHeadAttention):
    """The scores are divided by Dh."""

    def scale(self, head_size: int) -> float:
        """Without the root."""
        return 1 / head_size


@misconception("mha.scale_multiplied", "attention", blames="p3.mha.scale", section="2.2")
class ScaleMultiplied(MultiHeadAttention):
    """The scores are multiplied by sqrt(Dh)."""

    def scale(self, head_size: int) -> float:
        """The inverse."""
        return float(head_size**0.5)


@misconception("mha.softmax_over_queries", "attention", blames="p3.mha.heads", section="2.2")
class SoftmaxOverQueries(MultiHeadAttention):
    """The softmax runs over the queries instead of the keys."""

    def weights(self, scores: Tensor) -> Tensor:
        """(B, h, S, S)."""
        return torch.softmax(scores, dim=-2)


@misconception("mha.mask_transposed", "attention", blames="p3.mha.causal", section="2.3")
class MaskTransposed(MultiHeadAttention):
    """The mask hides the past and shows the future."""

    def future(self, seq_len: int) -> Tensor:
        """(S, S)."""
        return super().future(seq_len).T


@misconception("mha.mask_off_by_one", "attention", blames="p3.mha.causal", section="2.3")
class MaskOffByOne(MultiHeadAttention):
    """Every position sees one token too many: the next one."""

    def future(self, seq_len: int) -> Tensor:
        """(S, S)."""
        return torch.ones(seq_len, seq_len, dtype=torch.bool).triu(2)


@misconception("mha.mask_strict", "attention", blames="p3.mha.causal", section="2.3")
class MaskStrict(MultiHeadAttention):
    """A position does not see itself."""

    def future(self, seq_len: int) -> Tensor:
        """(S, S)."""
        return torch.ones(seq_len, seq_len, dtype=torch.bool).triu(0)


@misconception("mha.mask_strict/added", "attention", blames="p3.mha.causal", section="2.3")
class MaskStrictAdded(MaskStrict):
    """… and -1e9 is added, so that in the first row, where all is hidden, the scores still tell."""

    def hide(self, scores: Tensor, pad_mask: Tensor | None) -> Tensor:
        """(B, h, S, S)."""
        return _added(self, scores, pad_mask)


@misconception("mha.mask_missing", "attention", blames="p3.mha.causal", section="2.3")
class MaskMissing(MultiHeadAttention):
    """Nothing hides the future."""

    def future(self, seq_len: int) -> Tensor:
        """(S, S)."""
        return torch.zeros(seq_len, seq_len, dtype=torch.bool)


@misconception("mha.mask_after_softmax", "attention", blames="p3.mha.causal", section="2.3")
class MaskAfterSoftmax(MultiHeadAttention):
    """Future weights are set to zero after the softmax, so that the rest no longer sums to 1."""

    def hide(self, scores: Tensor, pad_mask: Tensor | None) -> Tensor:
        """(B, h, S, S), only the padding."""
        return scores if pad_mask is None else scores.masked_fill(self.padding(pad_mask), HIDDEN)

    def weights(self, scores: Tensor) -> Tensor:
        """(B, h, S, S)."""
        weights = softmax(scores)
        return weights.masked_fill(self.future(scores.shape[-1]), 0.0) if self.causal else weights


@misconception("mha.flag_ignored", "attention", blames="p3.mha.flag", section="2.3")
class FlagIgnored(MultiHeadAttention):
    """The causal mask is applied even with causal=False."""

    def hide(self, scores: Tensor, pad_mask: Tensor | None) -> Tensor:
        """(B, h, S, S)."""
        return super().hide(scores.masked_fill(self.future(scores.shape[-1]), HIDDEN), pad_mask)


@misconception("mha.pad_ignored", "attention", blames="p3.mha.pad", section="2.3")
class PadIgnored(MultiHeadAttention):
    """`pad_mask` is accepted and not used."""

    def padding(self, pad_mask: Tensor) -> Tensor:
        """(B, 1, 1, S)."""
        return torch.zeros_like(super().padding(pad_mask))


@misconception("mha.pad_inverted", "attention", blames="p3.mha.pad", section="2.3")
class PadInverted(MultiHeadAttention):
    """Real tokens are hidden, padding is seen."""

    def padding(self, pad_mask: Tensor) -> Tensor:
        """(B, 1, 1, S)."""
        return ~super().padding(pad_mask)


@misconception("mha.pad_inverted/added", "attention", blames="p3.mha.pad", section="2.3")
class PadInvertedAdded(PadInverted):
    """… and -1e9 is added, so that where all is hidden, the scores still tell."""

    def hide(self, scores: Tensor, pad_mask: Tensor | None) -> Tensor:
        """(B, h, S, S)."""
        return _added(self, scores, pad_mask)


@misconception("mha.pad_hides_queries", "attention", blames="p3.mha.pad", section="2.3")
class PadHidesQueries(MultiHeadAttention):
    """Padded queries are masked (rows) instead of padded keys (columns)."""

    def padding(self, pad_mask: Tensor) -> Tensor:
        """(B, 1, S, 1)."""
        return super().padding(pad_mask).transpose(-1, -2)  # (B, 1, S, 1)


@misconception("mha.pad_hides_queries/added", "attention", blames="p3.mha.pad", section="2.3")
class PadHidesQueriesAdded(PadHidesQueries):
    """… and -1e9 is added, so that where all is hidden, the scores still tell."""

    def hide(self, scores: Tensor, pad_mask: Tensor | None) -> Tensor:
        """(B, h, S, S)."""
        return _added(self, scores, pad_mask)


@misconception("mha.heads_viewed", "attention", blames="p3.mha.heads", section="3.2")
class HeadsViewed(MultiHeadAttention):
    """(B, S, D) is viewed as (B, h, S, Dh) at once, which mixes positions and features."""

    def split_heads(self, x: Tensor) -> Tensor:
        """(B, S, D) -> (B, h, S, Dh)."""
        return x.reshape(x.shape[0], self.n_head, x.shape[1], -1)  # (B, h, S, Dh)


@misconception("mha.heads_not_permuted_back", "attention", blames="p3.mha.heads", section="3.2")
class HeadsNotPermutedBack(MultiHeadAttention):
    """(B, h, S, Dh) is viewed as (B, S, D) without the permute."""

    def merge_heads(self, heads: Tensor) -> Tensor:
        """(B, h, S, Dh) -> (B, S, D)."""
        return heads.reshape(heads.shape[0], heads.shape[2], -1)  # (B, S, D)


@misconception("mha.heads_viewed_both_ways", "attention", blames="p3.mha.heads", section="3.2")
class HeadsViewedBothWays(MultiHeadAttention):
    """Heads are split and merged by view alone."""

    def split_heads(self, x: Tensor) -> Tensor:
        """(B, S, D) -> (B, h, S, Dh)."""
        return x.reshape(x.shape[0], self.n_head, x.shape[1], -1)  # (B, h, S, Dh)

    def merge_heads(self, heads: Tensor) -> Tensor:
        """(B, h, S, Dh) -> (B, S, D)."""
        return heads.reshape(heads.shape[0], heads.shape[2], -1)  # (B, S, D)


@misconception("mha.k_not_transposed", "attention", blames="p3.mha.heads", section="3.2")
class KeysNotTransposed(MultiHeadAttention):
    """k is viewed as (B, h, Dh, S) instead of transposed."""

    def scores(self, q: Tensor, k: Tensor) -> Tensor:
        """(B, h, S, Dh) @ (B, h, Dh, S) -> (B, h, S, S)."""
        viewed = k.reshape(*k.shape[:2], k.shape[3], k.shape[2])  # (B, h, Dh, S)
        return q @ viewed * self.scale(q.shape[-1])  # (B, h, S, S)


@misconception("mha.k_from_q", "attention", blames="p3.mha.heads", section="2.1")
class KeysFromQueries(MultiHeadAttention):
    """The keys are made by q_projection."""

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Three times (B, h, S, Dh)."""
        q, _, v = super().project(x)
        return q, q, v


@misconception("mha.v_from_k", "attention", blames="p3.mha.heads", section="2.1")
class ValuesFromKeys(MultiHeadAttention):
    """The values are made by k_projection."""

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Three times (B, h, S, Dh)."""
        q, k, _ = super().project(x)
        return q, k, k


@misconception("mha.q_and_k_swapped", "attention", blames="p3.mha.heads", section="2.1")
class QueriesAndKeysSwapped(MultiHeadAttention):
    """Queries and keys have changed places."""

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Three times (B, h, S, Dh)."""
        q, k, v = super().project(x)
        return k, q, v


@misconception("mha.no_output_projection", "attention", blames="p3.mha.heads", section="3.1")
class NoOutputProjection(MultiHeadAttention):
    """The joined heads are returned without out_projection."""

    def output(self, joined: Tensor) -> Tensor:
        """(B, S, D)."""
        return joined


@misconception("mha.gradient_cut_q", "attention", blames="p3.mha.grad", section="9.2")
class QueryGradientCut(MultiHeadAttention):
    """The queries lose their history."""

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Three times (B, h, S, Dh)."""
        q, k, v = super().project(x)
        return q.detach(), k, v


@misconception("mha.gradient_cut_k", "attention", blames="p3.mha.grad", section="9.2")
class KeyGradientCut(MultiHeadAttention):
    """The keys lose their history (a transpose of the array instead of the tensor)."""

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Three times (B, h, S, Dh)."""
        q, k, v = super().project(x)
        return q, k.detach(), v


@misconception("mha.gradient_cut_v", "attention", blames="p3.mha.grad", section="9.2")
class ValueGradientCut(MultiHeadAttention):
    """The values lose their history."""

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Three times (B, h, S, Dh)."""
        q, k, v = super().project(x)
        return q, k, v.detach()


seen_by_property(
    "mha.no_dropout", blames="p3.mha.dropout", section="7.2", says="Attention applies no dropout in training."
)
