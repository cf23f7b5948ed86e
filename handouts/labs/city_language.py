"""A small language about cities whose next word is known exactly, so that a model's cross-entropy has a known floor.

Four kinds of sentences, each with the probability 1/4:

    madrid is the capital of spain .
    in lyon people speak french and learn german .
    the train from rome to paris takes nine hours and leaves rome in the morning .
    porto is quiet but leeds is loud .

Some words are free, others follow from words far back: the country and the language from the city, the second name of
the city from the first, the hours from whether both cities are in one country. A text is one sentence after the other.

The language is finite: all its sentences can be listed with their probabilities. The probability of a word after the
beginning of a sentence is then the share of the sentences that go on with it, a sum and a quotient, with no estimate.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Ids: TypeAlias = npt.NDArray[np.int64]

COUNTRIES = {
    "france": ("french", "paris", "lyon"),
    "germany": ("german", "berlin", "hamburg"),
    "italy": ("italian", "rome", "milan"),
    "spain": ("spanish", "madrid", "seville"),
    "portugal": ("portuguese", "lisbon", "porto"),
    "england": ("english", "london", "leeds"),
}
"""Country -> its language, its capital, another city."""
OPPOSITES = {"old": "new", "large": "small", "quiet": "loud"}
CAPITAL = 2 / 3
"""Of two cities of a country, how often the capital is meant."""
END = "."
"""Ends every sentence; before the first one it stands, too. Its id is 0."""


def cities() -> dict[str, tuple[str, float]]:
    """List the cities: name -> its country, and how often it is meant."""
    return {
        city: (country, share / len(COUNTRIES))
        for country, (_, capital, other) in COUNTRIES.items()
        for city, share in ((capital, CAPITAL), (other, 1 - CAPITAL))
    }


def pairs() -> Iterator[tuple[str, str, float]]:
    """Yield two different cities and how often they are meant: the second by its share among those that are left."""
    known = cities()
    for one, other in permutations(known, 2):
        yield one, other, known[one][1] * known[other][1] / (1 - known[one][1])


def places() -> Iterator[tuple[str, float]]:
    """Yield sentences that say where a city is."""
    for city, (country, share) in cities().items():
        what = "the capital of" if city == COUNTRIES[country][1] else "a city in"
        yield f"{city} is {what} {country}", share


def languages() -> Iterator[tuple[str, float]]:
    """Yield sentences that say what is spoken in a city, and half of the time what is learned there."""
    spoken = {country: facts[0] for country, facts in COUNTRIES.items()}
    for city, (country, share) in cities().items():
        speak = f"in {city} people speak {spoken[country]}"
        yield speak, share / 2
        learned = [language for language in spoken.values() if language != spoken[country]]
        yield from ((f"{speak} and learn {language}", share / 2 / len(learned)) for language in learned)


def trains() -> Iterator[tuple[str, float]]:
    """Yield sentences about trains: within a country they take two or three hours, else eight or nine."""
    known = cities()
    for one, other, share in pairs():
        for hours in ("two", "three") if known[one][0] == known[other][0] else ("eight", "nine"):
            for time in ("morning", "evening"):
                yield f"the train from {one} to {other} takes {hours} hours and leaves {one} in the {time}", share / 4


def comparisons() -> Iterator[tuple[str, float]]:
    """Yield sentences that say of two cities the same or the opposite."""
    opposite = OPPOSITES | {new: old for old, new in OPPOSITES.items()}
    for one, other, share in pairs():
        for word in opposite:
            part = share / len(opposite) / 2
            yield f"{one} is {word} and so is {other}", part
            yield f"{one} is {word} but {other} is {opposite[word]}", part


KINDS = (places, languages, trains, comparisons)


class CityLanguage:
    """All sentences with their probabilities, and what follows from them.

    Attributes:
        words: the vocabulary, V words; a word's id is its place; the first is `END`.
        sentences: ids of every sentence, `END` included.
        probabilities: of the sentences, sum 1.
    """

    def __init__(self) -> None:
        listed = [(f"{text} {END}".split(), share / len(KINDS)) for kind in KINDS for text, share in kind()]
        self.words = (END, *sorted({word for words, _ in listed for word in words} - {END}))
        self.ids = {word: number for number, word in enumerate(self.words)}
        self.sentences = [tuple(self.ids[word] for word in words) for words, _ in listed]
        shares = np.array([share for _, share in listed])  # (sentences,)
        self.probabilities = shares / shares.sum()  # their sum is 1 but for rounding
        self._weights: dict[tuple[int, ...], Array] = {}
        for sentence, share in zip(self.sentences, self.probabilities, strict=True):
            for length, word in enumerate(sentence):
                beginning = sentence[:length]
                if beginning not in self._weights:
                    self._weights[beginning] = np.zeros(len(self.words))
                self._weights[beginning][word] += share

    def text(self, ids: Sequence[int] | Ids) -> str:
        """Spell out ids."""
        return " ".join(self.words[number] for number in ids)

    def is_beginning(self, ids: Sequence[int]) -> bool:
        """Whether a sentence begins like this and goes on; all of it is no beginning."""
        return tuple(ids) in self._weights

    def next_word(self, beginning: Sequence[int]) -> Array:
        """Compute the probability (V,) of each word after the beginning of a sentence.

        Raises:
            KeyError: no sentence begins like this.
        """
        if not self.is_beginning(beginning):
            raise KeyError(f"no sentence begins with {self.text(beginning)!r}; see `CityLanguage.sentences`")
        weights = self._weights[tuple(beginning)]
        chances: Array = weights / weights.sum()
        return chances

    def beginnings(self) -> tuple[Array, Array]:
        """List all N beginnings of sentences.

        Returns:
            How often each is met, per word of a text, (N,), sum 1; and what comes next, (N, V).
        """
        table = np.stack(list(self._weights.values()))  # (N, V)
        met = table.sum(axis=1)  # (N,), per sentence
        return met / met.sum(), table / met[:, None]

    def floor(self) -> float:
        """Compute the cross-entropy below which no model comes: the entropy of the next word, nats per word."""
        often, chances = self.beginnings()
        return float(often @ entropy(chances))  # (N,) @ (N,)

    def draw(self, generator: np.random.Generator, rows: int, length: int) -> Ids:
        """Draw pieces of text (rows, length + 1), each beginning with `END` and a new sentence, cut anywhere.

        The first `length` of a row are a model's input, the last `length` its labels.
        """
        drawn = np.zeros((rows, length + 1), np.int64)
        for row in drawn:
            filled = 1
            while filled <= length:
                sentence = self.sentences[generator.choice(len(self.sentences), p=self.probabilities)]
                part = sentence[: length + 1 - filled]
                row[filled : filled + len(part)] = part
                filled += len(part)
        return drawn

    def next_words(self, text: Ids) -> Array:
        """Compute the probabilities (rows, S, V) of the next word after each word of pieces of text (rows, S)."""
        chances = np.zeros((*text.shape, len(self.words)))
        for row, ids in enumerate(text.tolist()):
            start = 0
            for place, word in enumerate(ids):
                start = place + 1 if word == 0 else start
                chances[row, place] = self.next_word(ids[start : place + 1])
        return chances


@functools.cache
def city_language() -> CityLanguage:
    """Make the language, once."""
    return CityLanguage()


def entropy(chances: Array) -> Array:
    """Compute -sum(p log p) along the last axis, in nats: (..., V) -> (...); 0 log 0 is 0."""
    logs = np.log(np.where(chances > 0, chances, 1.0))
    total: Array = -(chances * logs).sum(axis=-1)  # (..., V) -> (...)
    return total


def divergence(chances: Array, log_q: Array) -> Array:
    """Compute KL(p || q) along the last axis, in nats: p and log q (..., V) -> (...)."""
    cross: Array = -(chances * np.where(chances > 0, log_q, 0.0)).sum(axis=-1)  # (..., V) -> (...)
    return cross - entropy(chances)


def millinats_above_floor(chances: Array, log_q: Array) -> float:
    """Compute by how much a model's cross-entropy is above the floor, in millinats per word: 1000 E[KL(p || q)].

    Both are distributions at the same places, so that what words really came does not matter: it has no noise.

    Args:
        chances: the true p (..., V).
        log_q: logarithms of the model's q (..., V); they may be -inf where p is 0.
    """
    return 1000 * float(divergence(chances, log_q).mean())


def expected_above_floor(often: Array, chances: Array, log_q: Array) -> float:
    """Compute the same for a whole language, from its N beginnings: see `CityLanguage.beginnings`.

    Args:
        often: (N,), sum 1.
        chances: the true p (N, V).
        log_q: logarithms of the model's q (N, V).
    """
    return 1000 * float(often @ divergence(chances, log_q))  # (N,) @ (N,)


def perplexity(nats: float) -> float:
    """Turn a cross-entropy in nats per word into among how many equally likely words one would choose."""
    return math.exp(nats)
