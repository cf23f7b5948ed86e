"""What goes wrong in FeedForward, TransformerLayer, DecoderLM and generate."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from grader.misconceptions.registry import misconception, seen_by_property
from grader.twins.model import DecoderLM, FeedForward, TransformerLayer
from grader.twins.parts import RefusalError
from grader.twins.translation import Generate


@misconception("ffn.gelu_erf", "feed_forward", blames="p3.ffn", section="9.1")
class GeluErf(FeedForward):
    """GELU by the error function; the assignment's is the tanh form."""

    def activation(self, x: Tensor) -> Tensor:
        """(B, S, M)."""
        return functional.gelu(x)


@misconception("ffn.relu", "feed_forward", blames="p3.ffn", section="5.1")
class Relu(FeedForward):
    """ReLU, as in the paper of 2017, where the assignment has GELU."""

    def activation(self, x: Tensor) -> Tensor:
        """(B, S, M)."""
        return functional.relu(x)


@misconception("ffn.no_activation", "feed_forward", blames="p3.ffn", section="5.1")
class NoActivation(FeedForward):
    """Two linear maps with nothing between."""

    def activation(self, x: Tensor) -> Tensor:
        """(B, S, M)."""
        return x


@misconception("ffn.no_second_bias", "feed_forward", blames="p3.ffn", section="5.1")
class NoSecondBias(FeedForward):
    """The second linear map's bias is not added."""

    def forward(self, x: Tensor) -> Tensor:
        """(B, S, D) -> (B, S, M) -> (B, S, D)."""
        weights = dict(self.linear_out.named_parameters())["weights"]
        y: Tensor = self.dropout(self.activation(self.linear_in(x)) @ weights)  # (B, S, D)
        return y


@misconception("ffn.activation_after", "feed_forward", blames="p3.ffn", section="5.1")
class ActivationAfter(FeedForward):
    """The activation follows the second linear map too."""

    def forward(self, x: Tensor) -> Tensor:
        """(B, S, D)."""
        return self.activation(super().forward(x))


@misconception("layer.post_ln", "layer", blames="p3.layer", section="5.4")
class PostLN(TransformerLayer):
    """LayerNorm after each residual sum: Post-LN."""

    def attend(self, x: Tensor, pad_mask: Tensor | None) -> Tensor:
        """(B, S, D)."""
        y: Tensor = self.ln_1(x + self.attention(x, pad_mask))
        return y

    def feed(self, x: Tensor) -> Tensor:
        """(B, S, D)."""
        y: Tensor = self.ln_2(x + self.ff(x))
        return y


@misconception("layer.no_attention_residual", "layer", blames="p3.layer", section="5.2")
class NoAttentionResidual(TransformerLayer):
    """x is not added to the attention's output."""

    def attend(self, x: Tensor, pad_mask: Tensor | None) -> Tensor:
        """(B, S, D)."""
        y: Tensor = self.attention(self.ln_1(x), pad_mask)
        return y


@misconception("layer.no_feed_forward_residual", "layer", blames="p3.layer", section="5.2")
class NoFeedForwardResidual(TransformerLayer):
    """x is not added to the feed-forward network's output."""

    def feed(self, x: Tensor) -> Tensor:
        """(B, S, D)."""
        y: Tensor = self.ff(self.ln_2(x))
        return y


@misconception("layer.no_residuals", "layer", blames="p3.layer", section="5.2")
class NoResiduals(TransformerLayer):
    """Neither residual is there."""

    def attend(self, x: Tensor, pad_mask: Tensor | None) -> Tensor:
        """(B, S, D)."""
        y: Tensor = self.attention(self.ln_1(x), pad_mask)
        return y

    def feed(self, x: Tensor) -> Tensor:
        """(B, S, D)."""
        y: Tensor = self.ff(self.ln_2(x))
        return y


@misconception("layer.residual_after_norm", "layer", blames="p3.layer", section="5.4")
class ResidualAfterNorm(TransformerLayer):
    """The normalised x is what is added, so the path along the sums is normalised too."""

    def attend(self, x: Tensor, pad_mask: Tensor | None) -> Tensor:
        """(B, S, D)."""
        normal = self.ln_1(x)
        y: Tensor = normal + self.attention(normal, pad_mask)
        return y

    def feed(self, x: Tensor) -> Tensor:
        """(B, S, D)."""
        normal = self.ln_2(x)
        y: Tensor = normal + self.ff(normal)
        return y


