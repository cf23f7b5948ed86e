"""Sentences as the arrays that `loss_fn` wants, in batches of similar length and in an order that can be found again.

tokens   das  haus  <eos_de>  the   house  <eos_en>  <pad>
input    das  haus  <eos_de>  the   house  <eos_en>
label    haus <eos_de> the    house <eos_en> <pad>
weight   0    0     1         1     1      0
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from .pairs import Pair

if TYPE_CHECKING:
    from assignment.translation import Tokenizer

Ids: TypeAlias = npt.NDArray[np.int64]

BUCKET = 20
"""Batches that are sorted together: more give less padding, fewer give batches more alike the whole."""
EVALUATION_BATCH = 64


@dataclass(frozen=True)
class TokenPair:
    """One pair as tokens.

    Attributes:
        ids: source, <eos_de>, target, <eos_en>; perhaps cut.
        source: how many of them are of the source, <eos_de> included.
    """

    ids: tuple[int, ...]
    source: int

    @property
    def targets(self) -> int:
        """How many labels count."""
        return max(0, len(self.ids) - self.source)


def encode(pairs: Iterable[Pair], tokenizer: Tokenizer, model_max_length: int) -> tuple[list[TokenPair], int]:
    """Tokenize pairs, cut to what the model can read; a pair with nothing left of its target is left out.

    The input is all but the last token, so a sequence may have `model_max_length` + 1.

    Returns:
        The sequences, and how many were cut or left out.
    """
    sequences, cut = [], 0
    for pair in pairs:
        source = tokenizer(f"{pair['de']}<eos_de>")["input_ids"]
        whole = [*source, *tokenizer(f"{pair['en']}<eos_en>")["input_ids"]]
        sequence = TokenPair(tuple(whole[: model_max_length + 1]), len(source))
        cut += len(sequence.ids) < len(whole)
        if sequence.targets:
            sequences.append(sequence)
    return sequences, cut


def arrays(sequences: Sequence[TokenPair], pad: int) -> dict[str, Ids]:
    """Put sequences into arrays as long as the longest, filled up with `pad`.

    Returns:
        "input_ids", "labels" and "label_token_weights", each (B, S).
    """
    length = max(len(sequence.ids) for sequence in sequences)
    tokens = np.full((len(sequences), length), pad, np.int64)
    weights = np.zeros((len(sequences), length), np.int64)
    for row, sequence in enumerate(sequences):
        tokens[row, : len(sequence.ids)] = sequence.ids
        weights[row, sequence.source : len(sequence.ids)] = 1
    return {"input_ids": tokens[:, :-1], "labels": tokens[:, 1:], "label_token_weights": weights[:, 1:]}


def epoch_order(lengths: Ids, batch: int, samples: int, generator: np.random.Generator) -> list[Ids]:
    """Decide which sequences make the batches of an epoch.

    The sequences are shuffled, sorted by length in buckets of a few batches, and the batches are shuffled again.

    Args:
        lengths: tokens of each sequence, (N,).
        batch: sequences in a batch; the last of an epoch may have fewer.
        samples: sequences in an epoch; 0, or more than there are: all of them.
        generator: of the epoch's random numbers.

    Returns:
        The places of each batch's sequences.
    """
    chosen = generator.permutation(len(lengths))[: samples or None]
    found: list[Ids] = []
    for start in range(0, len(chosen), batch * BUCKET):
        bucket = chosen[start : start + batch * BUCKET]
        bucket = bucket[np.argsort(lengths[bucket], kind="stable")]
        found += [bucket[first : first + batch] for first in range(0, len(bucket), batch)]
    return [found[number] for number in generator.permutation(len(found))]


def steps_of_epoch(sequences: int, batch: int, samples: int) -> int:
    """How many batches `epoch_order` makes."""
    count = min(sequences, samples or sequences)
    whole, rest = divmod(count, batch * BUCKET)
    return whole * BUCKET + -(-rest // batch)
