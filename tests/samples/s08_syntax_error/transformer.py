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
        if n_embd % n_head != 0:
            raise ValueError(f"n_embd {n_embd} cannot be split over {n_head} heads; choose a multiple of {n_head}")
        self.backend = backend or default_backend()
        self.n_head = n_head
        self.head_size = n_embd // n_head
        self.causal = causal
        self.q_projection = Linear(n_embd, n_embd, bias=bias, backend=self.backend)
        self.k_projection = Linear(n_embd, n_embd, bias=bias, backend=self.backend)
        self.v_projection = Linear(n_embd, n_embd, bias=bias, backend=self.backend)
        self.out_projection = Linear(n_embd, n_embd, bias=bias, backend=self.backend)
        self.dropout = Dropout(p_dropout)

    def create_causal_mask(self, seq_len: int) -> Tensor
        """Make what is added to the scores so that no position sees a later one.

        Returns:
            (1, 1, S, S): 0 where key j <= query i, and HIDDEN (-1e9) where j > i. It broadcasts over batch and heads.
        """
        positions = tensor(list(range(seq_len)), backend=self.backend)
        queries = positions.view(1, 1, seq_len, 1)  # (1, 1, S, 1)
        keys = positions.view(1, 1, 1, seq_len)  # (1, 1, 1, S)
        return (keys > queries) * HIDDEN  # (1, 1, S, S)

    def project_to_query_key_value(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Project x (B, S, D) three times and split each result into heads.

        Head i takes the features i Dh ... (i+1) Dh - 1.

        Returns:
            q (B, h, S, Dh), kT (B, h, Dh, S) and v (B, h, S, Dh).
        """
        batch, seq_len, _ = x.shape
        split = (batch, seq_len, self.n_head, self.head_size)
        q = self.q_projection(x).view(*split).permute(0, 2, 1, 3)  # (B, S, D) -> (B, S, h, Dh) -> (B, h, S, Dh)
        kT = self.k_projection(x).view(*split).permute(0, 2, 3, 1)  # (B, S, D) -> (B, S, h, Dh) -> (B, h, Dh, S)
        v = self.v_projection(x).view(*split).permute(0, 2, 1, 3)  # (B, S, D) -> (B, S, h, Dh) -> (B, h, S, Dh)
        return q, kT, v

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
        batch, n_head, seq_len, head_size = q.shape
        scores = q @ kT * head_size**-0.5  # (B, h, S, Dh) @ (B, h, Dh, S) -> (B, h, S, S)
        if self.causal:
            scores = scores + self.create_causal_mask(seq_len)
        if pad_mask is not None:
            scores = scores + pad_mask.view(batch, 1, 1, seq_len) * HIDDEN  # (B, 1, 1, S): the same for every query
        weights: Tensor = self.dropout(softmax(scores, dim=3))
        heads = weights @ v  # (B, h, S, S) @ (B, h, S, Dh) -> (B, h, S, Dh)
        side_by_side = heads.permute(0, 2, 1, 3).contiguous()  # (B, S, h, Dh)
        return side_by_side.view(batch, seq_len, n_head * head_size)  # (B, S, D)

    def forward(self, x: Tensor, pad_mask: Tensor | None = None) -> Tensor:
        """Attend.

        Args:
            x: (B, S, D).
            pad_mask: (B, S), 1 (true) at positions that no query may see, such as padding; None: no such position.

        Returns:
            (B, S, D).
        """
        q, kT, v = self.project_to_query_key_value(x)
        y: Tensor = self.out_projection(self.self_attention(q, kT, v, pad_mask))
        return y


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
        width = 4 * n_embd if middle_dim is None else middle_dim
        self.linear_in = Linear(n_embd, width, bias=bias, backend=backend)
        self.linear_out = Linear(width, n_embd, bias=bias, backend=backend)
        self.dropout = Dropout(p_dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Map x (B, S, D) to (B, S, D), each position by itself."""
        y: Tensor = self.dropout(self.linear_out(GELU(self.linear_in(x))))
        return y


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
        self.ln_1 = LayerNorm1d(n_embd, ln_eps, backend)
        self.attention = MultiHeadAttention(n_embd, n_head, causal, p_dropout, bias, backend)
        self.ln_2 = LayerNorm1d(n_embd, ln_eps, backend)
        self.ff = FeedForward(n_embd, p_dropout=p_dropout, bias=bias, backend=backend)

    def forward(self, x: Tensor, pad_mask: Tensor | None = None) -> Tensor:
        """Run the block.

        Args:
            x: (B, S, D).
            pad_mask: (B, S), 1 at positions that no query may see; None: no such position.

        Returns:
            (B, S, D).
        """
        x = x + self.attention(self.ln_1(x), pad_mask)
        y: Tensor = x + self.ff(self.ln_2(x))
        return y


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
        self.backend = backend or default_backend()
        self.n_positions = n_positions
        self.token_embeddings = Embedding(n_vocab, n_embd, self.backend)
        self.position_embeddings = Embedding(n_positions, n_embd, self.backend)
        self.layer_names = [f"t_layer_{i}" for i in range(1, n_layer + 1)]
        for name in self.layer_names:
            setattr(self, name, TransformerLayer(n_embd, n_head, p_dropout, ln_eps, bias, self.backend))
        self.dropout = Dropout(p_dropout)
        self.ln = LayerNorm1d(n_embd, ln_eps, self.backend)
        self.lm_head = Linear(n_embd, n_vocab, bias=bias, backend=self.backend)

    def forward(self, idx: Tensor) -> Tensor:
        """Compute the logits of the next token after every position.

        Args:
            idx: token ids (B, S).

        Returns:
            (B, S, V): entry [b, s] scores what comes after idx[b, :s+1].

        Raises:
            ValueError: S is larger than n_positions.
        """
        _, seq_len = idx.shape
        if seq_len > self.n_positions:
            raise ValueError(
                f"a sequence of {seq_len} tokens arrived, but the model has n_positions={self.n_positions}; "
                "shorten the sequence or build the model with more positions"
            )
        positions = tensor(list(range(seq_len)), backend=self.backend).view(1, seq_len)  # (1, S)
        x = self.token_embeddings(idx) + self.position_embeddings(positions)  # (B, S, D) + (1, S, D)
        x = self.dropout(x)
        for name in self.layer_names:
            x = getattr(self, name)(x)
        logits: Tensor = self.lm_head(self.ln(x))  # (B, S, D) -> (B, S, V)
        return logits
