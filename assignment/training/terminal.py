"""How far a run is: a line that moves on a terminal, plain lines now and then where nobody watches."""

from __future__ import annotations

import sys
import time
from typing import TextIO


class Display:
    """Shows the steps of a training run on standard error.

    Args:
        steps: of the whole run.
        stream: where to write.

    Attributes:
        watched: whether the stream is a terminal.
    """

    PLAIN_EVERY = 60.0
    """Seconds between plain lines."""
    SMOOTH = 0.05
    """Weight of the newest step in what is shown."""

    def __init__(self, steps: int, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self.watched = self.stream.isatty()
        self.steps = steps
        self.loss: float | None = None
        self.pace: float | None = None
        self.speed = 0.0
        self.last_line = time.monotonic()

    def step(self, taken: int, epoch: int, loss: float, tokens: int, seconds: float) -> None:
        """Tell about a step: how many are taken, in which epoch, its loss, its tokens and how long it took."""
        weight = self.SMOOTH if self.pace is not None else 1.0
        self.loss = loss if self.loss is None else self.loss + weight * (loss - self.loss)
        self.pace = seconds if self.pace is None else self.pace + weight * (seconds - self.pace)
        self.speed += weight * (tokens / seconds - self.speed)
        now = time.monotonic()
        if not self.watched and now - self.last_line < self.PLAIN_EVERY:
            return
        self.last_line = now
        left = duration((self.steps - taken) * self.pace)
        text = (
            f"step {taken}/{self.steps}, epoch {epoch}: loss {self.loss:.3f}, {self.speed:,.0f} tokens/s, {left} left"
        )
        self.stream.write(f"\r{text:<79}" if self.watched else f"{text}\n")
        self.stream.flush()

    def line(self, text: str) -> None:
        """Write a line that stays, over the one that moves."""
        self.stream.write(f"\r{text:<79}\n" if self.watched else f"{text}\n")
        self.stream.flush()


def duration(seconds: float) -> str:
    """Write a time for people: 45 s, 3 min, 2 h 10 min."""
    minutes, hours = round(seconds / 60), 60
    if seconds < 90:  # noqa: PLR2004  # a minute and a half still reads well in seconds
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 2 * hours else f"{minutes // hours} h {minutes % hours} min"
