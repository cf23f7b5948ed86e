"""What one delivery holds, by cleaned relative path; every name and byte of it passes through here."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from grader.errors import UngradableError
from grader.intake import limits
from grader.submission import EXERCISES, MAX_EXERCISES_BYTES

ARCHIVE_SUFFIXES = (".tar.gz", ".tgz", ".tar", ".zip")
_SOURCE_CAPS = {".py": limits.SOURCE_BYTES, ".ipynb": limits.NOTEBOOK_BYTES}
_NEVER_MEANT = frozenset({"__MACOSX", "__pycache__", "Thumbs.db", "desktop.ini", "node_modules", "site-packages"})
# Control, format (right-to-left overrides among them), lone surrogates, line and paragraph separators.
_HOSTILE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_DRIVE = re.compile(r"[A-Za-z]:")


def shown(name: str) -> str:
    """Give a name in a form that is safe and short enough for a message."""
    text = "".join(character if character.isprintable() else "?" for character in name)
    return text if len(text) <= 80 else f"{text[:60]}…{text[-17:]}"  # noqa: PLR2004 - 60 + 17 and the ellipsis fit in it


def is_ignored(name: str) -> bool:
    """Say whether a file or folder of this name is a by-product of a tool: say `__MACOSX`, `._x`, `.git`."""
    return name.startswith(".") or name in _NEVER_MEANT


def source_cap(name: str) -> int | None:
    """Give the most bytes that a file of this name may have; None for what is neither a source nor a notebook."""
    return _SOURCE_CAPS.get(PurePosixPath(name).suffix.lower())


def is_exercises(name: str) -> bool:
    """Say whether a path's last part is the name of the form with a student's answers to the exercises."""
    return PurePosixPath(name).name.lower() == EXERCISES


def kept_cap(name: str) -> int | None:
    """Give the most bytes that are kept of a file of this name; None for what is never opened."""
    return MAX_EXERCISES_BYTES if is_exercises(name) else source_cap(name)


def archive_suffix(name: str) -> str:
    """Give the archive suffix that a name ends with, as written; "" when it has none."""
    return next((name[-len(suffix) :] for suffix in ARCHIVE_SUFFIXES if name.lower().endswith(suffix)), "")


@dataclass
class Tree:
    """The files of one delivery that a layout may use.

    Args:
        sources: relative path -> content; one byte more than its cap stands for "too large".
        forms: likewise of every `exercises.yaml`; layouts choose one.
        others: paths of what is neither source nor notebook; never opened, only named in messages.
        remarks: what was accepted although unusual.
        handed_in: the one archive or file that all of it came in, on this machine's disk; None for a folder.
    """

    sources: dict[str, bytes] = field(default_factory=dict)
    forms: dict[str, bytes] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    handed_in: Path | None = None
    _entries: int = 0
    _kept: int = 0
    _folded: dict[str, str] = field(default_factory=dict)

    def admit(self, name: str) -> str | None:
        """Give the cleaned relative path of an entry, or None where it is left out without a word.

        Raises:
            UngradableError: the name leads outside, cannot be a source's name, or there are too many of them.
        """
        self._entries += 1
        if self._entries > limits.ENTRIES:
            raise UngradableError(f"expected at most {limits.ENTRIES} files, found more")
        if "\\" in name:
            name = name.replace("\\", "/")
            self.remark("backslashes in file names were read as folder separators")
        parts = [part for part in name.split("/") if part not in ("", ".")]
        if name.startswith("/") or _DRIVE.match(name) or ".." in parts:
            raise UngradableError(f"expected paths inside the submission, found {shown(name)}, which leads outside it")
        if not parts or any(is_ignored(part) for part in parts):
            return None
        path = "/".join(parts)
        reason = _unusable(path, parts)
        if reason and source_cap(path) is None:
            return None
        if reason:
            raise UngradableError(f"expected an ordinary file name, found {shown(path)}, {reason}")
        return path

    def keep(self, path: str, content: bytes) -> None:
        """Take a source, notebook or form in under an admitted path.

        Raises:
            UngradableError: the path is there already (letter case and Unicode form aside), or all sources
                together are too large. Never for a form, which must not cost anyone the grade of the code.
        """
        if is_exercises(path):
            if len(self.forms) < limits.FORMS:
                self.forms.setdefault(path, content)
            return
        folded = unicodedata.normalize("NFC", path).casefold()
        if folded in self._folded:
            first, second = shown(self._folded[folded]), shown(path)
            raise UngradableError(f"expected every file once, found {first} and {second}: which one is meant?")
        self._folded[folded] = path
        self._kept += len(content)
        if self._kept > limits.KEPT_BYTES:
            found = f"found more than {limits.KEPT_BYTES // limits.MIB} MiB"
            raise UngradableError(f"expected a few small source files, {found} of them")
        self.sources[path] = content

    def remark(self, text: str) -> None:
        """Note what was accepted although unusual, once."""
        if text not in self.remarks:
            self.remarks.append(text)

    def found(self) -> str:
        """Say in a few words what is here, for the "found …" half of a message."""
        names = sorted(self.sources) + sorted([*self.forms, *self.others])
        if not names:
            return "nothing"
        return ", ".join(shown(name) for name in names[:5]) + (f" and {len(names) - 5} more" if names[5:] else "")


def _unusable(path: str, parts: list[str]) -> str:
    if any(unicodedata.category(character) in _HOSTILE_CATEGORIES for character in path):
        return "with invisible or control characters in it"
    sizes = [len(part.encode()) for part in parts]
    if max(sizes) > limits.NAME_BYTES or sum(sizes) + len(sizes) > limits.PATH_BYTES or len(parts) > limits.DEPTH:
        return "which is too long"
    return ""
