"""Twins of Problem 4, with the model and the tokenizer that stand for the real ones in its cases."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from .parts import Part

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .parts import Parts

TOKEN = re.compile(r"<[^<>\s]+>|[^\s<>]+")
"""A special token, even where it is glued to a word, or a word."""

NOTHING = -1
"""Fills the rows of generated ids up to the longest."""


class TableModel(nn.Module):
    """A language model that looks at one token only: the logits after token t are row t of a table (V, V)."""

    def __init__(self, table: Tensor) -> None:
        super().__init__()
        self.table = table

    def forward(self, ids: Tensor) -> Tensor:
        """Map ids (B, S) to logits (B, S, V)."""
        return self.table[ids.long()]


class WordTokenizer:
    """Words separated by spaces; a word's id is its place in the list."""

    def __init__(self, words: Sequence[str]) -> None:
        self.vocab = {word: number for number, word in enumerate(words)}

    def __call__(self, text: str) -> list[int]:
        """Turn a text into ids."""
        return [self.vocab[word] for word in TOKEN.findall(text)]


class LossFn(Part):
    """sum(w l) / sum(w) over all positions of a batch."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.softmax_loss = parts.softmax_loss(parts)

    def forward(self, batch: Mapping[str, Tensor], model: nn.Module) -> Tensor:
        """Map a batch of tensors (B, S) to the loss (1,)."""
        logits = model(batch["input_ids"]).flatten(0, 1)  # (B, S, V) -> (B S, V)
        losses = self.softmax_loss(logits, self.labels(batch).flatten())  # (B, S) -> (B S,)
        return self.mean(losses, self.weights(batch).flatten()).reshape(1)  # (B, S) -> (B S,); () -> (1,)

    def labels(self, batch: Mapping[str, Tensor]) -> Tensor:
        """Take the labels (B, S): they are already shifted."""
        return batch["labels"]

    def weights(self, batch: Mapping[str, Tensor]) -> Tensor:
        """Take the weights (B, S) of the positions."""
        return batch["label_token_weights"]

    def mean(self, losses: Tensor, weights: Tensor) -> Tensor:
        """Average the losses (B S,) with their weights (B S,)."""
        return (losses * weights).sum() / weights.sum()


class Generate(Part):
    """Greedy decoding, one example after the other."""

    def forward(
        self,
        model: nn.Module,
        examples: Sequence[Mapping[str, str]],
        src_key: str,
        tgt_key: str,
        tokenizer: WordTokenizer,
        model_max_length: int,
        backend: None = None,
        desc: str = "",
    ) -> Tensor:
        """Return the ids that were generated for each example, (n, longest), filled with NOTHING."""
        del backend, desc
        end = tokenizer.vocab[f"<eos_{tgt_key}>"]
        rows = [
            torch.tensor(self.complete(model, self.prompt(example, src_key, tokenizer), end, model_max_length))
            for example in examples
        ]
        return nn.utils.rnn.pad_sequence([row.long() for row in rows], batch_first=True, padding_value=NOTHING)

    def prompt(self, example: Mapping[str, str], src_key: str, tokenizer: WordTokenizer) -> list[int]:
        """Turn the source of an example into ids."""
        return tokenizer(f"{example[src_key]}<eos_{src_key}>")

    @torch.no_grad()
    def complete(self, model: nn.Module, prompt: list[int], end: int, limit: int) -> list[int]:
        """Add tokens to the prompt and return those that were added."""
        ids = list(prompt)
        while self.may_go_on(len(ids), limit):
            token = self.choose(model(torch.tensor([ids])))  # (1, S) -> (1, S, V)
            if token == end:
                break
            ids.append(token)
        return ids[len(prompt) :]

    def may_go_on(self, length: int, limit: int) -> bool:
        """Say whether the model is asked once more for a sequence of this length."""
        return length <= limit

    def choose(self, logits: Tensor) -> int:
        """Take the likeliest token after the last position of logits (1, S, V)."""
        return int(logits[0, -1].argmax())
