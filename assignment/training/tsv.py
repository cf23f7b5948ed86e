"""Tatoeba-style text: one file of lines with tabs, a sentence and its translation.

Two forms are known: two sentences and perhaps a note ("deu.txt" from manythings.org, English first), and Tatoeba's own
export (number, sentence, number, sentence). Which language comes first is told by the file's name.

Many lines share a translation ("Hello." for a dozen greetings), so a split by lines would test on what was learned. The
parts are cut by distinct translation, and a German sentence that is tested is not learned under any.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from . import lines
from .errors import TrainingError
from .pairs import Pair

GERMAN_FIRST = re.compile(r"(^|[^a-z])(de|deu|ger)[-_.](en|eng)([^a-z]|$)", re.IGNORECASE)
ENGLISH_FIRST = re.compile(
    r"(^|[^a-z])(en|eng)[-_.](de|deu|ger)([^a-z]|$)|^(deu|ger)\.(txt|tsv)(\.gz)?$", re.IGNORECASE
)
SUFFIXES = (".tsv", ".tsv.gz", "deu.txt")
EXPORT = re.compile(r"\d+\t[^\t]*\t\d+\t[^\t]*")
"""A line of Tatoeba's export."""
HELD_OUT = 0.05
"""Share of the distinct translations that goes to each of the validation and test parts ..."""
MOST_HELD_OUT = 1000
"""... but no more than these."""


def find(folder: Path) -> list[Path]:
    """Look for files of this kind."""
    return [path for path in sorted(folder.iterdir()) if path.name.lower().endswith(SUFFIXES)]


def load(folder: Path, seed: int = 0) -> dict[str, list[Pair]]:
    """Read the one file, shuffle, and split it.

    Raises:
        TrainingError: there are several files, its name does not tell the languages' order, or a line is malformed.
    """
    found = find(folder)
    if len(found) != 1:
        raise TrainingError(f"{folder} has {len(found)} files with tabs ({', '.join(p.name for p in found)}); keep one")
    return split(read(found[0]), np.random.default_rng(seed))


def read(path: Path) -> list[Pair]:
    """Read a file's pairs, each once.

    Raises:
        TrainingError: its name does not tell the languages' order, or a line is malformed.
    """
    english_first = bool(ENGLISH_FIRST.search(path.name))
    if english_first == bool(GERMAN_FIRST.search(path.name)):
        raise TrainingError(
            f"{path}: its name does not say which language comes first; call it deu-eng.tsv or eng-deu.tsv"
        )
    pairs: dict[tuple[str, str], Pair] = {}
    for number, line in enumerate(lines.read(path), start=1):
        fields = line.split("\t")
        first, second = (1, 3) if EXPORT.fullmatch(line) else (0, 1)
        if len(fields) <= second or not (fields[first].strip() and fields[second].strip()):
            raise TrainingError(
                f"{path}:{number} has {len(fields)} fields; expected sentence, tab, translation (or Tatoeba's number, "
                "sentence, number, sentence): take the line out"
            )
        both = fields[first].strip(), fields[second].strip()
        de, en = both[::-1] if english_first else both
        pairs[de, en] = {"de": de, "en": en}
    return list(pairs.values())


def split(pairs: list[Pair], generator: np.random.Generator) -> dict[str, list[Pair]]:
    """Cut the three parts so that no tested translation, and no tested German sentence, is among what is learned."""
    targets = sorted({pair["en"] for pair in pairs})
    order = generator.permutation(len(targets))
    size = max(1, min(MOST_HELD_OUT, int(HELD_OUT * len(targets))))
    part_of = {targets[index]: "valid" if place < size else "test" for place, index in enumerate(order[: 2 * size])}
    parts: dict[str, list[Pair]] = {"train": [], "valid": [], "test": []}
    for index in generator.permutation(len(pairs)):
        parts[part_of.get(pairs[index]["en"], "train")].append(pairs[index])
    tested = {pair["de"] for part in ("valid", "test") for pair in parts[part]}
    parts["train"] = [pair for pair in parts["train"] if pair["de"] not in tested]
    return parts
