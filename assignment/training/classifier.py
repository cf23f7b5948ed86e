"""A classifier of sentences: embedding, non-causal Transformer layers, the mean over the words, a linear map.

Letters in the shapes: B batch, S sequence length, D = n_embd, V = n_vocab.
"""

from __future__ import annotations

from assignment.framework import Adam, Module, Tensor, TensorBackend, default_backend, tensor
from assignment.modules_basic import Embedding, Linear
from assignment.nn import softmax_loss
from assignment.transformer import TransformerLayer

from .steps import Rate, train

CLASSES = 2


class SentenceClassifier(Module):
    """Says of a sentence which of two classes it is of.

    Without positions, nothing in it knows the order of the words: attention without a mask, the feed-forward network
    and the mean treat them all alike. Two sentences of the same words are then the same to it.

    Shapes: ids (B, S) -> logits (B, 2). All sentences of a batch have the same length: there is no padding.

    Args:
        n_vocab: V.
        n_embd: D.
        n_head: number of heads.
        n_positions: longest sentence that it can take with positions.
        n_layer: number of Transformer layers.
        positions: whether there are position embeddings.
        backend: where the parameters live; None: the default backend.

    Attributes:
        token_embeddings: `Embedding` (V, D).
        position_embeddings: `Embedding` (n_positions, D), or None.
        t_layer_1: `TransformerLayer`, and so on to t_layer_<n_layer>; not causal, without dropout.
        head: `Linear` (D, 2).
    """

    def __init__(
        self,
        n_vocab: int,
        n_embd: int,
        n_head: int,
        n_positions: int,
        *,
        n_layer: int = 1,
        positions: bool = True,
        backend: TensorBackend | None = None,
    ) -> None:
        super().__init__()
        self.backend = default_backend() if backend is None else backend
        self.token_embeddings = Embedding(n_vocab, n_embd, backend=self.backend)
        self.position_embeddings = Embedding(n_positions, n_embd, backend=self.backend) if positions else None
        self.n_layer = n_layer
        for number in range(1, n_layer + 1):
            layer = TransformerLayer(n_embd, n_head, p_dropout=0.0, backend=self.backend, causal=False)
            setattr(self, f"t_layer_{number}", layer)
        self.head = Linear(n_embd, CLASSES, bias=True, backend=self.backend)
        self.optimizer: Adam | None = None

    def embed(self, idx: Tensor) -> Tensor:
        """Look up the words, and their places: ids (B, S) -> (B, S, D)."""
        x: Tensor = self.token_embeddings(idx)
        if self.position_embeddings is None:
            return x
        seq_len = idx.shape[1]
        places = tensor([list(range(seq_len))], backend=self.backend)  # (1, S)
        placed: Tensor = x + self.position_embeddings(places)  # (B, S, D) + (1, S, D)
        return placed

    def pool(self, idx: Tensor) -> Tensor:
        """Represent each sentence by the mean of its words: ids (B, S) -> (B, D)."""
        x = self.embed(idx)
        for number in range(1, self.n_layer + 1):
            layer = getattr(self, f"t_layer_{number}")
            x = layer(x)  # (B, S, D)
        batch, _, n_embd = x.shape
        return x.mean(dim=1).contiguous().view(batch, n_embd)  # (B, S, D) -> (B, 1, D) -> (B, D)

    def forward(self, idx: Tensor) -> Tensor:
        """Score the two classes: ids (B, S) -> logits (B, 2)."""
        logits: Tensor = self.head(self.pool(idx))
        return logits

    def learn(self, ids: Tensor, labels: Tensor, lr: Rate) -> Tensor:
        """Take one step of Adam for each batch; called again, it goes on.

        Args:
            ids: (steps, B, S).
            labels: classes 0 and 1, (steps, B).
            lr: the learning rate, or one for each step.

        Returns:
            The losses (steps,), each from before its step.
        """
        self.train()
        self.optimizer = self.optimizer or Adam(self.parameters())

        def loss_of(step: int) -> Tensor:
            return softmax_loss(self(ids[step]), labels[step]).mean()  # (B, 2) and (B,) -> (B,) -> (1,)

        return train(loss_of, ids.shape[0], lr, self.optimizer, self.backend)
