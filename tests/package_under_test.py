"""Whose code the public tests test: the files `nn`, `modules_basic`, `transformer` and `translation` of one package.

It is the package that the environment variable HW3_PACKAGE names; without it `solution`, where that folder is there;
else `assignment`: yours.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = os.environ.get("HW3_PACKAGE") or ("solution" if (ROOT / "solution").is_dir() else "assignment")
FILES = ("nn", "modules_basic", "transformer", "translation")


def __getattr__(name: str) -> ModuleType:
    """Import a file when a test asks for it: one that cannot be imported fails its own tests and no others."""
    __tracebackhide__ = True
    if name not in FILES:
        raise AttributeError(f"there is no file {name}.py in the assignment; expected one of {', '.join(FILES)}")
    __import__(f"{PACKAGE}.{name}")  # not importlib.import_module, which fills an error's traceback with its own lines
    return sys.modules[f"{PACKAGE}.{name}"]
