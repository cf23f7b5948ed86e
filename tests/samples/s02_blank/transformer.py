"""Problem 3: a decoder-only Transformer with Pre-LN blocks, as in GPT-2.

Letters in the shapes: B batch, S sequence length, D = n_embd, h = n_head, Dh = D / h the size of one head, V = n_vocab.

Sources: Vaswani et al. (2017), "Attention Is All You Need"; Xiong et al. (2020), "On Layer Normalization in the
Transformer Architecture"; Radford et al. (2019), "Language Models are Unsupervised Multitask Learners"; lecture 6.
"""

from __future__ import annotations

from assignment.framework import Module, Tensor, TensorBackend, default_backend, tensor

from .modules_basic import Dropout, Embedding, LayerNorm1d, Linear
from .nn import GELU, softmax

HIDDEN = -1e9
"""Added to a score that must not count: exp(HIDDEN - max) is exactly 0, and unlike -inf it never makes a NaN."""


class MultiHeadAttention(Module):
    """Self-attention with several heads: softmax(q kT / sqrt(Dh) + mask) v in each, then joined and projected.

    Shapes: x (B, S, D) -> (B, S, D).

    Args:
        n_embd: D, a multiple of n_head.
        n_head: number of heads h.
        causal: whether a position sees only itself and what is before it.
        p_dropout: probability of dropping an attention weight.
        bias: whether the four projections have a bias.
        backend: where the parameters live; None: the default backend.

    Attributes:
        q_projection: `Linear` (D, D), and so are k_projection, v_projection and out_projection.
        dropout: `Dropout`, applied to the attention weights (after the softmax).

    Raises:
        ValueError: n_embd is not a multiple of n_head.

    Source: Vaswani et al. (2017), section 3.2; lecture 6, sections 2 and 3.
    """

    def __init__(
        self,
        n_embd: int,
        n_head: int,
        causal: bool = True,
        p_dropout: float = 0.1,
        bias: bool = True,
        backend: TensorBackend | None = None,
    ) -> None:
        super().__init__()
        raise NotImplementedError("Problem 3: MultiHeadAttention.__init__ is not written yet")

    def create_causal_mask(self, seq_len: int) -> Tensor:
        """Make what is added to the scores so that no position sees a later one.

        Returns:
            (1, 1, S, S): 0 where key j <= query i, and HIDDEN (-1e9) where j > i. It broadcasts over batch and heads.
        """
        raise NotImplementedError("Problem 3: MultiHeadAttention.create_causal_mask is not written yet")

    def project_to_query_key_value(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Project x (B, S, D) three times and split each result into heads.

        Head i takes the features i Dh ... (i+1) Dh - 1.

        Returns:
            q (B, h, S, Dh), kT (B, h, Dh, S) and v (B, h, S, Dh).
        """
        raise NotImplementedError("Problem 3: MultiHeadAttention.project_to_query_key_value is not written yet")

    def self_attention(self, q: Tensor, kT: Tensor, v: Tensor, pad_mask: Tensor | None = None) -> Tensor:
        """Let every query look at the keys and take the weighted mean of the values; then put the heads side by side.

        Args:
            q: (B, h, S, Dh).
            kT: (B, h, Dh, S).
            v: (B, h, S, Dh).
            pad_mask: (B, S), 1 at positions that no query may see; None: no such position.

        Returns:
            (B, S, D), before the output projection.
        """
        raise NotImplementedError("Problem 3: MultiHeadAttention.self_attention is not written yet")

    def forward(self, x: Tensor, pad_mask: Tensor | None = None) -> Tensor:
        """Attend.

        Args:
            x: (B, S, D).
            pad_mask: (B, S), 1 (true) at positions that no query may see, such as padding; None: no such position.

        Returns:
            (B, S, D).
        """
        raise NotImplementedError("Problem 3: MultiHeadAttention.forward is not written yet")


class FeedForward(Module):
    """Two linear maps with a GELU between them, the same at every position: dropout(GELU(x W1 + b1) W2 + b2).

    Shapes: x (B, S, D) -> (B, S, D).

    Args:
        n_embd: D.
        middle_dim: size between the two maps; None: 4 D.
        p_dropout: probability of dropping an entry of the output.
        bias: whether the two maps have a bias.
        backend: where the parameters live; None: the default backend.

    Attributes:
        linear_in: `Linear` (D, middle_dim).
        linear_out: `Linear` (middle_dim, D).
        dropout: `Dropout`, applied to the output.

    Source: Vaswani et al. (2017), section 3.3, with GELU for ReLU; lecture 6, section 5.1.
    """

    def __init__(
        self,
        n_embd: int,
        middle_dim: int | None = None,
        p_dropout: float = 0.1,
        bias: bool = True,
        backend: TensorBackend | None = None,
    ) -> None:
        super().__init__()
        raise NotImplementedError("Problem 3: FeedForward.__init__ is not written yet")

    def forward(self, x: Tensor) -> Tensor:
        """Map x (B, S, D) to (B, S, D), each position by itself."""
        raise NotImplementedError("Problem 3: FeedForward.forward is not written yet")


class TransformerLayer(Module):
    """A Pre-LN block: x = x + attention(ln_1(x)), then x = x + ff(ln_2(x)).

    The path from input to output along the two sums has no normalisation on it, which is what keeps deep models
    trainable.

    Shapes: x (B, S, D) -> (B, S, D).

    Args:
        n_embd: D.
        n_head: number of heads.
        p_dropout: probability for the dropouts of attention and feed-forward.
        ln_eps: eps of the two layer norms.
        bias: whether the linear maps have a bias.
        backend: where the parameters live; None: the default backend.
        causal: whether a position sees only itself and what is before it.

    Attributes:
        ln_1: `LayerNorm1d` (D) before the attention.
        attention: `MultiHeadAttention`.
        ln_2: `LayerNorm1d` (D) before the feed-forward.
        ff: `FeedForward`.

    Source: Xiong et al. (2020), figure 1(b); lecture 6, section 5.4.
    """

    def __init__(
        self,
        n_embd: int,
        n_head: int,
        p_dropout: float = 0.1,
        ln_eps: float = 1e-5,
        bias: bool = True,
        backend: TensorBackend | None = None,
        *,
        causal: bool = True,
    ) -> None:
        super().__init__()
        raise NotImplementedError("Problem 3: TransformerLayer.__init__ is not written yet")

    def forward(self, x: Tensor, pad_mask: Tensor | None = None) -> Tensor:
        """Run the block.

        Args:
            x: (B, S, D).
            pad_mask: (B, S), 1 at positions that no query may see; None: no such position.

        Returns:
            (B, S, D).
        """
        raise NotImplementedError("Problem 3: TransformerLayer.forward is not written yet")


class DecoderLM(Module):
    """A decoder-only language model: logits of the next token after every position.

    tokens + positions -> dropout -> n_layer Pre-LN blocks (causal) -> layer norm -> linear map to the vocabulary.

    Shapes: ids (B, S) -> logits (B, S, V).

    Args:
        n_vocab: V.
        n_embd: D.
        n_head: number of heads.
        n_positions: longest sequence that the model can take.
        p_dropout: probability for every dropout.
        ln_eps: eps of every layer norm.
        bias: whether the linear maps have a bias.
        backend: where the parameters live; None: the default backend.
        n_layer: number of blocks.

    Attributes:
        token_embeddings: `Embedding` (V, D).
        position_embeddings: `Embedding` (n_positions, D).
        t_layer_1: `TransformerLayer`, and so on to t_layer_<n_layer>.
        dropout: `Dropout`, applied to the sum of the two embeddings.
        ln: `LayerNorm1d` (D) after the last block.
        lm_head: `Linear` (D, V).

    Source: Radford et al. (2019), section 2.3; lecture 6, sections 4.3 and 6.3.
    """

    def __init__(
        self,
        n_vocab: int,
        n_embd: int,
        n_head: int,
        n_positions: int,
        p_dropout: float = 0.1,
        ln_eps: float = 1e-5,
        bias: bool = True,
        backend: TensorBackend | None = None,
        *,
        n_layer: int = 4,
    ) -> None:
        super().__init__()
        raise NotImplementedError("Problem 3: DecoderLM.__init__ is not written yet")

    def forward(self, idx: Tensor) -> Tensor:
        """Compute the logits of the next token after every position.

        Args:
            idx: token ids (B, S).

        Returns:
            (B, S, V): entry [b, s] scores what comes after idx[b, :s+1].

        Raises:
            ValueError: S is larger than n_positions.
        """
        raise NotImplementedError("Problem 3: DecoderLM.forward is not written yet")
