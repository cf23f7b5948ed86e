"""Parallel text made ready: what the filter leaves, cut into pieces. The references never leave the trusted process."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grader.errors import UsageError
from grader.given import batches, bleu, bpe, errors, text
from grader.recipe import Recipe

if TYPE_CHECKING:
    from assignment.training.batches import TokenPair
    from assignment.training.bpe import BytePairs
    from assignment.training.pairs import Pair


@dataclass(frozen=True)
class Material:
    """What a model learns from and is scored on.

    Args:
        name: of the text, for reports.
        fingerprint: a hash of every sentence that is used.
        pieces: the BPE, learned on the training pairs.
        train: what to learn from.
        valid: what the epoch is chosen by.
        watched: sources and references of the first validation pairs, for the learning curve.
        prompts: sources of the test pairs, as pieces.
        references: their translations.
    """

    name: str
    fingerprint: str
    pieces: BytePairs
    train: Sequence[TokenPair]
    valid: Sequence[TokenPair]
    watched: tuple[Sequence[Sequence[int]], Sequence[str]]
    prompts: Sequence[Sequence[int]]
    references: Sequence[str]


def prepare(source: str, recipe: Recipe, test_sentences: int) -> Material:
    """Load, filter and cut a text.

    Args:
        source: a folder, or "iwslt14".
        recipe: says what is kept and how it is cut.
        test_sentences: how many test pairs are scored, at most.

    Raises:
        UsageError: the text is not there, malformed or too little, or a package is missing.
    """
    if source != text.HUB and not Path(source).is_dir():
        raise UsageError(f"--translation {source} is no folder; expected one with parallel text, or {text.HUB}")
    try:
        bleu.check()
        whole = text.complete(text.load(source))
        corpus = text.complete(whole.shortened(recipe.max_words, test_sentences))
        pieces = bpe.BytePairs.learn(corpus.train, recipe.vocabulary)
    except errors.TrainingError as error:
        raise UsageError(f"--translation {source}: {error}") from error
    learned = corpus.train, corpus.valid[: recipe.valid_sentences]
    train, valid = (batches.encode(part, pieces, recipe.model_max_length)[0] for part in learned)
    if not train or not valid:
        raise UsageError(
            f"--translation {source}: no pair has a target within {recipe.model_max_length} pieces; raise "
            "model_max_length in rubric.yaml"
        )
    watched = corpus.valid[:test_sentences]
    return Material(
        name=source if source == text.HUB else Path(source).resolve().name,
        fingerprint=corpus.fingerprint(),
        pieces=pieces,
        train=train,
        valid=valid,
        watched=(_prompts(watched, pieces), [pair["en"] for pair in watched]),
        prompts=_prompts(corpus.test, pieces),
        references=[pair["en"] for pair in corpus.test],
    )


def _prompts(part: Iterable[Pair], pieces: BytePairs) -> list[list[int]]:
    return [pieces(pair["de"])["input_ids"] for pair in part]
