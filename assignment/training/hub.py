"""IWSLT14 from the Hugging Face hub, through `datasets` (an extra; it needs the network once).

The data set is published with a loading script. From version 4 on, `datasets` refuses such scripts; the hub keeps a
converted copy in a branch of its own, which is read then.
"""

from __future__ import annotations

import importlib
from typing import Any

from .errors import TrainingError
from .pairs import LANGUAGES, Pair

NAME = "bbaaaa/iwslt14-de-en-preprocess"
CONVERTED = "refs/convert/parquet"
PARTS = {"train": "train", "valid": "validation", "test": "test"}
"""Our name of a part -> the data set's."""


def load() -> dict[str, list[Pair]]:
    """Download, or read from the cache, the three parts.

    Raises:
        TrainingError: `datasets` is not installed, the hub cannot be reached, or the data set has another form.
    """
    try:
        datasets = importlib.import_module("datasets")  # heavy, an extra, and only this needs it
    except ImportError as error:
        raise TrainingError("--data iwslt14 needs the package datasets; pip install -e '.[translation]'") from error
    return {part: pairs_of(part, read(datasets, name)) for part, name in PARTS.items()}


def read(datasets: Any, name: str) -> list[Any]:
    """Read the column of translations of one part.

    Raises:
        TrainingError: neither the script nor the converted copy can be loaded.
    """
    try:
        try:
            part = datasets.load_dataset(NAME, split=name)
        except (RuntimeError, ValueError):  # "Dataset scripts are no longer supported", or not without being trusted
            part = datasets.load_dataset(NAME, revision=CONVERTED, split=name)
        return list(part["translation"])  # a list: since version 4, a column is read item by item from the disk
    except (OSError, RuntimeError, ValueError, KeyError) as error:
        reason = " ".join(str(error).split())[:200]
        raise TrainingError(
            f"{NAME} ({name}) did not load through datasets {datasets.__version__}: {reason}; check the network, or "
            "prepare the text with fairseq's prepare-iwslt14.sh and give its folder to --data"
        ) from error


def pairs_of(part: str, column: list[Any]) -> list[Pair]:
    """Check and take over the translations.

    Raises:
        TrainingError: there are none, or one lacks a language.
    """
    for number, pair in enumerate(column):
        if not isinstance(pair, dict) or not all(isinstance(pair.get(language), str) for language in LANGUAGES):
            raise TrainingError(
                f"{NAME}: translation {number} of {part} is {str(pair)[:60]!r}; expected a German and an English text "
                "under de and en: the data set has changed, use a folder of text instead"
            )
    if not column:
        raise TrainingError(f"{NAME}: {part} is empty; delete the cache of datasets and download it again")
    return [{language: pair[language] for language in LANGUAGES} for pair in column]
