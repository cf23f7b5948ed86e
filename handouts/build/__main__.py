"""The command line: `python -m handouts.build [--check] [--only NAME ...]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from .errors import BuildError, UsageError
from .packages import require

ROOT = Path(__file__).resolve().parents[2]
NEEDED = ("jupytext", "nbclient", "ipykernel", "matplotlib")


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Make the handouts from their sources, or compare; exit status 1 when one is stale or fails, 2 for wrong usage."""
    parser = argparse.ArgumentParser(prog="python -m handouts.build", description=main.__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a file is stale")
    parser.add_argument(
        "--only",
        action="extend",  # said twice, it means both
        nargs="+",
        default=[],
        metavar="NAME",
        help="such as 01_attention, hw3.ipynb, hw3.en.pdf or '0*'",
    )
    options = parser.parse_args(arguments)
    try:
        require(*NEEDED)
        from .command import build  # noqa: PLC0415  # it imports what may be missing

        return build(root, options.only, check=options.check)
    except (BuildError, UsageError) as error:
        sys.stderr.write(f"{error}\n".replace(f"{root}/", ""))
        return 1 if isinstance(error, BuildError) else 2


if __name__ == "__main__":
    sys.exit(main())