@misconception("layer.no_norms", "layer", blames="p3.layer", section="5.4")
class NoNorms(TransformerLayer):
    """Neither LayerNorm is applied."""

    def attend(self, x: Tensor, pad_mask: Tensor | None) -> Tensor:
        """(B, S, D)."""
        y: Tensor = x + self.attention(x, pad_mask)
        return y

    def feed(self, x: Tensor) -> Tensor:
        """(B, S, D)."""
        y: Tensor = x + self.ff(x)
        return y


@misconception("layer.one_norm_twice", "layer", blames="p3.layer", section="5.4")
class OneNormTwice(TransformerLayer):
    """ln_1 stands before the feed-forward network too."""

    def feed(self, x: Tensor) -> Tensor:
        """(B, S, D)."""
        y: Tensor = x + self.ff(self.ln_1(x))
        return y


@misconception("layer.gradient_doubled", "layer", blames="p3.layer", section="9.2")
class GradientDoubled(TransformerLayer):
    """x += attention(...) in place: the values are right and the residual's gradient counts twice."""

    def attend(self, x: Tensor, pad_mask: Tensor | None) -> Tensor:
        """(B, S, D)."""
        return super().attend(x, pad_mask) + x - x.detach()


@misconception("lm.no_final_norm", "lm", blames="p3.lm.forward", section="5.4")
class NoFinalNorm(DecoderLM):
    """The LayerNorm after the last layer is missing."""

    def head(self, x: Tensor) -> Tensor:
        """(B, S, D) -> (B, S, V)."""
        logits: Tensor = self.lm_head(x)
        return logits


@misconception("lm.no_positions", "lm", blames="p3.lm.forward", section="2.4")
class NoPositions(DecoderLM):
    """Position embeddings are not added."""

    def embed(self, idx: Tensor) -> Tensor:
        """(B, S) -> (B, S, D)."""
        tokens: Tensor = self.token_embeddings(idx)
        return tokens


@misconception("lm.positions_reversed", "lm", blames="p3.lm.forward", section="4.3")
class PositionsReversed(DecoderLM):
    """Positions count down."""

    def positions(self, seq_len: int) -> Tensor:
        """(1, S)."""
        return super().positions(seq_len).flip(-1)


@misconception("lm.positions_from_one", "lm", blames="p3.lm.forward", section="4.3")
class PositionsFromOne(DecoderLM):
    """Positions count from 1, so the last row is out of the table at full length."""

    def positions(self, seq_len: int) -> Tensor:
        """(1, S)."""
        if seq_len == self.n_positions:
            raise RefusalError(f"position {seq_len} is not in a table of {self.n_positions} rows")
        return super().positions(seq_len) + 1


@misconception("lm.positions_first_row_only", "lm", blames="p3.lm.forward", section="4.3")
class PositionsFirstRowOnly(DecoderLM):
    """Positions are added to the first sequence of the batch only."""

    def embed(self, idx: Tensor) -> Tensor:
        """(B, S) -> (B, S, D)."""
        both, tokens = super().embed(idx), self.token_embeddings(idx)
        return torch.cat([both[:1], tokens[1:]])  # (1, S, D) + (B-1, S, D)


@misconception("lm.one_position_for_all", "lm", blames="p3.lm.forward", section="4.3")
class OnePositionForAll(DecoderLM):
    """Every token gets the embedding of position 0."""

    def positions(self, seq_len: int) -> Tensor:
        """(1, S)."""
        return torch.zeros_like(super().positions(seq_len))


@misconception("lm.embeddings_scaled", "lm", blames="p3.lm.forward", section="4.4")
class EmbeddingsScaled(DecoderLM):
    """Token embeddings are multiplied by sqrt(D), as in the paper of 2017."""

    def embed(self, idx: Tensor) -> Tensor:
        """(B, S) -> (B, S, D)."""
        tokens = self.token_embeddings(idx)
        scaled: Tensor = super().embed(idx) + tokens * (tokens.shape[-1] ** 0.5 - 1)
        return scaled


@misconception("lm.first_layer_only", "lm", blames="p3.lm.forward", section="6.3")
class FirstLayerOnly(DecoderLM):
    """The first layer is used in the place of every other."""

    def blocks(self, x: Tensor) -> Tensor:
        """(B, S, D)."""
        first = next(iter(self.layers()))
        for _ in range(self.n_layer):
            x = first(x)
        return x


