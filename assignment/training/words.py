"""A tokenizer whose tokens are the words between spaces: for the grammar, whose vocabulary is known."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from .atomic import write_atomic
from .errors import TrainingError
from .grammar import SPECIALS


class Words:
    """A list of words as a tokenizer, with what `generate` needs.

    Args:
        words: a word's id is its place; the special tokens come first.

    Attributes:
        vocab: word -> id.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.words = list(words)
        self.vocab: Mapping[str, int] = {word: number for number, word in enumerate(self.words)}

    @classmethod
    def load(cls, path: Path) -> Words:
        """Read what `save` wrote.

        Raises:
            TrainingError: the file is missing or damaged.
        """
        try:
            return cls(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            raise TrainingError(
                f"{path} is no list of words ({error}); give another --out, or delete the folder"
            ) from error

    def save(self, path: Path) -> None:
        """Write the list to a file, in one step."""
        write_atomic(path, json.dumps(self.words, ensure_ascii=False).encode())

    def __call__(self, text: str) -> dict[str, list[int]]:
        """Look up the words of a text; a special token need not stand between spaces.

        Raises:
            KeyError: a word is not in the list.
        """
        for special in SPECIALS:
            text = text.replace(special, f" {special} ")
        return {"input_ids": [self.vocab[word] for word in text.split()]}

    def decode(self, ids: Sequence[int]) -> str:
        """Join words to a text, without the special ones."""
        return " ".join(word for word in (self.words[number] for number in ids) if word not in SPECIALS)
