"""A training step with the assignment's framework and the modules as students write them. Does not import torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assignment.framework import Adam, TensorBackend, tensor
from solution.nn import softmax_loss
from solution.transformer import DecoderLM

from .frame import print_peak_memory
from .size import FULL, LEARNING_RATE, Size


def our_step(
    size: Size, dtype: str, backend: TensorBackend | None = None
) -> tuple[Callable[[], float], dict[str, Any]]:
    """The step (forward, loss, backward, Adam), which returns its loss; and the parameters that it starts from.

    It is taken on the CPU, where no backend says otherwise.
    """
    backend = backend or TensorBackend(dtype=dtype, seed=0)
    model = DecoderLM(
        size.n_vocab, size.n_embd, size.n_head, size.seq, p_dropout=0, backend=backend, n_layer=size.n_layer
    )
    optimiser = Adam(model.parameters(), lr=LEARNING_RATE)
    words, labels = size.ids()
    x, y = tensor(words, backend), tensor(labels.reshape(-1), backend)  # (B, S), (B S,)

    def step() -> float:
        optimiser.zero_grad()
        loss = softmax_loss(model(x).view(-1, size.n_vocab), y).mean()  # (B, S, V) -> (B S, V)
        loss.backward()
        optimiser.step()
        return loss.item()

    return step, model.state()


if __name__ == "__main__":
    print_peak_memory(our_step(FULL, "float32")[0])
