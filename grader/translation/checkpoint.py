"""Where a training run is, on the disk: one file, replaced in one step, with nothing pickled in it."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from grader.atomic import write_atomic
from grader.case import Array

from .state import State

FILE = "checkpoint.npz"
WHERE, PARAMETER, MOMENT, BEST = "where", "parameter:", "moment:", "best:"


class Epoch(msgspec.Struct, frozen=True, kw_only=True):
    """What an epoch came to; `score` is BLEU on the first validation pairs, without the submission's `generate`."""

    number: int
    train_loss: float
    valid_loss: float
    score: float


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """How far a run is.

    Args:
        key: what it belongs to: submission, text, recipe, seed, grader.
        epoch: whole epochs behind it.
        step: batches of the present epoch behind it.
        losses: of every step.
        curve: what each epoch came to.
        own: the test sentences by the submission's `generate`; None: not translated yet.
        given: the same without it.
    """

    key: str
    epoch: int = 0
    step: int = 0
    losses: tuple[float, ...] = ()
    curve: tuple[Epoch, ...] = ()
    own: tuple[str, ...] | None = None
    given: tuple[str, ...] | None = None

    @property
    def best(self) -> Epoch | None:
        """The epoch with the lowest validation loss, the first of several."""
        return min(self.curve, key=lambda epoch: epoch.valid_loss, default=None)


@dataclass(frozen=True)
class Checkpoint:
    """A run.

    Args:
        place: how far it is.
        state: the model now.
        best: the parameters after the best epoch so far; none before the first has ended.
    """

    place: Place
    state: State
    best: Mapping[str, Array] = field(default_factory=dict)


def save(folder: Path, checkpoint: Checkpoint) -> None:
    """Write it; of one with its translations only the numbers are kept, as nothing is trained any more.

    Raises:
        OSError: the disk is full or not writable; the one before is untouched.
    """
    arrays: dict[str, Any] = {WHERE: np.frombuffer(msgspec.json.encode(checkpoint.place), np.uint8)}
    if checkpoint.place.own is None:
        kinds = {PARAMETER: checkpoint.state.parameters, MOMENT: checkpoint.state.moments, BEST: checkpoint.best}
        arrays |= {f"{kind}{name}": array for kind, part in kinds.items() for name, array in part.items()}
    packed = io.BytesIO()
    np.savez(packed, **arrays)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_atomic(folder / FILE, packed.getvalue(), mode=0o600)


def load(folder: Path, key: str) -> Checkpoint | None:
    """The checkpoint of that key; None where there is none, or one of something else, or a damaged one."""
    try:
        with np.load(io.BytesIO((folder / FILE).read_bytes()), allow_pickle=False) as packed:
            arrays = dict(packed)
        place = msgspec.json.decode(arrays.pop(WHERE).tobytes(), type=Place)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, msgspec.MsgspecError):
        return None
    kinds = {
        kind: {name.removeprefix(kind): array for name, array in arrays.items() if name.startswith(kind)}
        for kind in (PARAMETER, MOMENT, BEST)
    }
    parameters, moments, best = kinds.values()
    return Checkpoint(place, State(parameters, moments), best) if place.key == key else None


def discard(folder: Path) -> None:
    """Forget the checkpoint of an earlier run.

    Raises:
        OSError: it cannot be deleted.
    """
    (folder / FILE).unlink(missing_ok=True)
