"""How much of a batch is padding, by how the sentences are put together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]


def padding_share(lengths: Array, batches: Iterable[Array]) -> float:
    """Compute which share of all places holds no word, if each batch is as long as its longest sentence.

    Args:
        lengths: words of each sentence, (N,).
        batches: the places of each batch's sentences.
    """
    drawn = [lengths[batch] for batch in batches]
    words = sum(int(batch.sum()) for batch in drawn)
    places = sum(len(batch) * int(batch.max()) for batch in drawn)
    return 1 - words / places


def cut(order: Array, batch: int) -> list[Array]:
    """Cut an order of sentences into batches."""
    return [order[start : start + batch] for start in range(0, len(order), batch)]


def by_length(lengths: Array, batch: int, generator: np.random.Generator) -> list[Array]:
    """Make batches of sentences of like length, and shuffle the batches: those of like length must not come in a row.

    Source: Vaswani et al. (2017), section 5.1; lecture 6, section 7.4.
    """
    batches = cut(np.argsort(lengths, kind="stable"), batch)
    return [batches[number] for number in generator.permutation(len(batches))]
