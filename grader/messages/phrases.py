"""What the grader found, said to a student: the sentences of `report.yaml` in each language, from `phrases.yaml`.

Where something is found it is put into words once, in English, for staff. `phrases.yaml` holds every such sentence as a
template. A sentence that is exactly one of them is told in the student's language; any other stays as it is.
"""

from __future__ import annotations

import functools
import re
import string
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import msgspec

from grader.messages import REFERENCE, placeholders, texts

DEPTH = 3
"""How many sentences may stand in one another: what a student wrote could nest without end."""

_PATTERNS = {
    "": r".*?",
    "name": r"[\w.]+",
    "phrase": r".+?",
    "check": r"p\d+(?:\.\w+)+",
    "files": r"\w+\.py(?:(?:, | or )\w+\.py)*",
}
"""Kind of a place, `{name:kind}` -> what it takes: any text, a name without blanks, a sentence of the file, the id of a
check, names of files that we ask for."""

NameOfCheck = Callable[[str], str]


class Line(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the file says of one sentence; `en` only where a student reads other words than staff."""

    zh: str
    en: str = ""
    hint: str = ""


@dataclass(frozen=True)
class Phrase:
    """One sentence of the grader's.

    Args:
        template: as it is found in reports, with `{name}` or `{name:kind}` for what varies.
        told: language -> the same for a student, with `{name}`.
        hint: the key of a message of `grader.messages` that helps a student on from here; "" where there is none.
    """

    template: str
    told: Mapping[str, str]
    hint: str = ""

    @functools.cached_property
    def kinds(self) -> Mapping[str, str]:
        """Name of a place -> its kind."""
        return {name: kind or "" for _, name, kind, _ in string.Formatter().parse(self.template) if name is not None}

    @functools.cached_property
    def size(self) -> int:
        """How many characters are fixed."""
        return sum(len(literal) for literal, *_ in string.Formatter().parse(self.template))

    @functools.cached_property
    def pattern(self) -> re.Pattern[str]:
        """Matches exactly the sentences made from the template."""
        parts = []
        for literal, name, kind, _ in string.Formatter().parse(self.template):
            parts.append(re.escape(literal))
            if name is not None:
                parts.append(f"(?P<{name}>{_PATTERNS[kind or '']})")
        return re.compile("".join(parts), re.DOTALL)


@dataclass(frozen=True)
class Found:
    """A sentence that was recognised: its phrase, and what stands in each place."""

    phrase: Phrase
    places: Mapping[str, str | Found]

    def told(self, language: str, name_of: NameOfCheck) -> str:
        """It again, for a student."""
        shown = {}
        for name, value in self.places.items():
            if isinstance(value, Found):
                shown[name] = value.told(language, name_of)
            else:
                shown[name] = self._shown(name, value, language, name_of)
        return self.phrase.told[language].format_map(shown)

    @property
    def hint(self) -> str:
        """The hint of the sentence, or of one that stands in it; "" where there is none."""
        inner = (value.hint for value in self.places.values() if isinstance(value, Found))
        return self.phrase.hint or next(filter(None, inner), "")

    def _shown(self, place: str, value: str, language: str, name_of: NameOfCheck) -> str:
        match self.phrase.kinds[place]:
            case "check":
                return name_of(value)
            case "files":
                return value.replace(" or ", texts(language)("or"))
            case _:
                return value


def tell(text: str, language: str, name_of: NameOfCheck = str) -> str:
    """A sentence of the grader's for a student.

    Args:
        text: as a report has it.
        language: of the student.
        name_of: gives the title of a check by its id.

    Returns:
        `text` itself where it is no sentence of `phrases.yaml`.
    """
    found = find(text)
    return text if found is None else found.told(language, name_of)


def find(text: str, depth: int = DEPTH) -> Found | None:
    """What a sentence is made from; None where it is none of ours. Of several phrases the one with most that is fixed.

    Args:
        text: the sentence.
        depth: how many sentences may stand in one another.
    """
    candidates = ((phrase, phrase.pattern.fullmatch(text)) for phrase in phrases())
    filled = (_filled(phrase, match, depth) for phrase, match in candidates if match)
    return next((found for found in filled if found), None)


def _filled(phrase: Phrase, match: re.Match[str], depth: int) -> Found | None:
    places: dict[str, str | Found] = {}
    for name, kind in phrase.kinds.items():
        value = find(match[name], depth - 1) if kind == "phrase" and depth else match[name]
        if value is None or (kind == "phrase" and not depth):
            return None
        places[name] = value
    return Found(phrase, places)


def checks_in(text: str) -> Iterator[str]:
    """The ids of the checks that a sentence speaks of."""
    found = find(text)
    for name, value in found.places.items() if found else ():
        if found and found.phrase.kinds[name] == "check" and isinstance(value, str):
            yield value


@functools.cache
def phrases() -> tuple[Phrase, ...]:
    """All of `phrases.yaml`, those with the most fixed characters first.

    Raises:
        ValueError: the file does not have its shape, or a text asks for what its template does not have.
    """
    path = Path(__file__).with_name("phrases.yaml")
    try:
        read = msgspec.yaml.decode(path.read_bytes(), type=dict[str, str | Line])
    except msgspec.MsgspecError as error:
        raise ValueError(f"{path.name} is not `sentence: how a student reads it`: {error}") from error
    found = [_phrase(template, Line(zh=line) if isinstance(line, str) else line) for template, line in read.items()]
    return tuple(sorted(found, key=lambda phrase: (-phrase.size, phrase.template)))


def _phrase(template: str, line: Line) -> Phrase:
    bare = re.sub(r"\{(\w+):\w+\}", r"{\1}", template)
    phrase = Phrase(template, MappingProxyType({"en": line.en or bare, "zh": line.zh}), line.hint)
    where = f"phrases.yaml: {template!r}"
    if not phrase.size:
        raise ValueError(f"{where} has no words of its own, so that every text would be one")
    if unknown := sorted(set(phrase.kinds.values()) - _PATTERNS.keys()):
        raise ValueError(f"{where} has a place of kind {unknown}; there are {sorted(_PATTERNS)}")
    if odd := sorted(set().union(*map(placeholders, phrase.told.values())) - phrase.kinds.keys()):
        raise ValueError(f"{where} has no {odd}, which one of its texts asks for")
    if line.hint and line.hint not in texts(REFERENCE).templates:
        raise ValueError(f"{where} has the hint {line.hint!r}, which is no message of {REFERENCE}.yaml")
    return phrase
