"""Greedy decoding that ends: with the model's end token, or at a length that the source sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assignment.framework import Module, TensorBackend
from assignment.training.batches import Ids
from handouts.labs.course import translation

EXTRA = 50
"""Vaswani et al. (2017), section 6.1: an output has at most the source's length + 50 tokens."""
SOURCE, OUTPUT = "source", "output"


def outputs(model: Module, sources: Ids, stop: int, backend: TensorBackend, extra: int = EXTRA) -> list[list[int]]:
    """Continue each source greedily, by the course's `generate`.

    Args:
        model: ids (1, S) -> logits (1, S, V), for S up to 2 S0 + extra - 1.
        sources: (B, S0), all of one length.
        stop: the token that ends an output, and is no part of it.
        backend: where the model is.
        extra: by how many tokens an output may be longer than its source.

    Returns:
        What was added to each source, S0 + extra tokens at most.
    """
    length = sources.shape[1]
    last_read = length + (length + extra) - 1  # what the model reads before it gives the last token that is allowed
    numbers = Numbers(stop)
    examples = [{SOURCE: numbers.decode(row.tolist())} for row in sources]
    texts = translation.generate(model, examples, SOURCE, OUTPUT, numbers, last_read, backend, OUTPUT)
    return [numbers(text)["input_ids"] for text in texts]


class Numbers:
    """A tokenizer whose text is the ids themselves, "3 14 15"; a source ends without a token of its own.

    Args:
        stop: id of the token that ends an output.

    Attributes:
        vocab: that token -> its id.
    """

    def __init__(self, stop: int) -> None:
        self.vocab: Mapping[str, int] = {f"<eos_{OUTPUT}>": stop}

    def __call__(self, text: str) -> dict[str, list[int]]:
        """Read the ids."""
        return {"input_ids": [int(number) for number in text.removesuffix(f"<eos_{SOURCE}>").split()]}

    def decode(self, ids: Sequence[int]) -> str:
        """Write the ids."""
        return " ".join(map(str, ids))
