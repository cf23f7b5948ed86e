"""`python -m grader.selfcheck`: makes the import path safe first, then does what `grader.selfcheck.command` says."""

import sys

# As in `grader/__main__.py`: the current folder may hold a submission's `yaml.py`.
if not sys.flags.safe_path:
    del sys.path[0]
import os

_HOME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100, PTH120 - pathlib is not loaded yet
_HERE = os.path.realpath(os.curdir)
sys.path[:] = [entry for entry in sys.path if entry and os.path.realpath(entry) != _HERE]
if _HOME not in sys.path:
    sys.path.append(_HOME)  # last: the project's own packages, when it is used from its folder without being installed

from grader.selfcheck.command import main  # noqa: E402 - only now is it safe

if __name__ == "__main__":
    sys.exit(main())
