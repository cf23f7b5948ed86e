"""The torch references that a submission is compared with: same parameter names, float64, one thread."""

import torch

from .parts import Parts
from .right import RIGHT
from .run import run

torch.set_num_threads(1)

__all__ = ["RIGHT", "Parts", "run"]
