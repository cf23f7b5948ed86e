"""A translator: your language model, trained with your loss, asked by your `generate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assignment.framework import Adam, Module, Tensor, TensorBackend, default_backend, tensor
from assignment.transformer import DecoderLM
from assignment.translation import Tokenizer, generate, loss_fn

from . import moments
from .steps import Rate, train


class Translator(Module):
    """Translates German to English.

    Letters in the shapes: B batch, S sequence length, V = n_vocab.

    Args:
        n_vocab: V.
        n_embd: size of the embeddings.
        n_head: number of heads.
        n_positions: longest sequence: source, target and what ends them.
        n_layer: number of Transformer layers.
        p_dropout: probability of every dropout.
        backend: where the parameters live; None: the default backend.

    Attributes:
        model: `DecoderLM`.
    """

    def __init__(
        self,
        n_vocab: int,
        n_embd: int,
        n_head: int,
        n_positions: int,
        *,
        n_layer: int = 2,
        p_dropout: float = 0.0,
        backend: TensorBackend | None = None,
    ) -> None:
        super().__init__()
        self.backend = default_backend() if backend is None else backend
        self.model = DecoderLM(n_vocab, n_embd, n_head, n_positions, p_dropout, backend=self.backend, n_layer=n_layer)
        self.optimizer: Adam | None = None

    def forward(self, idx: Tensor) -> Tensor:
        """Score what comes after every position: ids (B, S) -> logits (B, S, V)."""
        logits: Tensor = self.model(idx)
        return logits

    def learn(self, batches: Tensor, lr: Rate) -> Tensor:
        """Take one step of Adam for each batch; called again, it goes on.

        Args:
            batches: (steps, 3, B, S): of each batch the input ids, the labels and the labels' weights, as `loss_fn`
                wants them.
            lr: the learning rate, or one for each step.

        Returns:
            The losses (steps,), each from before its step.
        """
        self.train()
        self.optimizer = self.optimizer or Adam(self.parameters())

        def loss_of(step: int) -> Tensor:
            batch = {
                "input_ids": batches[step, 0],  # (B, S)
                "labels": batches[step, 1],  # (B, S)
                "label_token_weights": batches[step, 2],  # (B, S)
            }
            return loss_fn(batch, self.model)

        return train(loss_of, batches.shape[0], lr, self.optimizer, self.backend)

    def measure(self, batch: Tensor) -> Tensor:
        """Compute the loss of a batch (3, B, S), as for `learn`, in evaluation mode and without learning from it."""
        self.eval()
        parts = {"input_ids": batch[0], "labels": batch[1], "label_token_weights": batch[2]}  # (B, S) each
        return tensor([loss_fn(parts, self.model).item()], backend=self.backend)

    def learned(self) -> dict[str, Any]:
        """Copy all that decides how `learn` goes on, as NumPy arrays by name; `moments` says which."""
        self.optimizer = self.optimizer or Adam(self.parameters())
        return moments.state_of(self, self.optimizer)

    def go_on(self, state: Mapping[str, Any]) -> Tensor:
        """Set Adam's moments as `learned` found them; the parameters are not touched.

        Returns:
            The largest number of steps in one of them, (1,).
        """
        self.optimizer = Adam(self.parameters())
        moments.restore(self, self.optimizer, state, self.backend)
        return tensor([float(max(state[moments.COUNTS], default=0))], backend=self.backend)

    def translate(
        self,
        examples: Sequence[Mapping[str, str]],
        tokenizer: Tokenizer,
        model_max_length: int,
        desc: str = "translate",
    ) -> list[str]:
        """Translate the text under "de" of each example.

        Args:
            examples: dictionaries with a text under "de".
            tokenizer: text to ids and back.
            model_max_length: longest sequence that the model can take.
            desc: what to write beside the progress.
        """
        return generate(self.model, examples, "de", "en", tokenizer, model_max_length, self.backend, desc)
