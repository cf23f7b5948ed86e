"""Which entries a module's dropouts keep: recorded while it runs, so that another model can drop the same ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assignment.framework import Module
from handouts.labs.course import modules_basic

Masks: TypeAlias = dict[str, NDArray[np.float64]]
"""Dotted name of a Dropout within the module -> what its input was multiplied by: 0, or 1/(1 - p)."""


@contextmanager
def recorded_masks(module: Module, p_dropout: float) -> Iterator[Masks]:
    """Record the mask of every `Dropout` that runs within the block, each at its last call.

    A mask is seen in the output: an entry that became 0 was dropped. Where the input is 0 already (an attention weight
    behind the causal mask), dropping or keeping is the same, and the mask says "kept".

    Args:
        module: what will run.
        p_dropout: the probability of all its dropouts.

    Yields:
        The masks, empty at first.
    """
    masks: Masks = {}

    def hook(path: str) -> Any:
        def record(_: Module, inputs: tuple[Any, ...], output: Any) -> None:
            before, after = inputs[0].to_numpy(), output.to_numpy()
            masks[path] = ((after != 0) | (before == 0)) / (1 - p_dropout)

        return record

    removers = [
        part.register_forward_hook(hook(path))
        for path, part in module.named_modules()
        if isinstance(part, modules_basic.Dropout)
    ]
    try:
        yield masks
    finally:
        for remove in removers:
            remove()
