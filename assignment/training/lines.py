"""Plain parallel text: one sentence a line, `train.de` beside `train.en`, each perhaps as `.gz`.

The names of Multi30k (`val`, `test_2016_flickr`) and those that fairseq's `prepare-iwslt14` leaves (`valid`, `test`)
are the same layout, and so are the tagged training files of WIT3 (`train.tags.de-en.de`).
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Sequence
from pathlib import Path

from .errors import TrainingError
from .pairs import LANGUAGES, SPLITS, Pair, paired

NAMES = {
    "train": ("train", "train.tags.de-en"),
    "valid": ("valid", "val", "dev"),
    "test": ("test", "test_2016_flickr"),
}
"""What each part may be called, the usual name first."""
ENDINGS = ("", ".gz")


def load(folder: Path) -> dict[str, list[Pair]]:
    """Read the parts that are there.

    Raises:
        TrainingError: one language of a part is missing, a file cannot be read, or the numbers of lines differ.
    """
    return {part: read_pair(found) for part in SPLITS if (found := find(folder, part))}


def find(folder: Path, part: str) -> list[Path]:
    """Look for the two files of a part, German first; none when neither language is there.

    Raises:
        TrainingError: only one of the two is there.
    """
    for name in NAMES[part]:
        found = {language: existing(folder, f"{name}.{language}") for language in LANGUAGES}
        if any(found.values()):
            for language, path in found.items():
                if path is None:
                    there = next(path for path in found.values() if path)
                    raise TrainingError(
                        f"{folder} has {there.name} but no {name}.{language} (or {name}.{language}.gz); put both "
                        "languages there"
                    )
            return [path for path in found.values() if path]
    return []


def existing(folder: Path, name: str) -> Path | None:
    """Look for a file under its name or compressed."""
    return next((folder / (name + ending) for ending in ENDINGS if (folder / (name + ending)).is_file()), None)


def read_pair(paths: Sequence[Path]) -> list[Pair]:
    """Read a German file and an English one.

    Raises:
        TrainingError: their numbers of lines differ.
    """
    sources, targets = (read(path) for path in paths)
    if len(sources) != len(targets):
        raise TrainingError(
            f"{paths[0]} has {len(sources)} lines but {paths[1].name} has {len(targets)}; expected one translation a "
            "line, equally many: download both again"
        )
    return paired(sources, targets)


def read(path: Path) -> list[str]:
    """Read the sentences of a file, without the tags of WIT3's.

    Raises:
        TrainingError: it cannot be read, is no UTF-8 text, is damaged, or is empty.
    """
    lines = text(path).removesuffix("\n").split("\n")
    if path.name.startswith(NAMES["train"][1]):
        lines = [line for line in lines if not line.startswith("<")]
    sentences = [line.strip() for line in lines]
    if not any(sentences):
        raise TrainingError(f"{path} has no sentences; expected one a line: download it again")
    return sentences


def text(path: Path) -> str:
    """Read a file, unpacked where its name ends in .gz.

    Raises:
        TrainingError: it cannot be read, is no UTF-8 text, or is damaged.
    """
    try:
        content = path.read_bytes()
        return (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8-sig").replace("\r\n", "\n")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise TrainingError(f"{path} is no whole gzip file ({error}); download it again") from error
    except UnicodeDecodeError as error:
        raise TrainingError(f"{path} is not UTF-8 text (byte {error.start}); convert it to UTF-8") from error
    except OSError as error:
        raise TrainingError(f"{path} cannot be read: {error.strerror}; check the folder and its rights") from error
