"""The dropout factors that a submission drew, handed to the twin's dropouts at the same places."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import torch

from grader.errors import UnmatchedMasksError

from .layers import Dropout

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.case import Array

    from .parts import Part


class MaskBook:
    """The masks of one call, by the path of the dropout and the number of its use."""

    def __init__(self, call: int, arrays: Mapping[str, Array]) -> None:
        prefix = f"{call}.mask."
        self.open = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        self.uses: Counter[str] = Counter()

    def take(self, path: str, shape: tuple[int, ...]) -> torch.Tensor:
        """Return the mask of the next use of the dropout at `path`; its shape is `shape`.

        Raises:
            UnmatchedMasksError: the submission's dropout was not used there, or on something of another shape.
        """
        name = f"{path}.{self.uses[path]}"
        self.uses[path] += 1
        mask = self.open.pop(name, None)
        if mask is None:
            raise UnmatchedMasksError(f"no dropout mask {name!r} was recorded; there are {sorted(self.open)}")
        if mask.shape != shape:
            raise UnmatchedMasksError(f"the dropout mask {name!r} has shape {mask.shape}; the twin's is {shape}")
        # What dropout did to an entry that was 0 anyway cannot be seen, so the factor may be NaN there.
        return torch.nan_to_num(torch.tensor(mask, dtype=torch.float64), nan=0.0)

    def skip(self, path: str) -> None:
        """Pass over the next use of the dropout at `path`, which dropped nothing, recorded or not."""
        self.open.pop(f"{path}.{self.uses[path]}", None)
        self.uses[path] += 1

    def close(self) -> None:
        """Check that every mask was taken.

        Raises:
            UnmatchedMasksError: the submission's dropouts were used where the twin's were not.
        """
        if self.open:
            raise UnmatchedMasksError(f"the twin has no dropout for the masks {sorted(self.open)}")


def hand_out(masks: MaskBook | None, part: Part) -> None:
    """Let every dropout inside `part` take its masks from this book; None: no dropout does anything."""
    for path, module in part.named_modules():
        if isinstance(module, Dropout):
            module.path, module.masks = path, masks
