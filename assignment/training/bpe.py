"""Byte-level BPE: words are cut into pieces, frequent ones into few, and no text is unknown.

Sennrich et al. (2016), "Neural Machine Translation of Rare Words with Subword Units"; Radford et al. (2019), section
2.2, for bytes as the alphabet. It is learned on both languages of the training part, so the two share their pieces.

A pitfall: the course's length filter counts words (`pairs.is_short`), while a sequence is cut to `model_max_length`
tokens of this BPE (`batches.encode`). With few tokens in the vocabulary a word is many of them, and a pair that the
filter let pass may lose its end. The script says how many did.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .atomic import write_atomic
from .errors import TrainingError
from .pairs import LANGUAGES, Pair

SPECIALS = ("<pad>", "<eos_de>", "<eos_en>")
"""The first tokens of every vocabulary: ids 0, 1 and 2. Each is one token wherever it stands in a text."""
ALPHABET = 256
"""Every byte is a token of its own."""


class BytePairs:
    """A byte-level BPE with what `generate` needs: `vocab`, a call for ids, and `decode`.

    Attributes:
        vocab: token -> id.
    """

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.vocab: Mapping[str, int] = tokenizer.get_vocab()

    @classmethod
    def learn(cls, pairs: Iterable[Pair], vocabulary: int) -> BytePairs:
        """Learn a vocabulary of at most `vocabulary` tokens on both languages; the same for the same text.

        Raises:
            TrainingError: `tokenizers` is not installed, or the vocabulary has no room for the bytes.
        """
        least = len(SPECIALS) + ALPHABET
        if vocabulary < least:
            raise TrainingError(
                f"--vocabulary {vocabulary}; expected {least} or more: the special tokens and the bytes"
            )
        parts = tokenizers()
        tokenizer = parts.Tokenizer(parts.models.BPE())
        tokenizer.pre_tokenizer = parts.pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = parts.decoders.ByteLevel()
        trainer = parts.trainers.BpeTrainer(
            vocab_size=vocabulary,
            special_tokens=list(SPECIALS),
            initial_alphabet=parts.pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        tokenizer.train_from_iterator((pair[language] for pair in pairs for language in LANGUAGES), trainer)
        return cls(tokenizer)

    @classmethod
    def load(cls, path: Path) -> BytePairs:
        """Read what `save` wrote.

        Raises:
            TrainingError: `tokenizers` is not installed, or the file is missing or damaged.
        """
        try:
            content = path.read_text(encoding="utf-8")
            json.loads(content)["model"]["vocab"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise TrainingError(f"{path} is no tokenizer ({error}); delete it, or give another --out") from error
        return cls(tokenizers().Tokenizer.from_str(content))

    def save(self, path: Path) -> None:
        """Write it to a file, in one step."""
        write_atomic(path, self.tokenizer.to_str(pretty=True).encode())

    def __call__(self, text: str) -> dict[str, list[int]]:
        """Cut a text into tokens; the ids are under "input_ids"."""
        return {"input_ids": self.tokenizer.encode(text).ids}

    def decode(self, ids: Sequence[int]) -> str:
        """Join tokens to a text, without the special ones."""
        text: str = self.tokenizer.decode(list(ids), skip_special_tokens=True)
        return text


def tokenizers() -> Any:
    """The package, loaded when it is needed.

    Raises:
        TrainingError: it is not installed.
    """
    try:
        import tokenizers as package  # noqa: PLC0415  # an extra
    except ImportError as error:
        raise TrainingError("real text needs the package tokenizers; pip install -e '.[translation]'") from error
    return package
