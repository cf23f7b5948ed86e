"""Loads parallel text: a folder in any of the layouts known here, or IWSLT14 by its name.

| layout | told by | read in |
|---|---|---|
| WIT3 / mteval XML | *.xml | mteval.py |
| plain text, Multi30k, fairseq's prepare-iwslt14 | train.de, test.de, ... (also .gz) | lines.py |
| Tatoeba-style | *.tsv, deu.txt | tsv.py |
| bbaaaa/iwslt14-de-en-preprocess | the name iwslt14 | hub.py |
"""

from __future__ import annotations

from pathlib import Path

from . import hub, lines, mteval, tsv
from .errors import TrainingError
from .pairs import SPLITS, Corpus, Pair

HUB = "iwslt14"
"""What --data is called for the data set of the Hugging Face hub."""


def load(source: str) -> Corpus:
    """Load a folder, or IWSLT14 from the hub.

    Raises:
        TrainingError: there is no such folder, it has no known layout, or a file is missing or malformed.
    """
    return Corpus(source, **(hub.load() if source == HUB else load_folder(Path(source))))


def load_folder(folder: Path) -> dict[str, list[Pair]]:
    """Load a folder, by the layout that its names tell.

    Raises:
        TrainingError: there is no such folder, it has no known layout, or a file is missing or malformed.
    """
    if not folder.is_dir():
        what = "a file" if folder.exists() else "not there"
        raise TrainingError(f"--data {folder} is {what}; expected grammar, {HUB}, or a folder with text")
    if any(folder.glob("*.xml")):
        return mteval.load(folder)
    if parts := lines.load(folder):
        return parts
    if tsv.find(folder):
        return tsv.load(folder)
    names = sorted(path.name for path in folder.iterdir())
    found = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "") if names else "nothing"  # noqa: PLR2004  # a few
    raise TrainingError(
        f"{folder} has {found}; expected train.de and train.en (.gz too; likewise valid or val, test), WIT3's *.xml, "
        "or one *.tsv: put the files there under these names"
    )


def complete(corpus: Corpus) -> Corpus:
    """Return the corpus if it has what training needs.

    Raises:
        TrainingError: a part is missing.
    """
    for part in SPLITS:
        if not getattr(corpus, part):
            have = ", ".join(f"{len(getattr(corpus, name))} {name}" for name in SPLITS)
            names = " or ".join(f"{name}.de/.en" for name in lines.NAMES[part])
            raise TrainingError(f"{corpus.name} has no {part} pairs ({have}); add {names} to the folder")
    return corpus
