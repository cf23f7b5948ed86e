"""The generators of training data, which students are given too.

They are loaded by their path beside the grader: `import assignment` might find anyone's.
"""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType
from typing import TYPE_CHECKING

from grader.errors import RefusedToStartError
from grader.fingerprint import ROOT

if TYPE_CHECKING:
    from assignment.training import grammar, sentences
else:

    def _load(name: str) -> ModuleType:
        path = ROOT / "assignment" / "training" / f"{name}.py"
        spec = importlib.util.spec_from_file_location(f"{__name__}.{name}", path)
        if spec is None or spec.loader is None or not path.is_file():
            raise RefusedToStartError(f"{path} is missing; grade from the instructors' repository")
        module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    grammar, sentences = _load("grammar"), _load("sentences")

__all__ = ["grammar", "sentences"]
