"""A language model that learns the city language, and how far above the floor it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assignment.framework import Adam, Module, Tensor, TensorBackend, tensor
from assignment.training.steps import train
from handouts.labs.city_language import CityLanguage, Ids, millinats_above_floor
from handouts.labs.course import nn, transformer
from handouts.labs.post_ln_lm import PostLNDecoderLM

Array: TypeAlias = npt.NDArray[Any]

LENGTH = 24
"""Words of a piece of text: two or three sentences."""
TEST_ROWS = 32
PRE, POST = "Pre-LN", "Post-LN"


def language_model(kind: str, language: CityLanguage, n_embd: int, n_layer: int, seed: int) -> Module:
    """Make a small model without dropout, in float32; the same numbers for the same seed, whatever the kind.

    Args:
        kind: `PRE` or `POST`.
        language: whose words it is to know.
        n_embd: size of the vectors, a multiple of 4: it has 4 heads.
        n_layer: number of blocks.
        seed: of the initial parameters.
    """
    backend, n_vocab = TensorBackend(np, "float32", seed), len(language.words)
    if kind == POST:
        return PostLNDecoderLM(n_vocab, n_embd, 4, LENGTH, n_layer=n_layer, backend=backend)
    return transformer.DecoderLM(n_vocab, n_embd, 4, LENGTH, 0.0, backend=backend, n_layer=n_layer)


def log_softmax(logits: Array) -> Array:
    """Compute log(softmax(z)) along the last axis (..., V), in float64."""
    logs: Array = nn.logsoftmax(tensor(logits), dim=-1).to_numpy()
    return logs


def log_probabilities(model: Module, ids: Ids) -> Array:
    """Compute what a model takes the next word to be, after each word of ids (B, S): logarithms (B, S, V)."""
    return log_softmax(model(tensor(ids, backend=model.backend)).to_numpy())  # (B, S) -> (B, S, V)


def mean_loss(model: Module, text: Ids) -> Tensor:
    """Compute the mean cross-entropy of a model on text (B, S + 1), whose last S words it is to predict: (1,)."""
    logits = model(tensor(text[:, :-1], backend=model.backend))  # (B, S) -> (B, S, V)
    labels = tensor(text[:, 1:].reshape(-1), backend=model.backend)  # (B, S) -> (B S,)
    return nn.softmax_loss(logits.view(-1, logits.shape[-1]), labels).mean()  # (B, S, V) -> (B S, V)


class Run:
    """A model in training: each step is one of Adam's, on new text.

    Attributes:
        model: ids (B, S) -> logits (B, S, V).
        optimizer: Adam with the numbers of Vaswani et al. (2017), section 5.3; it goes on from call to call.

    Args:
        model: any such model.
        language: what it learns.
        seed: of the texts, for training and for the test.
        rows: pieces of text in a batch.
    """

    def __init__(self, model: Module, language: CityLanguage, seed: int, rows: int = 16) -> None:
        self.model, self.language, self.rows = model, language, rows
        self.optimizer = Adam(model.parameters(), beta2=0.98, eps=1e-9)
        self.numbers = np.random.default_rng([seed, 0])
        self.test = language.draw(np.random.default_rng([seed, 1]), TEST_ROWS, LENGTH)[:, :-1]  # (32, S)
        self.chances = language.next_words(self.test)  # (32, S, V)

    def learn(self, rates: Sequence[float]) -> None:
        """Take a step at each of these learning rates."""
        train(self.loss, len(rates), list(rates), self.optimizer, self.model.backend)

    def loss(self, _step: int) -> Tensor:
        """Compute the mean cross-entropy of a new batch."""
        return mean_loss(self.model, self.language.draw(self.numbers, self.rows, LENGTH))

    def above_floor(self) -> float:
        """Compute how far above the floor the model is on the test's text, in millinats per word."""
        return millinats_above_floor(self.chances, log_probabilities(self.model, self.test))

    def curve(self, rates: Sequence[float], every: int) -> list[float]:
        """Learn, looking at the test's text before the first step and after every so many.

        Returns:
            Millinats above the floor, 1 + steps / every of them.
        """
        found = [self.above_floor()]
        for start in range(0, len(rates), every):
            self.learn(rates[start : start + every])
            found.append(self.above_floor())
        return found
