"""Records the factors that each Dropout multiplied by, so that a twin can apply the very same ones."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .case import Answer
from .frames import sendable
from .loader import PACKAGE
from .text import is_dotted

OUTSIDE = "outside"
"""The path of a Dropout that is no sub-module of what was called."""

MAX_RECORDS = 1000


@contextmanager
def recorded(module: Any, call: int, answer: Answer) -> Iterator[None]:
    """While open, every use of `modules_basic.Dropout` in training mode is noted under `<call>.mask.<path>.<k>`.

    The class's `forward` is wrapped, so that a use that goes past `__call__` is seen too.
    """
    dropout = getattr(sys.modules.get(f"{PACKAGE}.modules_basic"), "Dropout", None)
    original = getattr(dropout, "forward", None)
    if not isinstance(dropout, type) or not callable(original):
        yield
        return
    dropout.forward = _recording(original, module, call, answer)  # type: ignore[attr-defined]
    try:
        yield
    finally:
        dropout.forward = original  # type: ignore[attr-defined]


def _recording(original: Callable[..., Any], module: Any, call: int, answer: Answer) -> Callable[..., Any]:
    paths: dict[int, str] = {}
    for path, part in module.named_modules() if hasattr(module, "named_modules") else ():
        if not path or is_dotted(path):
            paths.setdefault(id(part), path)
    uses: dict[str, int] = {}

    def forward(self: Any, input: Any, *rest: Any, **keywords: Any) -> Any:  # noqa: A002 - the student's own signature
        output = original(self, input, *rest, **keywords)
        if self.training and sum(uses.values()) < MAX_RECORDS:
            before, after = input.to_numpy(), output.to_numpy()
            if before.shape == after.shape:
                path = paths.get(id(self), OUTSIDE)
                used = uses[path] = uses.get(path, -1) + 1
                kept = before != 0
                factors = np.divide(after, before, out=np.ones_like(before), where=kept)
                answer.arrays[f"{call}.mask.{path}.{used}"] = sendable(factors)
        return output

    return forward
