"""Names of the student's package bound to other definitions: how what is built on a broken module is judged."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from . import loader

REBOUND = "rebound"
"""The module of the package that holds the other definitions; see `grader.rebind`."""


def rebind(targets: Sequence[str]) -> None:
    """Wherever a module of the package holds one of the targets, it holds the one of `REBOUND` from now on.

    Raises:
        MissingError: a target is not there.
        BaseException: whatever loading the files raised.
    """
    found = {target: (loader.find(target), loader.find(f"{REBOUND}.{target.partition('.')[2]}")) for target in targets}
    for name, module in list(sys.modules.items()):
        if not name.startswith(f"{loader.PACKAGE}."):
            continue
        for variable, value in list(vars(module).items()):
            for old, new in found.values():
                if value is old:
                    setattr(module, variable, new)
