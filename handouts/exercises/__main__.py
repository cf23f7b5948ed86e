"""Makes the pages and forms of the exercises: `python -m handouts.exercises [--check]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from grader.errors import UsageError
from grader.exercises import form
from grader.fingerprint import ROOT
from grader.messages import LANGUAGES
from grader.submission import EXERCISES
from handouts.exercises import pages

FOLDER = "handouts/exercises"


def made() -> dict[str, str]:
    """Path inside the repository -> what the file must hold.

    Raises:
        UsageError: `exercises.yaml` or `answers.yaml` is malformed.
    """
    files = {f"{FOLDER}/exercises.{language}.md": pages.questions(language) for language in LANGUAGES}
    files |= {f"{FOLDER}/answers.{language}.md": pages.answers(language) for language in LANGUAGES}
    return files | {f"assignment/{EXERCISES}": form.blank(), f"solution/{EXERCISES}": form.filled()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pages and the forms, or compare with what is there; exit status 1 when a file differs."""
    parser = argparse.ArgumentParser(prog="python -m handouts.exercises", description=main.__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a file would change")
    options = parser.parse_args(arguments)
    try:
        files = made()
    except UsageError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    stale = [name for name, text in files.items() if _present(name) != text]
    for name in stale:
        if options.check:
            sys.stderr.write(f"{name} is not what {FOLDER}/ gives; run: python -m handouts.exercises\n")
        else:
            (ROOT / name).write_text(files[name], encoding="utf-8")
    return int(options.check and bool(stale))


def _present(name: str) -> str:
    path = ROOT / name
    return path.read_text(encoding="utf-8") if path.is_file() else ""


if __name__ == "__main__":
    sys.exit(main())
