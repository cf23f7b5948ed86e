"""What a submission is called, and the fingerprint of its files."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Mapping

from grader.intake.tree import archive_suffix, source_cap

_LONGEST = 120  # bytes: leaves room for "-2" and for what reports add to it
# `reports/` has these names for itself, beside one folder a submission.
_TAKEN = ("staff", "run.yaml", "summary.yaml", "gradebook.csv", "index.html", "ledger.jsonl", "junit.xml")


def stem_of(name: str) -> str:
    """Give a name without the suffix of an archive, a source or a notebook."""
    suffix = archive_suffix(name)
    if not suffix and source_cap(name) is not None:
        suffix = name[name.rindex(".") :]
    return name.removesuffix(suffix)


def safe_id(label: str) -> str:
    """Make a label safe as a folder name: letters and digits of any script, `.`, `_` and `-` stay."""
    text = "".join(letter if _is_safe(letter) else "_" for letter in unicodedata.normalize("NFC", label))
    while len(text.encode()) > _LONGEST:
        text = text[:-1]
    # A leading dot would hide the folder, and "." and ".." are none; a leading dash reads as an option.
    if text[:1] in (".", "-"):
        text = "_" + text[1:]
    return text or "submission"


def unique_ids(labels: list[str]) -> list[str]:
    """Give every label an id of its own, letter case aside: the second of a name gets "-2", the third "-3"."""
    taken = {name.casefold() for name in _TAKEN}
    ids = []
    for label in labels:
        wanted = safe_id(label)
        candidate, number = wanted, 1
        while candidate.casefold() in taken:
            number += 1
            candidate = f"{wanted}-{number}"
        taken.add(candidate.casefold())
        ids.append(candidate)
    return ids


def fingerprint(files: Mapping[str, bytes], problem: str = "") -> str:
    """Give the SHA-256 of names and contents, in whatever order they come, and of the problem where there is one."""
    digest = hashlib.sha256(problem.encode("utf-8", "replace"))
    for name, content in sorted(files.items()):
        digest.update(f"\0{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def _is_safe(letter: str) -> bool:
    # L letters, M the marks that many scripts write their vowels with, Nd decimal digits.
    category = unicodedata.category(letter)
    return letter in "._-" or category[0] in "LM" or category == "Nd"
