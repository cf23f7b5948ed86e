"""A tokenizer of whole words, for the cases of `generate`: what students call of the BPE tokenizer, no more."""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORD = re.compile(r"<[^<>\s]+>|[^\s<]+")
"""`<eos_de>` is one word even where no space stands before it."""

UNKNOWN, PADDING = -2, -1


class WordTokenizer:
    """Words to ids and back.

    Attributes:
        vocab: word -> id, in the order of the words given.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._words = list(words)
        self.vocab = {word: number for number, word in enumerate(self._words)}

    def __call__(self, text: str) -> dict[str, list[int]]:
        """`{"input_ids": [...]}` of a text; raises KeyError for a word that is not in the vocabulary."""
        return {"input_ids": [self.vocab[word] for word in _WORD.findall(text)]}

    def decode(self, token_ids: Iterable[int]) -> str:
        """The words of the ids, with a space between two; raises IndexError for an id that is none."""
        return " ".join(self._words[int(number)] for number in token_ids)

    def ids(self, text: str) -> list[int]:
        """The ids of a text that may hold any word; a word that is not in the vocabulary is `UNKNOWN`."""
        return [self.vocab.get(word, UNKNOWN) for word in _WORD.findall(text)]
