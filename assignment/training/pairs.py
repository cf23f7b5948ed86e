"""Pairs of sentences, and what a run learns from: the training, validation and test parts."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

Pair: TypeAlias = Mapping[str, str]
"""A sentence in both languages: {"de": "...", "en": "..."}."""

LANGUAGES = ("de", "en")
SPLITS = ("train", "valid", "test")
GRAMMAR = "grammar"
"""Name of the text that `grammar` makes."""


@dataclass(frozen=True)
class Corpus:
    """Parallel text in its parts; a part that is not there is empty.

    Attributes:
        name: where it came from, for people.
        train: to learn from.
        valid: to choose by.
        test: to score on.
    """

    name: str
    train: Sequence[Pair] = ()
    valid: Sequence[Pair] = ()
    test: Sequence[Pair] = ()

    @property
    def is_grammar(self) -> bool:
        """Whether it is the seeded grammar's, where a translation is exactly right or not."""
        return self.name == GRAMMAR

    def fingerprint(self) -> str:
        """Tell two corpora apart: a hash of every sentence."""
        digest = hashlib.sha256()
        for part in SPLITS:
            for pair in getattr(self, part):
                digest.update(f"{part}\t{pair['de']}\t{pair['en']}\n".encode())
        return digest.hexdigest()

    def shortened(self, max_words: int, test_sentences: int) -> Corpus:
        """Keep what the course keeps: short pairs, and the first few of the test part.

        Args:
            max_words: see `is_short`; 0 keeps all.
            test_sentences: how many short test pairs are scored; 0: all.
        """
        parts: dict[str, Any] = {
            name: [pair for pair in getattr(self, name) if is_short(pair, max_words)] for name in SPLITS
        }
        if test_sentences:
            parts["test"] = parts["test"][:test_sentences]
        return replace(self, **parts)


def paired(sources: Sequence[str], targets: Sequence[str]) -> list[Pair]:
    """Put German lines and English lines, equally many, side by side."""
    return [{"de": source, "en": target} for source, target in zip(sources, targets, strict=True)]


def is_short(pair: Pair, max_words: int) -> bool:
    """Say whether both sentences together have fewer than `max_words` words; 0: any pair is short enough.

    This is the course's filter. It counts words, split at white space. What the model reads are the tokens of a BPE,
    and those are more: a pair that passes can still be longer than the model, and is then cut (`batches.encode`).
    """
    return not max_words or sum(len(pair[language].split()) for language in LANGUAGES) < max_words
