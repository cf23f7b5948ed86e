"""Greedy translation without the submission's `generate`: what its model has learned, whatever its `generate` does.

Sentences whose prompts have equally many tokens grow side by side, so nothing is padded; whoever ends leaves the batch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .case import Framework
from .vocabulary import WordTokenizer

METHOD = "greedily"
"""As a call's method: this, with the case's object as the model."""
BATCH = 64
"""Sentences that grow together, at most."""

Ids = npt.NDArray[np.int64]


class Greedy:
    """Asks a model.

    Args:
        model: ids (B, S) -> logits (B, S, V); in evaluation mode.
        framework: makes tensors.
        backend: where the model is.
    """

    def __init__(self, model: Any, framework: Framework, backend: Any) -> None:
        self._model, self._framework, self._backend = model, framework, backend

    def __call__(self, examples: list[dict[str, str]], tokenizer: WordTokenizer, model_max_length: int) -> list[str]:
        """The translations of the texts under "de"; what stands under "en" is not looked at."""
        prompts = [tokenizer(f"{example['de']}<eos_de>")["input_ids"] for example in examples]
        by_length: dict[int, list[int]] = {}
        for number, prompt in enumerate(prompts):
            by_length.setdefault(len(prompt), []).append(number)
        texts, stop = [""] * len(prompts), tokenizer.vocab["<eos_en>"]
        for length, numbers in sorted(by_length.items()):
            for first in range(0, len(numbers), BATCH):
                chunk = numbers[first : first + BATCH]
                rows = np.array([prompts[number] for number in chunk], np.int64)  # (B, length)
                for number, ids in zip(chunk, self._grow(rows, stop, model_max_length), strict=True):
                    texts[number] = tokenizer.decode(ids[length:])
        return texts

    def _grow(self, rows: Ids, stop: int, model_max_length: int) -> list[list[int]]:
        """The rows (B, S), each with the likeliest tokens behind it up to `stop`, or until it is too long to read."""
        done: list[list[int]] = [[] for _ in rows]
        places = np.arange(len(rows))  # where each row that is left came from
        while len(rows) and rows.shape[1] <= model_max_length:
            logits = self._model(self._framework.tensor_from_numpy(rows, backend=self._backend))  # (B, S, V)
            best = logits[:, rows.shape[1] - 1].to_numpy().argmax(axis=1)  # (B, V) -> (B,)
            for place in np.flatnonzero(best == stop):
                done[places[place]] = rows[place].tolist()
            going = best != stop
            rows = np.concatenate([rows, best[:, None]], axis=1)[going]  # (B, S) -> (B still going, S + 1)
            places = places[going]
        for place, row in zip(places, rows, strict=True):
            done[place] = row.tolist()
        return done
