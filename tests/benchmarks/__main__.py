"""`python -m tests.benchmarks [--only F1,F9]`: a JSON line for each row; all together also write results.md.

Each row is measured in a process of its own, one after the other, with the same threads and allocator for both sides.
The exit status is 1 when a valid row is above its floor.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from .frame import QUIET, Row, printed
from .registry import ROWS

RESULTS = Path(__file__).with_name("results.md")
BY_HAND = "\n## Run by hand\n"
"""From here on results.md is written by people, and kept."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the selected rows."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--only", default="", metavar="F1,F9", help="rows to measure; all when left out")
    parser.add_argument("--here", action="store_true", help="in this process, with its own environment")
    options = parser.parse_args(arguments)
    ids = [part.strip() for part in options.only.split(",") if part.strip()]
    rows = [row for row in ROWS if row.is_selected(ids)]
    unknown = [name for name in ids if not any(row.is_selected([name]) for row in ROWS)]
    if unknown:
        parser.error(f"no row {', '.join(unknown)}; there are {', '.join(row.id for row in ROWS)}")
    if options.here:
        for row in rows:
            printed(row)
        return 0
    results = [in_own_process(row) for row in rows]
    if not ids:
        _, heading, notes = RESULTS.read_text(encoding="utf-8").partition(BY_HAND)
        RESULTS.write_text(table(rows, results) + heading + notes, encoding="utf-8")
    return int(any(result["valid"] and result["ratio"] > result["floor"] for result in results))


def in_own_process(row: Row) -> dict[str, Any]:
    """Measure a row in a fresh process, and pass its line on."""
    environment = {**os.environ, **{name: value for name, value in row.environment.items() if value is not None}}
    for name, value in row.environment.items():
        if value is None:
            environment.pop(name, None)
    command = [sys.executable, "-m", "tests.benchmarks", "--here", "--only", row.id]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    sys.stdout.write(done.stdout)
    sys.stdout.flush()
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def table(rows: Sequence[Row], results: Sequence[Mapping[str, Any]]) -> str:
    """The results as a page in Markdown."""
    machine = f"OpenBLAS {results[0]['blas']}, {os.cpu_count()} processors"
    versions = f"Python {platform.python_version()}, NumPy {np.__version__}, torch {torch.__version__}"
    lines = [
        "# Results of `make bench`",
        "",
        f"{versions}, {machine}. The median of the rounds' ratios; the range is from the best round to the worst.",
        f"A row is void when others kept more than {QUIET} processors busy meanwhile (load).",
        "",
        "| row | what | ratio | range | floor | goal | rounds | load | valid |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row, result in zip(rows, results, strict=True):
        low, high = result["spread"]
        lines.append(
            f"| {row.id} | {row.what} | {result['ratio']} | {low} - {high} | {row.floor:g} | {row.goal:g} | "
            f"{result['rounds']} | {result['load']} | {'yes' if result['valid'] else 'no'} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
