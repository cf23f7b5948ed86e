"""Pack your work and get a receipt: `python -m assignment.submit` writes `hw3-submission.zip`.

Nothing of yours is run: your files are only read, and what is not written yet, or cannot work when it is graded, is
named. The same files give the same archive, and so the same receipt, on every machine.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from assignment.handing_in import Review, UnfitError, Work, archive, find, review

FOLDER = Path(__file__).resolve().parent
KEEP = "Keep it: your feedback names the same number for what was received."


def main(arguments: Sequence[str] | None = None) -> int:
    """Pack your work for handing in, and print a receipt; exit status 1 when there is nothing to pack.

    What is not written yet is named, and packed all the same: whatever works counts.
    """
    parser = argparse.ArgumentParser(prog="python -m assignment.submit", description=main.__doc__)
    parser.add_argument("--out", type=Path, default=Path("hw3-submission.zip"), metavar="FILE", help="(%(default)s)")
    parser.add_argument("--notebook", action="store_true", help="hand in hw3.ipynb, not the files in assignment/")
    options = parser.parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a console may lack the letters of a file's name
    try:
        files, notebook, exercises = find(FOLDER)
        work, seen, note = choose(files, notebook, options.notebook)
        packed = {**work.packed, **exercises}
        data = archive(packed)
        write(options.out, data)
    except UnfitError as error:
        sys.stderr.write(f"nothing was packed: {error}\n")
        return 1
    except OSError as error:  # one of the files cannot be read
        sys.stderr.write(f"nothing was packed: {error.filename}: {error.strerror}\n")
        return 1
    contents = [f"  {path:<40}{len(content):>9,} bytes" for path, content in sorted(packed.items())]
    receipt = f"Receipt: sha256 {hashlib.sha256(data).hexdigest()}"
    lines = [*told(seen), *note, f"{options.out} holds:", *contents, "", receipt, KEEP]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


def choose(files: Work, notebook: Work, wants_notebook: bool) -> tuple[Work, Review, list[str]]:
    """Decide what is handed in: the files in `assignment/`, unless only the notebook has work in it or it is asked for.

    Returns:
        The work, what was seen in it, and lines about what is left out.

    Raises:
        UnfitError: there is nothing of it.
    """
    in_files, in_notebook = review(files.sources), review(notebook.sources)
    if notebook.problem and (wants_notebook or not in_files.written):
        raise UnfitError(notebook.problem)
    if wants_notebook and not notebook.sources:
        raise UnfitError("--notebook: there is no hw3.ipynb with cells of the four files beside assignment/")
    if wants_notebook or (in_notebook.written and not in_files.written):
        rest = ["The files in assignment/ are left out: what is in the notebook is graded.", ""]
        return notebook, in_notebook, rest if in_files.written else []
    if not files.sources:
        raise UnfitError("there is none of the four files in assignment/; run it in the folder that you unpacked")
    rest = ["hw3.ipynb is left out, although something is written in it; to hand it in instead: --notebook", ""]
    return files, in_files, rest if in_notebook.written else []


def write(path: Path, data: bytes) -> None:
    """Write the archive.

    Raises:
        UnfitError: the place cannot be written.
    """
    try:
        path.write_bytes(data)
    except OSError as error:
        raise UnfitError(f"{path} cannot be written: {error.strerror}; choose another place with --out") from error


def told(seen: Review) -> Iterator[str]:
    """Say what was seen, a line each."""
    yield f"Written: {seen.written} of {seen.total} parts."
    if seen.stubs:
        yield "Not written yet (you may hand in all the same: whatever works counts):"
        yield from (f"  {stub}" for stub in seen.stubs)
    yield ""
    if seen.troubles:
        yield "To be repaired:"
        yield from (f"  {trouble}" for trouble in seen.troubles)
        yield ""


if __name__ == "__main__":
    sys.exit(main())