@misconception("lm.layers_reversed", "lm", blames="p3.lm.forward", section="6.3")
class LayersReversed(DecoderLM):
    """The layers run from the last to the first."""

    def blocks(self, x: Tensor) -> Tensor:
        """(B, S, D)."""
        for layer in reversed(list(self.layers())):
            x = layer(x)
        return x


@misconception("lm.embedding_gradient_cut", "lm", blames="p3.lm.grad", section="9.2")
class EmbeddingsGradientCut(DecoderLM):
    """The embeddings' sum loses its history, so neither table learns."""

    def embed(self, idx: Tensor) -> Tensor:
        """(B, S) -> (B, S, D)."""
        return super().embed(idx).detach()


@misconception("lm.dropout_before_head", "lm", blames="p3.lm.dropout", section="7.2")
class DropoutBeforeHead(DecoderLM):
    """Dropout stands after the final LayerNorm instead of after the embeddings."""

    def drop(self, x: Tensor) -> Tensor:
        """(B, S, D)."""
        return x

    def head(self, x: Tensor) -> Tensor:
        """(B, S, D) -> (B, S, V)."""
        logits: Tensor = self.lm_head(self.dropout(self.ln(x)))
        return logits


seen_by_property(
    "lm.no_dropout", blames="p3.lm.dropout", section="7.2", says="DecoderLM applies no dropout in training."
)
seen_by_property(
    "lm.no_limit", blames="p3.lm.limit", section="4.3", says="A sequence longer than n_positions is accepted."
)


@misconception("generate.last_but_one", "generate", blames="p4.generate", section="7.1")
class LastButOne(Generate):
    """The next token is read from the last position but one."""

    def choose(self, logits: Tensor) -> int:
        """(1, S, V) -> id."""
        return int(logits[0, -2 if logits.shape[1] > 1 else -1].argmax())


@misconception("generate.first_position", "generate", blames="p4.generate", section="7.1")
class FirstPosition(Generate):
    """The next token is read from the first position."""

    def choose(self, logits: Tensor) -> int:
        """(1, S, V) -> id."""
        return int(logits[0, 0].argmax())


@misconception("generate.least_likely", "generate", blames="p4.generate", section="7.1")
class LeastLikely(Generate):
    """The least likely token is taken."""

    def choose(self, logits: Tensor) -> int:
        """(1, S, V) -> id."""
        return int(logits[0, -1].argmin())


@misconception("generate.keeps_source", "generate", blames="p4.generate", section="6.3")
class KeepsSource(Generate):
    """The source is returned with the translation."""

    def complete(self, model: torch.nn.Module, prompt: list[int], end: int, limit: int) -> list[int]:
        """Ids."""
        return [*prompt, *super().complete(model, prompt, end, limit)]


@misconception("generate.keeps_end", "generate", blames="p4.generate", section="6.3")
class KeepsEnd(Generate):
    """The end token is part of the translation."""

    def complete(self, model: torch.nn.Module, prompt: list[int], end: int, limit: int) -> list[int]:
        """Ids."""
        added = super().complete(model, prompt, end, limit)
        return [*added, end] if self.may_go_on(len(prompt) + len(added), limit) else added


@misconception("generate.never_stops", "generate", blames="p4.generate", section="6.3")
class NeverStops(Generate):
    """The end token does not stop it."""

    def complete(self, model: torch.nn.Module, prompt: list[int], end: int, limit: int) -> list[int]:
        """Ids."""
        del end
        return super().complete(model, prompt, -1, limit)


@misconception("generate.in_training", "generate", blames="p4.generate", section="7.2")
class InTraining(Generate):
    """The model is left in training mode, where dropout acts; the model of the check then reads the next row."""

    def complete(self, model: torch.nn.Module, prompt: list[int], end: int, limit: int) -> list[int]:
        """Ids."""
        return super().complete(_Shifted(model), prompt, end, limit)


class _Shifted(torch.nn.Module):
    """A table model that takes each token for the next one."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor) -> Tensor:
        """(B, S) -> (B, S, V)."""
        rows = self.model(ids).shape[-1]
        logits: Tensor = self.model((ids + 1) % rows)
        return logits
