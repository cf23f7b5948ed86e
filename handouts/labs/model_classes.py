"""Three classes of language models, told apart by who may see whom; and the chain rule, which needs a causal mask."""

from __future__ import annotations

from itertools import product
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assignment.framework import tensor
from handouts.labs.course import nn

Array: TypeAlias = npt.NDArray[Any]


def visible(source: int, target: int) -> dict[str, Array]:
    """Say which position (row) sees which (column), for each class: booleans (S, S), with S = source + target.

    The source comes first. An encoder-only model has no target: it reads all S positions as its source.

    Source: lecture 6, sections 1.1, 3.3 and 6.3.
    """
    size = source + target
    places = np.arange(size)
    not_later = places[None, :] <= places[:, None]  # (1, S) and (S, 1) -> (S, S)
    of_source = np.broadcast_to(places < source, (size, size))  # the same for every row
    return {
        "encoder-only": np.ones((size, size), bool),
        "encoder-decoder": of_source | (~of_source.T & not_later),
        "decoder-only": not_later,
    }


def drawn(classes: dict[str, Array], source: int) -> str:
    """Draw the tables of `visible` side by side: # sees, . does not."""
    (size, _), *_ = (table.shape for table in classes.values())
    names = [f"x{place + 1}" if place < source else f"y{place + 1 - source}" for place in range(size)]
    width = 3 * size + 3
    lines = [
        "    " + "".join(f"{name:{width}}" for name in classes),
        "    " + "".join(f"{' '.join(names):{width}}" for _ in classes),
    ]
    for place, name in enumerate(names):
        rows = (" ".join("# " if seen else ". " for seen in table[place]) for table in classes.values())
        lines.append(f"{name:4}" + "".join(f"{row:{width}}" for row in rows))
    return "\n".join(line.rstrip() for line in lines)


def sequence_probabilities(model: Any, n_vocab: int, length: int, start: int = 0) -> Array:
    """Compute P(y) = prod_t P(y_t | y_1 ... y_t-1) of every sequence there is, each by one forward pass.

    Args:
        model: maps ids (B, S) to logits (B, S, V).
        n_vocab: V.
        length: n, tokens in a sequence.
        start: the id that stands before the first token.

    Returns:
        (V**n,), in the order of `itertools.product`.

    Source: lecture 6, section 1.1.
    """
    sequences = np.array(list(product(range(n_vocab), repeat=length)))  # (V**n, n)
    inputs = np.concatenate([np.full((len(sequences), 1), start), sequences[:, :-1]], axis=1)  # (V**n, n)
    logs = nn.logsoftmax(model(tensor(inputs)), dim=2).to_numpy()  # (V**n, n, V)
    chosen = np.take_along_axis(logs, sequences[:, :, None], axis=2)  # (V**n, n, 1)
    probabilities: Array = np.exp(chosen.sum(axis=(1, 2)))
    return probabilities
