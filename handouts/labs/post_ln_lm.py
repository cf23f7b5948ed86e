"""`DecoderLM` with Post-LN blocks, to train beside the one with Pre-LN blocks."""

from __future__ import annotations

from assignment.framework import Module, Tensor, TensorBackend
from handouts.labs.course import transformer
from handouts.labs.post_ln import PostLNLayer


class PostLNDecoderLM(transformer.DecoderLM):
    """A `DecoderLM` whose blocks are Post-LN, and with no layer norm after the last one, which ends with one.

    Made with a backend of the same seed, it begins with the same numbers as a `DecoderLM`: only the place of the norms
    differs. It has no dropout.

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
        for name in (f"t_layer_{number}" for number in range(1, n_layer + 1)):
            layer = PostLNLayer(n_embd, n_head, 0.0, backend=backend)
            layer.load_state(getattr(self, name).state())
            setattr(self, name, layer)
        self.ln = AsItIs()  # type: ignore[assignment]  # it stands where DecoderLM has a LayerNorm1d


class AsItIs(Module):
    """Stands where no layer norm is wanted."""

    def forward(self, x: Tensor) -> Tensor:
        """Give x back."""
        return x
