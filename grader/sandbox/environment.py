"""How Python is run in a worker, whatever the tier: reproducible, on one thread, and finding nothing by accident."""

from __future__ import annotations

import compileall
import functools

from .stage import GIVEN, WORKER

ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "LC_ALL": "C.UTF-8",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}
"""All there is: nothing of the grader's own environment. (`-I` would make Python ignore the first.)"""

PYTHON_OPTIONS = ("-P", "-s", "-S", "-B", "-X", "utf8")
"""No script folder first on the path, no user or site packages, no bytecode written, UTF-8."""


@functools.cache
def compile_once() -> None:
    """Writes the bytecode of what every worker loads, as an import would; a worker itself may not write any."""
    for folder in (WORKER, *GIVEN.values()):
        compileall.compile_dir(folder, quiet=2)
