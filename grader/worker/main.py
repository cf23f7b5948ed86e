"""The script that the sandbox starts: sets the import path, then serves requests until its input ends.

Laid out by `grader.sandbox`: `<root>/harness/worker/main.py` (this file), `<root>/packages/numpy` and
`<root>/submission/assignment`. Whatever is on `sys.path` comes before the submission, which is loaded by path only.
"""

from __future__ import annotations

import importlib
import os.path
import sys


def main() -> None:
    """Serves. The arguments say what is required beside resource limits: how a worker is kept in is not its own choice.

    `locked`: seccomp; the namespaces round it have been made already. `gpu`: the same with a GPU in it.
    `walled LISTABLE READABLE...`: Landlock, which leaves these paths, then seccomp. `unlocked`: nothing.
    """
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100, PTH120 - pathlib would cost a tenth of the start
    sys.path += [os.path.join(root, "packages"), os.path.join(root, "harness")]  # noqa: PTH118 - as above
    server = importlib.import_module("worker.server")
    mode, *paths = sys.argv[1:]
    walls = importlib.import_module("worker.walls").Walls(mode, paths)
    server.serve(os.path.join(root, "submission", "assignment"), walls)  # noqa: PTH118 - as above


if __name__ == "__main__":
    main()
