"""The learning curve as a figure."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .atomic import write_atomic


@dataclass(frozen=True)
class Epoch:
    """What an epoch came to.

    Attributes:
        number: counted from 1.
        train_loss: mean over the epoch's batches.
        valid_loss: mean over the validation part's target tokens, after the epoch.
        score: of the first validation sentences, 0 to 100, after the epoch; None: they were not translated.
        seconds: training until then, over all runs.
    """

    number: int
    train_loss: float
    valid_loss: float
    score: float | None
    seconds: float


def draw(epochs: Sequence[Epoch], metric: str, path: Path) -> bool:
    """Draw losses and scores by epoch into an SVG or PNG file.

    Returns:
        Whether it could be done: matplotlib is an extra.
    """
    try:
        from matplotlib import rc_context  # noqa: PLC0415  # an extra
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError:
        return False
    numbers = [epoch.number for epoch in epochs]
    figure = Figure(figsize=(7, 4), layout="constrained")
    losses = figure.subplots()
    losses.plot(numbers, [epoch.train_loss for epoch in epochs], "o-", color="tab:blue", label="training loss")
    losses.plot(numbers, [epoch.valid_loss for epoch in epochs], "s-", color="tab:orange", label="validation loss")
    losses.set(xlabel="epoch", ylabel="loss (nats a token)", xticks=numbers)
    scored = {epoch.number: epoch.score for epoch in epochs if epoch.score is not None}
    if scored:
        scores = losses.twinx()
        scores.plot(list(scored), list(scored.values()), "^--", color="tab:green", label=metric)
        scores.set(ylabel=metric, ylim=(0, None))
    figure.legend(loc="outside upper center", ncols=3)
    packed = io.BytesIO()
    kind = path.suffix.removeprefix(".")
    with rc_context({"svg.hashsalt": metric}):  # names within the file that are the same in every run
        figure.savefig(packed, format=kind, metadata={"Date": None} if kind == "svg" else None)
    write_atomic(path, packed.getvalue())
    return True
