"""The classifier of film sentences once more, of torch's own layers: what the framework computes is checked by it."""

from __future__ import annotations

from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional

from assignment.training import SentenceClassifier

Array: TypeAlias = npt.NDArray[Any]

LAYER = {
    "norm1.weight": "ln_1.weights",
    "norm1.bias": "ln_1.bias",
    "norm2.weight": "ln_2.weights",
    "norm2.bias": "ln_2.bias",
    "self_attn.out_proj.weight": "attention.out_projection.weights",
    "self_attn.out_proj.bias": "attention.out_projection.bias",
    "linear1.weight": "ff.linear_in.weights",
    "linear1.bias": "ff.linear_in.bias",
    "linear2.weight": "ff.linear_out.weights",
    "linear2.bias": "ff.linear_out.bias",
}
"""torch's names of a layer's parameters, and ours; q, k and v are one parameter in torch."""


class TorchClassifier(nn.Module):
    """The same model as a `SentenceClassifier` in training, in float64, starting from a copy of its parameters.

    Its layers are `torch.nn.TransformerEncoderLayer` with `norm_first`, that is Pre-LN, and GELU in its tanh form.

    Shapes: ids (B, S) -> logits (B, 2).

    Args:
        model: what to copy.
        n_head: number of heads of its attention.
    """

    def __init__(self, model: SentenceClassifier, n_head: int) -> None:
        super().__init__()
        state = {name: torch.tensor(value) for name, value in model.state().items()}
        width = state["token_embeddings.weights"].shape[1]
        self.tokens = table(state["token_embeddings.weights"])
        places = state.get("position_embeddings.weights")
        self.places = None if places is None else table(places)
        self.layers = nn.ModuleList(
            copied_layer(state, f"t_layer_{number}", width, n_head) for number in range(1, model.n_layer + 1)
        )
        self.head = nn.Linear(width, 2, dtype=torch.float64)
        self.head.load_state_dict({"weight": state["head.weights"].T, "bias": state["head.bias"]})  # (D, 2) -> (2, D)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Score the two classes."""
        x = self.tokens(ids)  # (B, S, D)
        if self.places is not None:
            x = x + self.places(torch.arange(ids.shape[1]))  # (B, S, D) + (S, D)
        for layer in self.layers:
            x = layer(x)
        logits: torch.Tensor = self.head(x.mean(dim=1))  # (B, S, D) -> (B, D) -> (B, 2)
        return logits

    def learn(self, ids: Array, labels: Array, lr: float) -> Array:
        """Take one step of Adam a batch, ids (steps, B, S) with labels (steps, B); return the losses (steps,)."""
        optimizer = torch.optim.Adam(self.parameters(), lr)
        losses = []
        for batch, classes in zip(torch.tensor(ids), torch.tensor(labels), strict=True):
            optimizer.zero_grad()
            loss = functional.cross_entropy(self(batch), classes)
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            losses.append(loss.item())
        return np.array(losses)


def table(values: torch.Tensor) -> nn.Embedding:
    """Make torch's embedding with the rows of ours, (V, D)."""
    rows, width = values.shape
    embedding = nn.Embedding(rows, width, dtype=torch.float64)
    embedding.load_state_dict({"weight": values})
    return embedding


def copied_layer(state: dict[str, torch.Tensor], name: str, width: int, n_head: int) -> nn.TransformerEncoderLayer:
    """Make torch's layer with the parameters of ours; its matrices are (out, in), ours are (in, out)."""
    layer = nn.TransformerEncoderLayer(
        width,
        n_head,
        dim_feedforward=state[f"{name}.ff.linear_in.bias"].shape[0],
        dropout=0.0,
        activation=partial(functional.gelu, approximate="tanh"),
        batch_first=True,
        norm_first=True,
        dtype=torch.float64,
    )
    values = {theirs: state[f"{name}.{ours}"].t() for theirs, ours in LAYER.items()}  # (in, out) -> (out, in)
    for kind in ("weight", "bias"):
        parts = [state[f"{name}.attention.{part}_projection.{kind.replace('weight', 'weights')}"].t() for part in "qkv"]
        values[f"self_attn.in_proj_{kind}"] = torch.cat(parts)  # 3 x (D, D) -> (3 D, D), or 3 x (D,) -> (3 D,)
    layer.load_state_dict(values)
    return layer
