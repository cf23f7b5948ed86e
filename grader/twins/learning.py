"""Twins of what learns: a classifier of sentences and a translator, built of the twins of a student's modules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from .parts import Part

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from .parts import Parts

BETA_1, BETA_2, EPS = 0.9, 0.999, 1e-8
BATCH = ("input_ids", "labels", "label_token_weights")


class Learner(Part):
    """What can be trained. `learn` moves its parameters, so it is used once."""

    methods = frozenset({"learn"})
    held: Collection[str] = ()
    """Names of the parameters that the submission has; a bias that it lacks stays 0."""

    def train_on(self, losses: Callable[[int], Tensor], steps: int, lr: float) -> Tensor:
        """Take one step of Adam a loss; return the losses (steps,)."""
        moved = [parameter for name, parameter in self.named_parameters() if name in self.held]
        moments = [(torch.zeros_like(parameter), torch.zeros_like(parameter)) for parameter in moved]
        found = []
        for step in range(steps):
            loss = losses(step)
            gradients = torch.autograd.grad(loss.sum(), moved, allow_unused=True)
            for parameter, gradient, (mean, square) in zip(moved, gradients, moments, strict=True):
                if gradient is not None:
                    adam(parameter, gradient, mean, square, step + 1, lr)
            found.append(loss.detach().reshape(()))  # (1,) -> ()
        return torch.stack(found)


@torch.no_grad()
def adam(parameter: Tensor, gradient: Tensor, mean: Tensor, square: Tensor, count: int, lr: float) -> None:
    """Move a parameter, and both moments, in place (Kingma and Ba 2015, algorithm 1)."""
    mean.mul_(BETA_1).add_(gradient, alpha=1 - BETA_1)
    square.mul_(BETA_2).addcmul_(gradient, gradient, value=1 - BETA_2)
    corrected_mean, corrected_square = mean / (1 - BETA_1**count), square / (1 - BETA_2**count)
    parameter.sub_(lr * corrected_mean / (corrected_square.sqrt() + EPS))


class SentenceClassifier(Learner):
    """Tokens + positions, non-causal Pre-LN blocks, the mean over the sentence, a linear map to two classes."""

    methods = frozenset({"learn", "pool"})

    def __init__(
        self,
        parts: Parts,
        n_vocab: int,
        n_embd: int,
        n_head: int,
        n_positions: int,
        *,
        n_layer: int = 1,
        positions: bool = True,
    ) -> None:
        super().__init__(parts)
        self.token_embeddings = parts.embedding(parts, n_vocab, n_embd)
        self.position_embeddings = parts.embedding(parts, n_positions, n_embd) if positions else None
        for number in range(1, n_layer + 1):
            self.add_module(f"t_layer_{number}", parts.layer(parts, n_embd, n_head, 0.0, causal=False))
        self.head = parts.linear(parts, n_embd, 2)
        self.softmax_loss = parts.softmax_loss(parts)

    def forward(self, idx: Tensor) -> Tensor:
        """Map ids (B, S) to logits (B, 2)."""
        logits: Tensor = self.head(self.pool(idx))
        return logits

    def pool(self, idx: Tensor) -> Tensor:
        """Map ids (B, S) to the mean of the last layer's output, (B, D)."""
        x = self.token_embeddings(idx)
        if self.position_embeddings is not None:
            x = x + self.position_embeddings(torch.arange(idx.shape[1])[None])  # (S,) -> (1, S)
        for layer in self.layers():
            x = layer(x)
        pooled: Tensor = x.mean(dim=1)  # (B, S, D) -> (B, D)
        return pooled

    def layers(self) -> Iterator[nn.Module]:
        """Yield the blocks in the order in which they run."""
        yield from (module for name, module in self.named_children() if name.startswith("t_layer_"))

    def learn(self, ids: Tensor, labels: Tensor, lr: float) -> Tensor:
        """Learn from ids (steps, B, S) and labels (steps, B)."""
        return self.train_on(lambda step: self.softmax_loss(self(ids[step]), labels[step]).mean(), len(ids), lr)


class Translator(Learner):
    """A language model that learns with the masked loss."""

    def __init__(
        self,
        parts: Parts,
        n_vocab: int,
        n_embd: int,
        n_head: int,
        n_positions: int,
        *,
        n_layer: int = 2,
        p_dropout: float = 0.0,
    ) -> None:
        super().__init__(parts)
        self.model = parts.lm(parts, n_vocab, n_embd, n_head, n_positions, p_dropout, n_layer=n_layer)
        self.loss_fn = parts.loss_fn(parts)

    def forward(self, idx: Tensor) -> Tensor:
        """Map ids (B, S) to logits (B, S, V)."""
        logits: Tensor = self.model(idx)
        return logits

    def learn(self, batches: Tensor, lr: float) -> Tensor:
        """Learn from batches (steps, 3, B, S)."""

        def loss(step: int) -> Tensor:
            batch = dict(zip(BATCH, batches[step], strict=True))  # (3, B, S) -> 3 times (B, S)
            found: Tensor = self.loss_fn(batch, self.model)
            return found

        return self.train_on(loss, len(batches), lr)
