"""What staff can look at beside the checkpoint: the learning curve and the translations."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from grader.atomic import write_atomic
from grader.given import curve

from .checkpoint import Place

if TYPE_CHECKING:
    from collections.abc import Sequence

CURVE, TRANSLATIONS = "curve.png", "translations.jsonl"
_ONE_AT_A_TIME = threading.Lock()
"""matplotlib is not made for several threads."""


def write(folder: Path, place: Place, references: Sequence[str]) -> None:
    """Draw the curve, where matplotlib is installed, and write the translations beside their references.

    The texts are a submission's: JSON keeps every character of theirs from the terminal that shows the file.

    Raises:
        OSError: the disk is full or not writable.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    epochs = [curve.Epoch(e.number, e.train_loss, e.valid_loss, e.score, 0.0) for e in place.curve]
    if epochs:
        with _ONE_AT_A_TIME:
            curve.draw(epochs, "BLEU, validation", folder / CURVE)
    pairs = zip(place.own or (), references, strict=False)
    lines = "".join(json.dumps({"generate": own, "reference": theirs}) + "\n" for own, theirs in pairs)
    write_atomic(folder / TRANSLATIONS, lines.encode(), mode=0o600)
