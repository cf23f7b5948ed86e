"""`python -m grader` and `hw3-grade`: makes the import path safe first, then does what `grader.cli` says."""

import sys

# `python -m` put the current folder first on the path, where a submission's `yaml.py` would pass for PyYAML. It goes
# before anything else is imported; `os` is then the real one and finds the folder's other spellings.
if not sys.flags.safe_path:
    del sys.path[0]
import os

_HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - pathlib is not loaded yet
_HERE = os.path.realpath(os.curdir)
sys.path[:] = [entry for entry in sys.path if entry and os.path.realpath(entry) != _HERE]
if _HOME not in sys.path:
    sys.path.append(_HOME)  # last: the project's own packages, when it is used from its folder without being installed

from grader.stop import BEFORE_THE_FIRST, Stopper, leave  # noqa: E402 - only now is it safe


def main() -> int:
    """Grades. What takes seconds to import comes only here, so that a signal in these seconds ends like any other."""
    with Stopper() as stopper:
        try:
            from grader import cli  # noqa: PLC0415 - see above
        except KeyboardInterrupt:
            leave(stopper.told, BEFORE_THE_FIRST)
    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
