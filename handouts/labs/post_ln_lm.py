"""`DecoderLM` with Post-LN blocks, to train beside the one with Pre-LN blocks."""

from __future__ import annotations

from assignment.framework import Tensor, TensorBackend, tensor
from handouts.labs.course import transformer
from handouts.labs.post_ln import PostLNLayer


class PostLNDecoderLM(transformer.DecoderLM):
    """tokens + positions -> n_layer Post-LN blocks (causal) -> linear map to the vocabulary; without dropout.

    There is no layer norm after the last block, which ends with one. Made with a backend of the same seed, it begins
    with the same numbers as a `DecoderLM`: only the place of the norms differs.

    Shapes: ids (B, S) -> logits (B, S, V).

    Args:
        n_vocab: V.
        n_embd: D.
        n_head: number of heads.
        n_positions: longest sequence that the model can take.
        n_layer: number of blocks.
        backend: where the parameters live.

    Source: Xiong et al. (2020), figure 1(a) and section 3.1.
    """

    def __init__(
        self, n_vocab: int, n_embd: int, n_head: int, n_positions: int, *, n_layer: int, backend: TensorBackend
    ) -> None:
        super().__init__(n_vocab, n_embd, n_head, n_positions, 0.0, backend=backend, n_layer=n_layer)
        self.names = [f"t_layer_{number}" for number in range(1, n_layer + 1)]
        for name in self.names:
            layer = PostLNLayer(n_embd, n_head, 0.0, backend=backend)
            layer.load_state(getattr(self, name).state())
            setattr(self, name, layer)
        del self.ln

    def forward(self, idx: Tensor) -> Tensor:
        """Compute the logits (B, S, V) of the next token after every position of ids (B, S)."""
        positions = tensor([list(range(idx.shape[1]))], backend=self.backend)  # (1, S)
        x = self.token_embeddings(idx) + self.position_embeddings(positions)  # (B, S, D) + (1, S, D)
        for name in self.names:
            x = getattr(self, name)(x)
        logits: Tensor = self.lm_head(x)  # (B, S, D) -> (B, S, V)
        return logits
