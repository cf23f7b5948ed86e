"""How the long checks train and what their BLEU is worth: the part `translation` of the rubric, read strictly."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

import msgspec

Count = Annotated[int, msgspec.Meta(ge=1)]
Share = Annotated[float, msgspec.Meta(ge=0, lt=1)]
Positive = Annotated[float, msgspec.Meta(gt=0)]
LEAST_VOCABULARY = 259
"""The special tokens and the bytes."""


class Recipe(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A model and how it is trained. Two runs of one recipe, text and seed are the same run.

    Args:
        vocabulary: pieces of the BPE, at most.
        n_embd: size of the embeddings.
        n_head: heads.
        n_layer: layers.
        dropout: probability of every dropout.
        embedding_scale: factor on the initial embeddings, which are N(0, 1).
        model_max_length: longest sequence that the model reads, in pieces.
        max_words: pairs of fewer words, both languages together, are kept; 0: all.
        batch: pairs in a batch.
        epochs: how many, at most; the one with the lowest validation loss counts.
        samples: pairs in an epoch, drawn anew for each; 0: all.
        lr: the learning rate.
        schedule: "constant", or "linear": down to 0 at the end.
        warmup: steps in which the learning rate rises in a line.
        valid_sentences: validation pairs that the loss is measured on, at most.
        steps: of one request to the worker.
    """

    vocabulary: Annotated[int, msgspec.Meta(ge=LEAST_VOCABULARY)]
    n_embd: Count
    n_head: Count
    n_layer: Count
    dropout: Share
    embedding_scale: Positive
    model_max_length: Annotated[int, msgspec.Meta(ge=2)]
    max_words: Annotated[int, msgspec.Meta(ge=0)]
    batch: Count
    epochs: Count
    samples: Annotated[int, msgspec.Meta(ge=0)]
    lr: Positive
    schedule: Literal["constant", "linear"]
    warmup: Annotated[int, msgspec.Meta(ge=0)]
    valid_sentences: Count
    steps: Count

    def __post_init__(self) -> None:
        """Refuse what no model can have; msgspec adds the place.

        Raises:
            ValueError: the heads do not divide the embeddings.
        """
        if self.n_embd % self.n_head:
            raise ValueError(f"n_embd {self.n_embd} with n_head {self.n_head}; expected a multiple of the heads")

    def learning_rate(self, step: int, steps: int) -> float:
        """The learning rate of a step, counted from 1, of `steps` in all."""
        rising = min(1.0, step / (self.warmup + 1))
        falling = 1.0 if self.schedule == "constant" else min(1.0, (steps + 1 - step) / max(1, steps - self.warmup))
        return self.lr * min(rising, falling)


class Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """BLEU up to `zero` earns nothing, BLEU from `full` on all, in a line between.

    Raises:
        ValueError: the line does not rise.
    """

    zero: Annotated[float, msgspec.Meta(ge=0)]
    full: Positive

    def __post_init__(self) -> None:
        """Refuse a line that does not rise; msgspec adds the place."""
        if not self.zero < self.full:
            raise ValueError(f"zero {self.zero:g} and full {self.full:g}; expected a full above zero")

    def share(self, value: Fraction) -> Fraction:
        """The share of the points, 0 … 1."""
        zero, full = Fraction(str(self.zero)), Fraction(str(self.full))
        return min(max((value - zero) / (full - zero), Fraction(0)), Fraction(1))


class TranslationLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What the long checks do.

    Args:
        minutes: after these a training run ends unfinished; what the command line says comes first.
        test_sentences: the first so many test pairs that pass the filter are scored.
        relative: points by the share of the reference's BLEU.
        absolute: or by BLEU itself; exactly one of the two is there.
        gpu: the recipe for a sandbox with a GPU.
        cpu: and for one without.
    """

    minutes: Positive
    test_sentences: Count
    relative: Line | None = None
    absolute: Line | None = None
    gpu: Recipe
    cpu: Recipe

    def __post_init__(self) -> None:
        """Refuse both ways of scoring, and none; msgspec adds the place.

        Raises:
            ValueError: there is not exactly one.
        """
        if (self.relative is None) == (self.absolute is None):
            raise ValueError("expected exactly one of relative and absolute, each {zero: …, full: …}")

    @property
    def scale(self) -> Line:
        """Where points begin and where all are earned."""
        found = self.relative or self.absolute
        if found is None:
            raise ValueError("a translation line without a way of scoring")
        return found

    def recipe(self, *, gpu: bool) -> Recipe:
        """The recipe of a device."""
        return self.gpu if gpu else self.cpu
