"""What students read, in English and Chinese: one key each, in `en.yaml` and `zh.yaml`."""

from __future__ import annotations

import functools
import string
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import msgspec

LANGUAGES = ("en", "zh")
REFERENCE = "en"


@dataclass(frozen=True)
class Texts:
    """The messages of one language."""

    language: str
    templates: Mapping[str, str]

    def __call__(self, key: str, **values: object) -> str:
        """The message of that key, its placeholders filled in.

        Raises:
            KeyError: there is no such key, or a placeholder got no value.
        """
        return self.templates[key].format_map(values)


@functools.cache
def texts(language: str) -> Texts:
    """The messages of a language of `LANGUAGES`.

    Raises:
        ValueError: the file is no flat list of texts, or does not have the keys and placeholders of the English one.
    """
    templates = _load(language)
    if language != REFERENCE:
        _compare(language, templates, _load(REFERENCE))
    return Texts(language, MappingProxyType(templates))


def placeholders(template: str) -> frozenset[str]:
    """The names in braces that a message asks for."""
    return frozenset(name for _, name, _, _ in string.Formatter().parse(template) if name is not None)


def _load(language: str) -> dict[str, str]:
    path = Path(__file__).with_name(f"{language}.yaml")
    try:
        return msgspec.yaml.decode(path.read_bytes(), type=dict[str, str])
    except msgspec.MsgspecError as error:
        raise ValueError(f"{path.name} is not a flat list of `key: text`: {error}") from error


def _compare(language: str, templates: Mapping[str, str], reference: Mapping[str, str]) -> None:
    if odd := sorted(templates.keys() ^ reference.keys()):
        raise ValueError(f"{language}.yaml and {REFERENCE}.yaml must have the same keys; only in one of them: {odd}")
    for key, template in templates.items():
        if placeholders(template) != placeholders(reference[key]):
            raise ValueError(
                f"{language}.yaml: {key!r} asks for {sorted(placeholders(template))}, "
                f"{REFERENCE}.yaml for {sorted(placeholders(reference[key]))}; make them the same"
            )
