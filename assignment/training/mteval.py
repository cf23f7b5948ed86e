"""WIT3's development and test sets: XML as the mteval tools read it, one sentence in each <seg>."""

from __future__ import annotations

import html
import re
from pathlib import Path

from . import lines
from .errors import TrainingError
from .pairs import LANGUAGES, Pair, paired

SEGMENT = re.compile(r'<seg id="(?P<id>[^"]+)">(?P<text>.*?)</seg>', re.DOTALL)
OPENING = re.compile(r"<seg\b")
"""These files come with bare "&" in the text, which an XML parser refuses; the two patterns read what is there."""
NAME = re.compile(r"(?P<stem>.*(?P<kind>dev|tst)[^.]*\..*)\.(de|en)\.xml")


def load(folder: Path) -> dict[str, list[Pair]]:
    """Read "...dev2010...de.xml" as validation and "...tst2010...de.xml" as test part, all years, and train.tags.*.

    Raises:
        TrainingError: one language of a set is missing, a file is malformed, or the numbers of sentences differ.
    """
    parts = {"train": lines.read_pair(found)} if (found := lines.find(folder, "train")) else {}
    names = [match for path in sorted(folder.glob("*.xml")) if (match := NAME.fullmatch(path.name))]
    for stem, kind in sorted({(name["stem"], name["kind"]) for name in names}):
        part = parts.setdefault("valid" if kind == "dev" else "test", [])
        sources, targets = (segments(folder / f"{stem}.{language}.xml") for language in LANGUAGES)
        if len(sources) != len(targets):
            raise TrainingError(
                f"{folder}/{stem}: {len(sources)} <seg> in .de.xml but {len(targets)} in .en.xml; expected equally "
                "many: download both again"
            )
        part += paired(sources, targets)
    if not names:
        raise TrainingError(
            f"{folder} has XML files, but none is called like IWSLT16.TED.tst2010.de-en.de.xml (dev or tst, then "
            ".de.xml or .en.xml); keep WIT3's names"
        )
    return parts


def segments(path: Path) -> list[str]:
    """Read the sentences of a file, in order.

    Raises:
        TrainingError: it cannot be read, or it has no <seg>, or one that does not end.
    """
    content = lines.text(path)
    found = [" ".join(html.unescape(match["text"]).split()) for match in SEGMENT.finditer(content)]
    opened = len(OPENING.findall(content))
    if not found or opened != len(found):
        raise TrainingError(
            f'{path} has {opened} <seg>, {len(found)} of them whole; expected <seg id="1"> ... </seg> for each '
            "sentence: download it again"
        )
    return found
