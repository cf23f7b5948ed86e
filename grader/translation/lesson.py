"""The numbers of one training run, all of them from one seed: names of pieces, initial parameters, order of batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from grader.case import Array, Json
from grader.checks import Draw
from grader.given import bpe
from grader.recipe import Recipe
from grader.seed import public_seed

from .material import Material, Tokens

TARGET = "training.Translator"
NAME = "p4.iwslt"
BUCKET = 20
"""Batches that are sorted together by length."""
EVALUATED = 64
"""Validation pairs in a batch."""
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
        generator, batch = self._generator("order", str(epoch)), self.recipe.batch
        chosen = generator.permutation(len(self._lengths))[: self.recipe.samples or None]
        found: list[Ids] = []
        for start in range(0, len(chosen), batch * BUCKET):
            bucket = chosen[start : start + batch * BUCKET]
            bucket = bucket[np.argsort(self._lengths[bucket], kind="stable")]
            found += [bucket[first : first + batch] for first in range(0, len(bucket), batch)]
        return [found[number] for number in generator.permutation(len(found))]

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
        parts = [ordered[first : first + EVALUATED] for first in range(0, len(ordered), EVALUATED)]
        return [(self._arrays(part), sum(tokens.targets for tokens in part)) for part in parts]

    def seed(self, taken: int) -> int:
        """Of the random numbers in a request that follows on so many steps."""
        return public_seed(self.secret, NAME, "request", str(taken))

    @cached_property
    def _lengths(self) -> Ids:
        return np.array([len(tokens.ids) for tokens in self.material.train])

    def _generator(self, *purpose: str) -> np.random.Generator:
        return np.random.default_rng(public_seed(self.secret, NAME, *purpose))

    def _arrays(self, part: Sequence[Tokens]) -> Array:
        """With <de> <eos_de> <en> <eos_en> <pad> …, the input is all but the last, the labels all but the first."""
        length = max(len(tokens.ids) for tokens in part)
        ids = np.full((len(part), length), PAD, np.int32)
        weights = np.zeros((len(part), length), np.int32)
        for row, tokens in enumerate(part):
            ids[row, : len(tokens.ids)] = self.new_ids[list(tokens.ids)]
            weights[row, tokens.source : len(tokens.ids)] = 1
        return np.stack([ids[:, :-1], ids[:, 1:], weights[:, 1:]])  # three of (B, S) -> (3, B, S)
