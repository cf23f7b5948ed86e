"""Sentences about films, of three kinds, all of the same length; is the verdict good (1) or bad (0)?

    plain    the plot was good and the acting was great          1
    negated  the plot was not good nor the acting great          0
    turned   the plot was good but the acting was bad            0
             the plot was bad but the acting was good            1

What is said last decides. The two turned sentences have the same words and opposite labels: who does not see the order
can only guess. Every word stands equally often in good and in bad sentences, so that no word alone tells.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Ids: TypeAlias = npt.NDArray[np.int64]
Pair: TypeAlias = tuple[str, str]
"""A bad and a good sentence that differ as little as can be."""

NOUNS = ("plot", "acting", "music", "ending", "dialogue", "cast", "story", "camera")
GOOD = ("good", "great", "clever", "moving")
BAD = ("bad", "dull", "silly", "weak")
OTHERS = ("the", "was", "and", "not", "nor", "but")
WORDS = (*NOUNS, *GOOD, *BAD, *OTHERS)
LENGTH = 9
"""Words in every sentence."""

KINDS = ("plain", "negated", "turned")
TESTS = 32
"""Pairs of each kind that are held out."""


@dataclass(frozen=True)
class Labelled:
    """Sentences and their labels.

    Attributes:
        ids: (N, LENGTH); rows 2i and 2i + 1 are a pair: a bad and a good one, in either order.
        labels: 0 bad or 1 good, (N,).
    """

    ids: Ids
    labels: Ids


@dataclass(frozen=True)
class Sentences:
    """What a classifier learns from, and what it is tested with. No sentence is in both.

    Attributes:
        words: the vocabulary; a word's id is its place.
        ids: training batches (steps, B, LENGTH), a third of each batch of every kind.
        labels: (steps, B).
        tests: kind -> sentences.
    """

    words: tuple[str, ...]
    ids: Ids
    labels: Ids
    tests: dict[str, Labelled]

    def turned_pairs(self) -> Ids:
        """Test sentences of the same words in another order and with opposite labels: (P, 2, LENGTH)."""
        return self.tests["turned"].ids.reshape(-1, 2, LENGTH)  # (2 P, LENGTH) -> (P, 2, LENGTH)

    def text(self, ids: Iterable[int]) -> str:
        """Spell out a sentence (LENGTH,)."""
        return " ".join(self.words[number] for number in ids)


def draw(generator: np.random.Generator, steps: int, batch: int) -> Sentences:
    """Draw which word has which id, the test sentences, and training batches of the sentences that are left.

    Args:
        generator: of all that is random.
        steps: number of batches.
        batch: B, a multiple of 6: pairs of three kinds.

    Raises:
        ValueError: `batch` is no multiple of 6.
    """
    if batch % (2 * len(KINDS)):
        raise ValueError(f"a batch of {batch} sentences; expected a multiple of {2 * len(KINDS)}: pairs of each kind")
    words = tuple(WORDS[number] for number in generator.permutation(len(WORDS)))
    needed = steps * batch // (2 * len(KINDS))
    tests, parts = {}, []
    for kinds in (simple_pairs(), turned_pairs()):
        order = generator.permutation(len(next(iter(kinds.values()))))
        held_out, chosen = order[:TESTS], passes(generator, order[TESTS:], needed)  # of all these kinds the same ones
        for kind, pairs in kinds.items():
            table = numbered(pairs, words)
            tests[kind] = mixed(generator, table[held_out])
            part = mixed(generator, table[chosen])
            parts.append((part.ids.reshape(steps, -1, LENGTH), part.labels.reshape(steps, -1)))  # (steps, B / 3, ...)
    ids, labels = (np.concatenate(arrays, axis=1) for arrays in zip(*parts, strict=True))  # (steps, B, ...)
    return Sentences(words, ids, labels, tests)


def simple_pairs() -> dict[str, list[Pair]]:
    """Make the plain pairs and, in the same order, the negated ones of the same nouns and adjectives."""
    plain, negated = "the {} was {} and the {} was {}", "the {} was not {} nor the {} {}"
    made: dict[str, list[Pair]] = {"plain": [], "negated": []}
    for (one, other), (i, j) in product(permutations(NOUNS, 2), permutations(range(len(GOOD)), 2)):
        bad, good = (one, BAD[i], other, BAD[j]), (one, GOOD[i], other, GOOD[j])
        made["plain"].append((plain.format(*bad), plain.format(*good)))
        made["negated"].append((negated.format(*good), negated.format(*bad)))
    return made


def turned_pairs() -> dict[str, list[Pair]]:
    """Make the turned pairs."""
    return {
        "turned": [
            (f"the {one} was {good} but the {other} was {bad}", f"the {one} was {bad} but the {other} was {good}")
            for (one, other), bad, good in product(permutations(NOUNS, 2), BAD, GOOD)
        ]
    }


def numbered(pairs: Sequence[Pair], words: Sequence[str]) -> Ids:
    """Put ids for words: (P, 2, LENGTH), the bad sentence before the good one."""
    ids = {word: number for number, word in enumerate(words)}
    return np.array([[[ids[word] for word in sentence.split()] for sentence in pair] for pair in pairs], np.int64)


def mixed(generator: np.random.Generator, pairs: Ids) -> Labelled:
    """Bring the two sentences of each pair (P, 2, LENGTH) into any order."""
    labels = generator.permuted(np.tile(np.arange(2), (len(pairs), 1)), axis=1)  # (P, 2), each row 0, 1 or 1, 0
    ids = np.take_along_axis(pairs, labels[:, :, None], axis=1)  # (P, 2, LENGTH)
    return Labelled(ids.reshape(-1, LENGTH), labels.reshape(-1))  # (2 P, LENGTH) and (2 P,)


def passes(generator: np.random.Generator, items: Ids, count: int) -> Ids:
    """Draw from the items, each once before any comes again: (count,)."""
    rounds = -(-count // len(items))
    return np.concatenate([generator.permutation(items) for _ in range(rounds)])[:count]
