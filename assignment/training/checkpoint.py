"""A run on the disk: everything that decides how it goes on, so that a killed one ends as if nothing had happened.

`arrays-<step>.npz` holds the arrays; `checkpoint.json` names that file and holds the rest. The JSON file is replaced
last and in one step: at every moment, it and the arrays that it names belong together. Nothing in them is pickled, so a
checkpoint from elsewhere can do no harm.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from assignment.framework import Adam, Module, TensorBackend, default_backend
from assignment.framework.backend import to_host

from .atomic import write_atomic
from .curve import Epoch
from .errors import TrainingError
from .recipe import Recipe, flag

FORMAT = "hw3-checkpoint/1"
RECORD = "checkpoint.json"


@dataclass
class Place:
    """Where a run is.

    Attributes:
        epoch: whole epochs behind it.
        step: batches of the present epoch behind it.
        taken: batches of all epochs behind it.
        loss_sum: of the present epoch's batches.
        seconds: training so far, over all runs.
        curve: what each epoch came to.
    """

    epoch: int = 0
    step: int = 0
    taken: int = 0
    loss_sum: float = 0.0
    seconds: float = 0.0
    curve: list[Epoch] = field(default_factory=list)


@dataclass(frozen=True)
class Identity:
    """What a checkpoint belongs to: the recipe and a hash of the text."""

    recipe: Recipe
    data: str


def save(
    folder: Path, identity: Identity, place: Place, model: Module, optimizer: Adam, backend: TensorBackend
) -> None:
    """Write a checkpoint, then delete the one before it."""
    arrays = {f"parameter.{name}": array for name, array in model.state().items()}
    counts = {}
    for index, (count, mean, square) in optimizer.moments.items():
        counts[str(index)] = count
        arrays |= {f"mean.{index}": to_host(mean), f"square.{index}": to_host(square)}
    name = f"arrays-{place.taken:08d}.npz"
    write_arrays(folder / name, arrays)
    record = {
        "format": FORMAT,
        "arrays": name,
        "recipe": asdict(identity.recipe),
        "data": identity.data,
        "place": asdict(place),
        "adam_counts": counts,
        "random": random_states(backend),
    }
    write_atomic(folder / RECORD, (json.dumps(record, indent=1) + "\n").encode())
    for path in folder.glob("arrays-*.npz"):
        if path.name != name:
            path.unlink()


def load(folder: Path, identity: Identity, model: Module, optimizer: Adam, backend: TensorBackend) -> Place | None:
    """Set model, optimizer and random numbers as they were; None where there is no checkpoint.

    Raises:
        TrainingError: the checkpoint is of other options, other text or another model, or is damaged.
    """
    path = folder / RECORD
    if not path.exists():
        return None
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if record["format"] != FORMAT:
            raise TrainingError(f"{path} is of format {record['format']}; expected {FORMAT}: choose another --out")
        refuse_another(folder, record, identity)
        arrays = read_arrays(folder / record["arrays"])
        model.load_state({n.removeprefix("parameter."): a for n, a in arrays.items() if n.startswith("parameter.")})
        optimizer.moments = {
            int(index): (count, backend.convert(arrays[f"mean.{index}"]), backend.convert(arrays[f"square.{index}"]))
            for index, count in record["adam_counts"].items()
        }
        restore_random(backend, record["random"])
        place = Place(**record["place"])
        place.curve = [Epoch(**epoch) for epoch in record["place"]["curve"]]
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        raise TrainingError(
            f"{path} does not fit this model or is damaged ({error}); give another --out, or delete the folder"
        ) from error
    return place


def refuse_another(folder: Path, record: Mapping[str, Any], identity: Identity) -> None:
    """Check that a checkpoint is of this recipe and text.

    Raises:
        TrainingError: it is of another.
    """
    now = asdict(identity.recipe)
    other = [
        f"{flag(name)} {record['recipe'].get(name)}, not {value}"
        for name, value in now.items()
        if record["recipe"].get(name) != value
    ]
    if record["data"] != identity.data:
        other.append("another text")
    if other:
        raise TrainingError(
            f"the checkpoint in {folder} was made with {'; '.join(other)}; give the same options and text to go on "
            "with it, or another --out to begin anew"
        )


def random_states(backend: TensorBackend) -> list[Any]:
    """Copy the states of the framework's generators: this backend's, and the default one's, which students may use."""
    return [source.generator.bit_generator.state for source in (backend, default_backend())]


def restore_random(backend: TensorBackend, states: list[Any]) -> None:
    """Set the framework's generators as they were."""
    for source, state in zip((backend, default_backend()), states, strict=True):
        source.generator.bit_generator.state = state


def write_arrays(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write arrays as .npz, in one step."""
    packed = io.BytesIO()
    np.savez(packed, **arrays)
    write_atomic(path, packed.getvalue())


def read_arrays(path: Path) -> dict[str, Any]:
    """Read arrays from .npz.

    Raises:
        OSError: it cannot be read.
        ValueError: it holds objects.
        zipfile.BadZipFile: it is damaged.
    """
    with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as packed:
        return dict(packed)
