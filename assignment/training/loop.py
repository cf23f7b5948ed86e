"""The training run: batch after batch; validation and a checkpoint after every epoch; on from a checkpoint."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from assignment.framework import Adam, Module, Tensor, TensorBackend, average_checkpoints, tensor_from_numpy
from assignment.translation import loss_fn

from . import checkpoint
from .batches import EVALUATION_BATCH, TokenPair, arrays, epoch_order, steps_of_epoch
from .checkpoint import Identity, Place
from .curve import Epoch
from .errors import TrainingError
from .smoothing import smoothed_loss
from .terminal import Display

MEASURED_STEPS = 4
"""Steps for the estimate of the time; the first warms up and is not counted."""


class Trainer:
    """A model on its way through a recipe.

    Args:
        model: ids (B, S) -> logits (B, S, V).
        identity: recipe and text.
        train: what to learn from.
        valid: what the loss after an epoch is measured on.
        pad: id of <pad>.
        backend: where the model is.
        folder: for checkpoints.
    """

    def __init__(
        self,
        model: Module,
        identity: Identity,
        train: Sequence[TokenPair],
        valid: Sequence[TokenPair],
        pad: int,
        backend: TensorBackend,
        folder: Path,
    ) -> None:
        self.model, self.identity, self.recipe = model, identity, identity.recipe
        self.train, self.valid, self.pad = train, valid, pad
        self.backend, self.folder = backend, folder
        self.optimizer = Adam(model.parameters(), lr=self.recipe.lr)
        self.lengths = np.array([len(sequence.ids) for sequence in train], np.int64)  # (N,)
        self.steps = self.recipe.epochs * steps_of_epoch(len(train), self.recipe.batch, self.recipe.samples)
        self.place = Place()

    def resume(self) -> bool:
        """Go to where the checkpoint in the folder is; False where there is none.

        Raises:
            TrainingError: the checkpoint is of another run, or is damaged.
        """
        found = checkpoint.load(self.folder, self.identity, self.model, self.optimizer, self.backend)
        if found is None:
            for left in self.folder.glob("epoch-*.npz"):
                left.unlink()
        self.place = found or self.place
        return found is not None

    def save(self) -> None:
        """Write a checkpoint."""
        checkpoint.save(self.folder, self.identity, self.place, self.model, self.optimizer, self.backend)

    def order(self) -> list[np.ndarray]:
        """Return the batches of the present epoch, as places in `train`."""
        generator = np.random.default_rng([self.recipe.seed, self.place.epoch])  # the same in any process
        return epoch_order(self.lengths, self.recipe.batch, self.recipe.samples, generator)

    def loss_of(self, batch: Mapping[str, Tensor]) -> Tensor:
        """Compute the loss to go down on: your `loss_fn`; with label smoothing, more of it.

        Raises:
            TrainingError: it is not one number with a way back to the parameters.
        """
        if self.recipe.label_smoothing:
            loss = smoothed_loss(batch, self.model, self.recipe.label_smoothing, self.recipe.smoothing)
        else:
            loss = loss_fn(batch, self.model)
        if not isinstance(loss, Tensor) or loss.size != 1:
            got = f"a tensor of shape {loss.shape}" if isinstance(loss, Tensor) else type(loss).__name__
            raise TrainingError(f"loss_fn returned {got}; expected a tensor of one number, the mean over target tokens")
        if not loss.requires_grad:
            raise TrainingError(
                "loss_fn returned a number that no gradient leads back from; look for a step that leaves tensors, such "
                "as to_numpy(), item() or detach()"
            )
        return loss

    def batch(self, sequences: Sequence[TokenPair]) -> dict[str, Tensor]:
        """Put sequences where the model is."""
        made = arrays(sequences, self.pad)
        return {name: tensor_from_numpy(array, backend=self.backend) for name, array in made.items()}

    def step(self, chosen: np.ndarray) -> float:
        """Take one step on the batch of these places; returns its loss.

        Raises:
            TrainingError: the loss is no number.
        """
        self.optimizer.lr = self.recipe.learning_rate(self.place.taken + 1, self.steps)
        self.optimizer.zero_grad()
        loss = self.loss_of(self.batch([self.train[number] for number in chosen]))
        loss.backward()
        self.optimizer.step()
        value = loss.item()
        if not np.isfinite(value):
            raise TrainingError(
                f"the loss is {value} at step {self.place.taken + 1}; look for a log or division of 0 and for large "
                "numbers in your modules, or give a lower --lr"
            )
        self.place.step += 1
        self.place.taken += 1
        self.place.loss_sum += value
        return value

    def valid_loss(self) -> float:
        """Measure the mean `loss_fn` of the validation part's target tokens, in evaluation mode."""
        self.model.eval()
        ordered = sorted(self.valid, key=lambda sequence: len(sequence.ids))
        total = 0.0
        for first in range(0, len(ordered), EVALUATION_BATCH):
            part = ordered[first : first + EVALUATION_BATCH]
            total += loss_fn(self.batch(part), self.model).item() * sum(sequence.targets for sequence in part)
        self.model.train()
        return total / sum(sequence.targets for sequence in ordered)

    def estimate(self) -> float:
        """Measure a few steps, without taking them, and say how many seconds the rest of the run will train."""
        states = checkpoint.random_states(self.backend)
        order = self.order()
        times = []
        for number in range(MEASURED_STEPS):
            chosen = order[number * len(order) // MEASURED_STEPS]
            start = time.perf_counter()
            self.loss_of(self.batch([self.train[place] for place in chosen])).backward()
            self.optimizer.zero_grad()
            times.append(time.perf_counter() - start)
        checkpoint.restore_random(self.backend, states)
        return float(np.mean(times[1:])) * (self.steps - self.place.taken)

    def run(
        self,
        display: Display,
        score: Callable[[], tuple[str, float | None]],
        *,
        every_steps: int = 0,
        every_seconds: float = 60.0,
        limit_seconds: float = float("inf"),
    ) -> bool:
        """Train to the end of the recipe.

        Args:
            display: shows the steps.
            score: called after each epoch, says what it measures and how much that is on validation sentences, or None.
            every_steps: steps between checkpoints within an epoch; 0: no such.
            every_seconds: seconds between them; 0: no such.
            limit_seconds: training ends early after these.

        Returns:
            Whether it came to the end.
        """
        start = saved = time.perf_counter()
        self.model.train()
        while self.place.epoch < self.recipe.epochs:
            order = self.order()
            while self.place.step < len(order):
                begin = time.perf_counter()
                chosen = order[self.place.step]
                loss = self.step(chosen)
                now = time.perf_counter()
                self.place.seconds += now - begin
                display.step(self.place.taken, self.place.epoch + 1, loss, int(self.lengths[chosen].sum()), now - begin)
                late = now - start > limit_seconds
                due = bool(every_steps) and self.place.taken % every_steps == 0
                if late or due or (every_seconds and now - saved > every_seconds):
                    self.save()
                    saved = time.perf_counter()
                if late and self.place.step < len(order):
                    return False
            self.end_epoch(display, score, len(order))
            saved = time.perf_counter()
            if saved - start > limit_seconds:
                return self.place.epoch == self.recipe.epochs
        return True

    def end_epoch(self, display: Display, score: Callable[[], tuple[str, float | None]], steps: int) -> None:
        """Measure on the validation part, note it, and write a checkpoint: before, too, for what measures may raise."""
        self.save()
        place = self.place
        metric, value = score()
        epoch = Epoch(place.epoch + 1, place.loss_sum / steps, self.valid_loss(), value, place.seconds)
        measured = "generate is not written yet" if value is None else f"{metric} {value:.1f}"
        display.line(
            f"epoch {epoch.number}/{self.recipe.epochs}: loss {epoch.train_loss:.3f}, validation loss "
            f"{epoch.valid_loss:.3f}, {measured}, {epoch.seconds:.0f} s of training"
        )
        place.curve.append(epoch)
        place.epoch, place.step, place.loss_sum = place.epoch + 1, 0, 0.0
        if self.recipe.average > 1:
            checkpoint.write_arrays(self.folder / epoch_file(place.epoch), self.model.state())
        self.save()
        for old in sorted(self.folder.glob("epoch-*.npz"))[: -self.recipe.average or None]:
            old.unlink()

    def final_state(self) -> dict[str, np.ndarray]:
        """Return the parameters to translate with: the last, or the average of the last few epochs'."""
        last = (
            range(max(0, self.place.epoch - self.recipe.average), self.place.epoch) if self.recipe.average > 1 else ()
        )
        states = [checkpoint.read_arrays(self.folder / epoch_file(number + 1)) for number in last]
        return average_checkpoints(states) if states else self.model.state()


def epoch_file(number: int) -> str:
    """Name the file of an epoch's parameters."""
    return f"epoch-{number:04d}.npz"
