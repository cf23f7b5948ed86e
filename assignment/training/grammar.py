"""A small language like German and its translation into one like English, for a translator to learn in a minute.

What makes it a translation and not a list of words: the article's case, not the place, says who does it ("den hund hat
der mann gesehen" is "the man has seen the dog"); the participle stands at the end; after an adverb the verb comes
before the subject; "nicht" stands elsewhere than "not"; adjectives are inflected, and some verbs want the dative.
A German sentence has one translation; an English one has several.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.int64]
Pair: TypeAlias = dict[str, str]
"""A sentence in both languages: {"de": "...", "en": "..."}."""

NOUNS = {"mann": "man", "hund": "dog", "koch": "cook", "arzt": "doctor", "sohn": "son", "freund": "friend"}
ADJECTIVES = {"alt": "old", "klein": "small", "gut": "good"}
ADVERBS = {"heute": "today", "gestern": "yesterday", "oft": "often"}
ACCUSATIVE_VERBS = {"gesehen": "seen", "gefunden": "found", "gesucht": "sought", "gerufen": "called"}
DATIVE_VERBS = {"geholfen": "helped", "gedankt": "thanked"}
VERBS = ACCUSATIVE_VERBS | DATIVE_VERBS
INFLECTED = {"der": "{}e", "den": "{}en", "dem": "{}en"}
"""Article -> what an adjective after it looks like."""

SUBJECT, OBJECT = "subject", "object"
FIRST = (SUBJECT, OBJECT, *ADVERBS)
"""What can stand before the German verb."""

SPECIALS = ("<pad>", "<eos_de>", "<eos_en>")
"""The first words of every vocabulary: ids 0, 1 and 2."""
GERMAN = (
    *INFLECTED,
    "hat",
    "nicht",
    *NOUNS,
    *(form.format(adjective) for adjective in ADJECTIVES for form in ("{}e", "{}en")),
    *ADVERBS,
    *VERBS,
)
ENGLISH = ("the", "has", "not", *NOUNS.values(), *ADJECTIVES.values(), *ADVERBS.values(), *VERBS.values())
LONGEST = 10
"""Words of the longest sentence, in either language."""
LENGTH = 2 * LONGEST + 1
"""Tokens that a model must be able to read: <de> <eos_de> <en>. After the last it says <eos_en>."""


@dataclass(frozen=True)
class Lesson:
    """What a translator learns from, and what it is tested with.

    Attributes:
        words: the vocabulary; a word's id is its place.
        batches: (steps, 3, B, LENGTH): input ids, labels and the labels' weights; see `encode`.
        held_out: sentences to translate. Neither their German nor their English is in a batch.
    """

    words: tuple[str, ...]
    batches: Array
    held_out: list[Pair]


def draw(generator: np.random.Generator, steps: int, batch: int, held_out: int) -> Lesson:
    """Draw which word has which id, the sentences to test with, and batches of other sentences.

    Args:
        generator: of all that is random.
        steps: number of batches.
        batch: sentences in each, B.
        held_out: number of sentences to test with.
    """
    words = vocabulary(generator)
    tests = pairs(generator, held_out)
    learned = encode(pairs(generator, steps * batch, avoid=tests), words, LENGTH)  # (steps B, 3, LENGTH)
    batches = learned.reshape(steps, batch, 3, LENGTH).transpose(0, 2, 1, 3)  # (steps, 3, B, LENGTH)
    return Lesson(words, batches, tests)


def vocabulary(generator: np.random.Generator) -> tuple[str, ...]:
    """Give the words of both languages ids in any order, after the special ones."""
    words = GERMAN + ENGLISH
    return SPECIALS + tuple(words[number] for number in generator.permutation(len(words)))


def pairs(generator: np.random.Generator, count: int, avoid: Iterable[Pair] = ()) -> list[Pair]:
    """Draw sentences whose English is none of those to avoid."""
    avoided = {pair["en"] for pair in avoid}
    drawn: list[Pair] = []
    while len(drawn) < count:
        more = map(sentence, *choices(generator, count))
        drawn += [pair for pair in more if pair["en"] not in avoided]
    return drawn[:count]


def choices(generator: np.random.Generator, count: int) -> list[list[str]]:
    """Draw the seven parts of each of `count` sentences, in the order in which `sentence` takes them."""
    names = tuple(NOUNS)
    who = generator.integers(len(names), size=count)
    other = (who + generator.integers(1, len(names), size=count)) % len(names)  # never the same person
    people = [[names[number] for number in numbers] for numbers in (who, other)]
    rest = (("", *ADJECTIVES), ("", *ADJECTIVES), tuple(VERBS), FIRST, ("", "nicht"))
    drawn = [[options[number] for number in generator.integers(len(options), size=count)] for options in rest]
    return people + drawn


def sentence(who: str, whom: str, who_like: str, whom_like: str, verb: str, first: str, negation: str) -> Pair:
    """Say in both languages who has done what to whom.

    Args:
        who: German noun.
        whom: German noun.
        who_like: German adjective, or "".
        whom_like: the same for the other.
        verb: German participle.
        first: what stands before the German verb, one of `FIRST`.
        negation: "nicht", or "".
    """
    subject = german(who, who_like, "der")
    object_ = german(whom, whom_like, "dem" if verb in DATIVE_VERBS else "den")
    adverb = first if first in ADVERBS else ""
    order = {SUBJECT: (subject, "hat", object_), OBJECT: (object_, "hat", subject)}
    de = (*order.get(first, (first, "hat", subject, object_)), negation, verb)
    en = (
        ADVERBS.get(adverb, ""),
        english(who, who_like),
        "has",
        "not" if negation else "",
        VERBS[verb],
        english(whom, whom_like),
    )
    return {"de": " ".join(filter(None, de)), "en": " ".join(filter(None, en))}


def german(noun: str, adjective: str, article: str) -> str:
    """Name someone in the case of the article: "den alten mann"."""
    return f"{article} {INFLECTED[article].format(adjective)} {noun}" if adjective else f"{article} {noun}"


def english(noun: str, adjective: str) -> str:
    """Name someone: "the old man"."""
    return f"the {ADJECTIVES[adjective]} {NOUNS[noun]}" if adjective else f"the {NOUNS[noun]}"


def encode(sentences: Sequence[Pair], words: Sequence[str], length: int) -> Array:
    """Put sentences into arrays, as `loss_fn` wants them.

    With <de> <eos_de> <en> <eos_en> <pad> ... of length + 1 tokens, the input is all but the last of them, and the
    label of each what comes after it. A label that is a word of the target, or <eos_en>, has the weight 1.

    Args:
        sentences: N of them.
        words: the vocabulary, `SPECIALS` first.
        length: S.

    Returns:
        (N, 3, S): input ids, labels, weights.

    Raises:
        ValueError: a sentence is too long.
    """
    ids = {word: number for number, word in enumerate(words)}
    tokens = np.full((len(sentences), length + 1), ids["<pad>"], np.int64)
    weights = np.zeros((len(sentences), length), np.int64)
    for number, pair in enumerate(sentences):
        row = [ids[word] for word in (*pair["de"].split(), "<eos_de>", *pair["en"].split(), "<eos_en>")]
        if len(row) > length + 1:
            raise ValueError(f"{pair['de']!r} and its translation are {len(row)} tokens; expected {length + 1} at most")
        tokens[number, : len(row)] = row
        weights[number, row.index(ids["<eos_de>"]) : len(row) - 1] = 1
    return np.stack([tokens[:, :-1], tokens[:, 1:], weights], axis=1)  # three of (N, S) -> (N, 3, S)


def decoys(sentences: Sequence[Pair]) -> list[Pair]:
    """Give each sentence the translation of another one: who copies it is wrong.

    Raises:
        ValueError: all have the same translation.
    """
    translations = [pair["en"] for pair in sentences]
    if len(set(translations)) < 2:  # noqa: PLR2004  # two make a difference
        raise ValueError(f"{len(sentences)} sentences with one translation; expected two translations or more")
    false: list[Pair] = []
    for number, pair in enumerate(sentences):
        others = translations[number + 1 :] + translations[:number]
        false.append({"de": pair["de"], "en": next(other for other in others if other != pair["en"])})
    return false


def disguise(sentences: Sequence[Pair], words: Sequence[str]) -> list[Pair]:
    """Write "w7" for the word with the id 7, so that nothing but its use tells what it means."""
    names = dict(zip(words, disguised(words), strict=True))
    return [
        {language: " ".join(names[word] for word in text.split()) for language, text in pair.items()}
        for pair in sentences
    ]


def disguised(words: Sequence[str]) -> list[str]:
    """Name the words of a vocabulary, except for the special ones, by their ids."""
    return [word if word in SPECIALS else f"w{number}" for number, word in enumerate(words)]
