"""The numbers that decide what a training run gives: two runs of one recipe and one text are the same run."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

from assignment.framework import warmup_learning_rate

from .errors import TrainingError

SCHEDULES = ("constant", "linear", "paper")
CONVENTIONS = ("all", "others")
"""Of label smoothing."""


@dataclass(frozen=True)
class Recipe:
    """A model, how it is trained, and on what of the text.

    Attributes:
        vocabulary: tokens of the BPE.
        n_embd: size of the embeddings.
        n_head: heads.
        n_layer: Transformer layers.
        dropout: probability of every dropout.
        embedding_scale: factor on the initial embeddings. Yours are N(0, 1); with 0.02, as in GPT-2, a step of Adam
            changes them more, for what they are, and they are learned in fewer steps.
        model_max_length: longest sequence that the model reads: source, target and what ends them.
        batch: sentence pairs in a batch.
        epochs: how many.
        samples: pairs in an epoch, drawn anew for each; 0: all.
        lr: the learning rate, or for the paper's schedule a factor on it.
        schedule: "constant"; "linear": down to 0 at the end; "paper": up in a line, then down with the root. The first
            two also go up in a line over the first `warmup` steps.
        warmup: steps.
        label_smoothing: eps; 0: none.
        smoothing: where eps goes, see `smoothing`.
        average: how many epochs' parameters are averaged at the end; 0 or 1: only the last are taken.
        max_words: pairs of fewer words are kept, see `pairs.is_short`; 0: all.
        test_sentences: how many of the test part are scored; 0: all.
        seed: of everything random.
    """

    vocabulary: int = 4000
    n_embd: int = 128
    n_head: int = 8
    n_layer: int = 4
    dropout: float = 0.0
    embedding_scale: float = 0.02
    model_max_length: int = 80
    batch: int = 32
    epochs: int = 2
    samples: int = 20_000
    lr: float = 2e-3
    schedule: str = "linear"
    warmup: int = 50
    label_smoothing: float = 0.0
    smoothing: str = "all"
    average: int = 0
    max_words: int = 0
    test_sentences: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what no run can have.

        Raises:
            TrainingError: a number is out of its range, or a word is none of those known.
        """
        counts = ("n_embd", "n_head", "n_layer", "model_max_length", "batch", "epochs")
        for field in dataclasses.fields(self):
            value, least = getattr(self, field.name), 1 if field.name in counts else 0
            if not isinstance(value, str) and not least <= value < math.inf:  # nor a NaN
                raise TrainingError(f"{flag(field.name)} {value}; expected {least} or more")
        for name in ("dropout", "label_smoothing"):
            if getattr(self, name) >= 1:
                raise TrainingError(f"{flag(name)} {getattr(self, name)}; expected less than 1")
        for name, known in (("schedule", SCHEDULES), ("smoothing", CONVENTIONS)):
            if getattr(self, name) not in known:
                raise TrainingError(f"{flag(name)} {getattr(self, name)}; expected one of {', '.join(known)}")
        if self.n_embd % self.n_head:
            raise TrainingError(f"--n-embd {self.n_embd} with --n-head {self.n_head}; expected a multiple of the heads")

    def learning_rate(self, step: int, steps: int) -> float:
        """Return the learning rate of a step, counted from 1, of `steps` in all."""
        if self.schedule == "paper":
            return self.lr * warmup_learning_rate(step, self.n_embd, max(1, self.warmup))
        rising = min(1.0, step / (self.warmup + 1))
        falling = 1.0 if self.schedule == "constant" else min(1.0, (steps + 1 - step) / max(1, steps - self.warmup))
        return self.lr * min(rising, falling)


def flag(name: str) -> str:
    """Name the command line's option of a field."""
    return "--" + name.replace("_", "-")


RECIPES = {
    "grammar": Recipe(
        vocabulary=0,
        n_embd=64,
        n_head=4,
        n_layer=2,
        embedding_scale=1.0,
        model_max_length=24,
        epochs=5,
        samples=4800,
        lr=3e-3,
        warmup=20,
    ),
    "small": Recipe(),
    "course": Recipe(
        vocabulary=10_000,
        n_embd=256,
        dropout=0.1,
        embedding_scale=1.0,
        model_max_length=40,
        batch=128,
        epochs=10,
        samples=20_000,
        lr=0.02,
        schedule="constant",
        warmup=0,
        max_words=40,
        test_sentences=100,
    ),
}
"""For the grammar; for real text on a CPU, Multi30k in minutes; the course's own for IWSLT14, which wants a GPU."""
