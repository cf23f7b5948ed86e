"""One submission's training: a request of some steps, a checkpoint, and so on; it can end and go on anywhere."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from . import checkpoint
from .checkpoint import Checkpoint, Epoch, Place
from .lesson import Lesson
from .requests import Asker, Rows
from .scoring import quick_bleu
from .state import State


@dataclass(frozen=True)
class Trained:
    """What a run came to.

    Args:
        place: losses, the learning curve and, where there are any, translations.
        finished: it came to the end of the recipe; else its time was up.
    """

    place: Place
    finished: bool


class Training:
    """A run on its way.

    Args:
        lesson: what is learned.
        asker: whom to ask.
        folder: for the checkpoint.
        key: what the checkpoint belongs to.
    """

    def __init__(self, lesson: Lesson, asker: Asker, folder: Path, key: str) -> None:
        self._lesson, self._asker, self._folder = lesson, asker, folder
        self._at = checkpoint.load(folder, key) or Checkpoint(Place(key=key), State(lesson.start()))

    def run(self, minutes: float) -> Trained:
        """Train to the end of the recipe, or for so many minutes, and translate.

        Raises:
            FailedError: the submission has ended it.
            InfrastructureError: the grader or the machine has; the checkpoint is kept.
        """
        deadline = time.monotonic() + 60 * minutes
        while self._at.place.own is None and self._at.place.epoch < self._lesson.recipe.epochs:
            if time.monotonic() >= deadline:
                return Trained(self._translated(), finished=False)
            self._keep(self._further())
        if self._at.place.own is None:
            self._keep(replace(self._at, place=self._translated()))
        return Trained(self._at.place, finished=True)

    def _keep(self, at: Checkpoint) -> None:
        self._at = at
        checkpoint.save(self._folder, at)

    def _further(self) -> Checkpoint:
        """One request: the next steps of the epoch or, where there are none left, its validation."""
        place, order = self._at.place, self._lesson.order(self._at.place.epoch)
        if place.step >= len(order):
            return self._epoch_ended(len(order))
        recipe, taken = self._lesson.recipe, len(place.losses)
        chosen = order[place.step : place.step + recipe.steps]
        rates = [recipe.learning_rate(taken + number + 1, self._lesson.steps) for number in range(len(chosen))]
        state, losses = self._asker.learn(self._at.state, [self._lesson.batch(p) for p in chosen], rates, taken)
        place = msgspec.structs.replace(place, step=place.step + len(chosen), losses=(*place.losses, *losses))
        return replace(self._at, place=place, state=state)

    def _epoch_ended(self, steps: int) -> Checkpoint:
        at, place = self._at, self._at.place
        loss, rows = self._asker.measure(at.state, len(place.losses))
        score = quick_bleu(self._texts(rows), self._lesson.material.watched[1])
        trained = place.losses[-steps:]
        epoch = Epoch(number=place.epoch + 1, train_loss=sum(trained) / steps, valid_loss=loss, score=score)
        place = msgspec.structs.replace(place, epoch=place.epoch + 1, step=0, curve=(*place.curve, epoch))
        return Checkpoint(place, at.state, at.state.parameters if place.best is epoch else at.best)

    def _translated(self) -> Place:
        """With the parameters of the best epoch; before the first has ended, with those that there are."""
        at = self._at
        if not at.place.losses:
            return at.place
        best = State(at.best or at.state.parameters)
        own, given = self._asker.translate(best, len(at.place.losses))
        return msgspec.structs.replace(at.place, own=tuple(self._texts(own)), given=tuple(self._texts(given)))

    def _texts(self, rows: Rows) -> list[str]:
        lesson = self._lesson
        return [self._text([int(lesson.old_ids[piece]) for piece in row]) for row in rows]

    def _text(self, pieces: Sequence[int]) -> str:
        return self._lesson.material.pieces.decode(pieces)
