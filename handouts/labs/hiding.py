"""What a number that is added to a score does to hide a key: -10, -1e9 and minus infinity compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from assignment.framework import tensor
from handouts.labs.course import nn

Array: TypeAlias = npt.NDArray[Any]

SCORES = (1.0, 2.0, 3.0)


class Hidden(NamedTuple):
    """What comes of adding a number to the scores of hidden keys.

    Attributes:
        leak: the weight of a hidden key beside two visible ones; 0 is what is wanted.
        finite: whether the weights are still numbers when every key is hidden.
    """

    leak: float
    finite: bool


def hide(added: float) -> Hidden:
    """Hide the third of three keys, then all three, by adding a number to their scores.

    Source: lecture 6, section 2.3.
    """
    leak = weights([*SCORES[:2], SCORES[2] + added])[2]
    every = weights([score + added for score in SCORES])
    return Hidden(float(leak), bool(np.isfinite(every).all()))


def weights(scores: Sequence[float]) -> Array:
    """Turn the scores of one query into weights, with `nn.softmax` as it is: (keys,)."""
    with np.errstate(invalid="ignore"):  # -inf minus -inf is what is to be seen
        row: Array = nn.softmax(tensor([list(scores)]), dim=1).to_numpy()[0]  # (1, keys) -> (keys,)
    return row
