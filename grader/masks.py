"""Dropout where the submission applied it: can the twin lay on the same masks?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from grader.case import Answer, Array, Case, Mode
from grader.checks import shapes


def fitted(case: Case, answer: Answer) -> tuple[Answer, frozenset[int]]:
    """The answer with its masks in the twin's shapes, and the numbers of the training calls whose masks do not fit.

    Heads folded into the batch, or tokens into rows, are the same factors in another shape. Where dropout is applied
    elsewhere, twice, or without a Dropout module, the twin cannot follow: such a call is judged by its properties only.
    With p = 0 there is nothing to follow: wherever dropout is applied, the numbers must be the twin's.
    """
    arrays: dict[str, Array] = dict(answer.arrays)
    unfit: set[int] = set()
    for number, call in enumerate(case.calls):
        if call.mode is not Mode.TRAIN or not case.masks:
            continue
        batch, length = np.asarray(next(iter(call.inputs.values())).value).shape[:2]
        wanted = {
            f"{number}.mask.{path}.0": shape
            for path, shape in shapes.masks(case.target, case.arguments, batch, length).items()
        }
        got = {name for name in arrays if name.startswith(f"{number}.mask.")}
        if case.arguments.get("p_dropout") == 0:
            arrays = {name: array for name, array in arrays.items() if name not in got}
        elif got == set(wanted) and all(arrays[name].size == np.prod(shape) for name, shape in wanted.items()):
            for name, shape in wanted.items():
                arrays[name] = arrays[name].reshape(shape)  # (B, S, D) or (B, h, S, S)
        else:
            unfit.add(number)
            arrays = {name: array for name, array in arrays.items() if name not in got}
    return replace(answer, arrays=arrays), frozenset(unfit)
