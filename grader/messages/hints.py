"""The hint ladders: for every misconception a symptom, a question and its name, in `hints.en.yaml` and `.zh.yaml`."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec

from grader.messages import LANGUAGES


class Ladder(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a student is told of one misconception, a step at a time.

    Args:
        name: of the mistake, in a few words.
        rung1: the symptom, in words about the student's own output.
        rung2: a question that leads there.
        rung3: what is done instead of the right thing, and the section to reread; never the line to type.
    """

    name: str
    rung1: str
    rung2: str
    rung3: str


@functools.cache
def ladders(language: str) -> Mapping[str, Ladder]:
    """Name of a misconception -> its ladder, in a language of `LANGUAGES`.

    Raises:
        ValueError: the file does not have its shape, a text is empty, or the other languages have other names.
    """
    found = _load(language)
    for other in LANGUAGES:
        if odd := sorted(found.keys() ^ _load(other).keys()):
            raise ValueError(
                f"hints.{language}.yaml and hints.{other}.yaml must have the same keys; in one only: {odd}"
            )
    return MappingProxyType(found)


@functools.cache
def _load(language: str) -> dict[str, Ladder]:
    path = Path(__file__).with_name(f"hints.{language}.yaml")
    try:
        found = msgspec.yaml.decode(path.read_bytes(), type=dict[str, Ladder])
    except msgspec.MsgspecError as error:
        raise ValueError(f"{path.name} is not `name: {{name, rung1, rung2, rung3}}`: {error}") from error
    for key, ladder in found.items():
        if not all(text.strip() for text in msgspec.structs.astuple(ladder)):
            raise ValueError(f"{path.name}: {key} has an empty text; write it, or take the key out of both languages")
    return found
