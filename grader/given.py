"""What students are given too: the generators of training data, and what loads, cuts and scores real text.

They are loaded by their path beside the grader, as a package of another name and without its `__init__.py`: `import
assignment` might find anyone's, and that file needs what students write. None of them needs more than the standard
library and NumPy until it is used.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING

from grader.errors import RefusedToStartError
from grader.fingerprint import ROOT

if TYPE_CHECKING:
    from assignment.training import batches, bleu, bpe, curve, errors, grammar, pairs, sentences, text
else:
    FOLDER = ROOT / "assignment" / "training"
    PACKAGE = "given_training"
    NAMES = ("batches", "bleu", "bpe", "curve", "errors", "grammar", "pairs", "sentences", "text")

    def _load(name: str) -> ModuleType:
        path = FOLDER / f"{name}.py"
        if not path.is_file():
            raise RefusedToStartError(f"{path} is missing; grade from the instructors' repository")
        return importlib.import_module(f"{PACKAGE}.{name}")

    package = sys.modules[PACKAGE] = ModuleType(PACKAGE)
    package.__path__ = [str(FOLDER)]
    batches, bleu, bpe, curve, errors, grammar, pairs, sentences, text = map(_load, NAMES)

__all__ = ["batches", "bleu", "bpe", "curve", "errors", "grammar", "pairs", "sentences", "text"]
