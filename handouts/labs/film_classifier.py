"""The classifier of film sentences (`assignment.training`) on the course's modules, and what the labs ask of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

from assignment import reversal
from assignment.framework import TensorBackend, tensor
from assignment.training import SentenceClassifier, sentences
from handouts.labs import course

Array: TypeAlias = npt.NDArray[Any]


def on_course_modules() -> Any:
    """Have `assignment.training` build of `course` within: in the instructors' repository its neighbours are stubs."""
    return patch.multiple(
        "assignment.training.classifier",
        Embedding=course.modules_basic.Embedding,
        Linear=course.modules_basic.Linear,
        TransformerLayer=course.transformer.TransformerLayer,
        softmax_loss=course.nn.softmax_loss,
    )


def fresh(positions: bool, seed: int = 0, n_layer: int = 1) -> SentenceClassifier:
    """Make a classifier of the size that `assignment.reversal` trains, in float64 and not trained."""
    with on_course_modules():
        return SentenceClassifier(
            len(sentences.WORDS),
            reversal.N_EMBD,
            reversal.N_HEAD,
            sentences.LENGTH,
            n_layer=n_layer,
            positions=positions,
            backend=TensorBackend(seed=seed),
        )


def learn(model: SentenceClassifier, data: sentences.Sentences) -> Array:
    """Train on all batches, the learning rate falling in a line to 0; return the losses (steps,)."""
    steps = len(data.ids)
    rates = [reversal.RATE * (1 - step / steps) for step in range(steps)]
    with on_course_modules():
        losses: Array = model.learn(tensor(data.ids), tensor(data.labels), rates).to_numpy()
    model.eval()
    return losses


def encoded(texts: Iterable[str], words: tuple[str, ...] = sentences.WORDS) -> sentences.Ids:
    """Put ids for the words of sentences of one length: (N, S)."""
    return np.array([[words.index(word) for word in text.split()] for text in texts], np.int64)
