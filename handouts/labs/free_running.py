"""A language model that reads what it wrote itself: how often does it leave the language?"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assignment.framework import Module
from handouts.labs.city_language import CityLanguage
from handouts.labs.city_training import Run, log_probabilities

Ids: TypeAlias = npt.NDArray[np.int64]
Array: TypeAlias = npt.NDArray[Any]


def impossible_mass(run: Run) -> float:
    """Compute the mean probability that the model gives to words that cannot follow, after true text."""
    q = np.exp(log_probabilities(run.model, run.test))  # (B, S, V)
    return float(np.where(run.chances > 0, 0.0, q).sum(axis=-1).mean())


def write(model: Module, generator: np.random.Generator, rows: int, length: int) -> Ids:
    """Draw each next word from the model's own distribution, again and again: (rows, length), after an END (id 0)."""
    ids = np.zeros((rows, 1), np.int64)
    for _ in range(length):
        last = log_probabilities(model, ids)[:, -1]  # (rows, S, V) -> (rows, V)
        reach = np.exp(last).cumsum(axis=-1)
        points = generator.random((rows, 1)) * reach[:, -1:]
        words = (points > reach).sum(axis=-1, keepdims=True)  # (rows, V) -> (rows, 1): the first that is reached
        ids = np.concatenate([ids, words], axis=1)
    return ids[:, 1:]


def first_mistake(language: CityLanguage, ids: list[int]) -> int | None:
    """Find the place of the first word that cannot follow what is before it, in one sentence; None: there is none."""
    for place, word in enumerate(ids):
        if not language.next_word(ids[:place])[word]:
            return place
        if word == 0:
            break
    return None


def marked(language: CityLanguage, ids: list[int], mistake: int) -> str:
    """Spell out a sentence, its first mistake in brackets."""
    end = ids.index(0) + 1 if 0 in ids else len(ids)
    words = language.text(ids[:end]).split()
    words[mistake] = f"[{words[mistake]}]"
    return " ".join(words)
