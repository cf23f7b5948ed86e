"""The numbers of one training run, all of them from one seed: names of pieces, initial parameters, order of batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from grader.case import Array, Json
from grader.checks import Draw
from grader.given import batches, bpe
from grader.recipe import Recipe
from grader.seed import public_seed

from .material import Material

if TYPE_CHECKING:
    from assignment.training.batches import TokenPair

TARGET = "training.Translator"
NAME = "p4.iwslt"
PAD = 0

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Lesson:
    """A material as one class gets it.

    Args:
        material: the text.
        recipe: what is trained on it.
        secret: everything random follows from it.
    """

    material: Material
    recipe: Recipe
    secret: bytes

    @cached_property
    def arguments(self) -> dict[str, Json]:
        """The model's keyword arguments."""
        recipe = self.recipe
        return {
            "n_vocab": len(self.new_ids),
            "n_embd": recipe.n_embd,
            "n_head": recipe.n_head,
            "n_positions": recipe.model_max_length,
            "n_layer": recipe.n_layer,
            "p_dropout": recipe.dropout,
        }

    @cached_property
    def new_ids(self) -> Ids:
        """A piece's id in the BPE -> its id here, (V,): nobody can know a sentence by its numbers."""
        count, special = len(self.material.pieces.vocab), len(bpe.SPECIALS)
        shuffled = special + self._generator("ids").permutation(count - special)
        return np.concatenate([np.arange(special), shuffled])

    @cached_property
    def old_ids(self) -> Ids:
        """And back, (V,)."""
        return np.argsort(self.new_ids)

    @cached_property
    def words(self) -> list[str]:
        """What pieces are called in the worker, whose tokenizer knows words only."""
        return [*bpe.SPECIALS, *(f"w{number}" for number in range(len(bpe.SPECIALS), len(self.new_ids)))]

    def named(self, prompts: Sequence[Sequence[int]]) -> list[str]:
        """Sentences of pieces as sentences of such words."""
        return [" ".join(self.words[self.new_ids[piece]] for piece in prompt) for prompt in prompts]

    def decoys(self, count: int) -> list[str]:
        """Targets of training pairs, for whoever reads the translation from the example."""
        train = self.material.train
        targets = [train[number % len(train)] for number in range(count)]
        return self.named([tokens.ids[tokens.source :] for tokens in targets])

    def start(self) -> dict[str, Array]:
        """The initial parameters, in float32."""
        drawn = Draw(self._generator("start")).start(TARGET, self.arguments)
        factor = self.recipe.embedding_scale
        return {
            name: (value * factor if "embeddings" in name else value).astype(np.float32)
            for name, value in drawn.items()
        }

    def order(self, epoch: int) -> list[Ids]:
        """The places in `train` of each batch of an epoch, counted from 0: similar lengths together, in any order."""
        generator = self._generator("order", str(epoch))
        return batches.epoch_order(self._lengths, self.recipe.batch, self.recipe.samples, generator)

    @cached_property
    def steps(self) -> int:
        """Batches of all epochs together; each has as many."""
        return self.recipe.epochs * len(self.order(0))

    def batch(self, places: Ids) -> Array:
        """Training pairs as input ids, labels and weights, (3, B, S)."""
        return self._arrays([self.material.train[place] for place in places])

    def validation(self) -> list[tuple[Array, int]]:
        """Batches (3, B, S) of the validation pairs, each with the number of labels that count."""
        ordered = sorted(self.material.valid, key=lambda tokens: len(tokens.ids))
        parts = [
            ordered[first : first + batches.EVALUATION_BATCH]
            for first in range(0, len(ordered), batches.EVALUATION_BATCH)
        ]
        return [(self._arrays(part), sum(tokens.targets for tokens in part)) for part in parts]

    def seed(self, taken: int) -> int:
        """Of the random numbers in a request that follows on so many steps."""
        return public_seed(self.secret, NAME, "request", str(taken))

    @cached_property
    def _lengths(self) -> Ids:
        return np.array([len(tokens.ids) for tokens in self.material.train])

    def _generator(self, *purpose: str) -> np.random.Generator:
        return np.random.default_rng(public_seed(self.secret, NAME, *purpose))

    def _arrays(self, part: Sequence[TokenPair]) -> Array:
        ids, labels, weights = batches.arrays(part, PAD).values()  # (B, S) each
        return np.stack([self.new_ids[ids], self.new_ids[labels], weights]).astype(np.int32)  # (3, B, S)
