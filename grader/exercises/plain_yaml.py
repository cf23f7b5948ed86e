"""YAML that a student wrote, as mappings, lists and text. Nothing else of YAML is read, and nothing is constructed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import yaml

from grader.errors import ExercisesError
from grader.submission import MAX_EXERCISES_BYTES

Data: TypeAlias = "str | list[Data] | dict[str, Data]"

DEEPEST = 6
"""The file, `answers`, an exercise, a shape, and two for what is wrong there alone."""


def read(content: bytes) -> Data:
    """The one document of a file; a file of nothing is an empty mapping.

    Aliases, anchors and tags are refused: of a few bytes they make much, or something else than text. So are a key that
    stands twice and what is nested far deeper than the form.

    Raises:
        ExercisesError: it is too large, not UTF-8, or not such YAML; the message names the line.
    """
    text = _text(content)
    try:
        return _document(yaml.parse(text, Loader=yaml.SafeLoader))  # in Python: no C code meets a student's bytes
    except yaml.reader.ReaderError as error:
        raise _unreadable(text.count("\n", 0, error.position)) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _unreadable(mark.line if mark else 0) from error


def _text(content: bytes) -> str:
    if len(content) > MAX_EXERCISES_BYTES:
        raise ExercisesError(f"expected an exercises.yaml of at most {MAX_EXERCISES_BYTES // 1024} KiB, found more")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ExercisesError(
            f"expected exercises.yaml in UTF-8, found other bytes in line {line}; save it as UTF-8"
        ) from error


def _unreadable(line: int) -> ExercisesError:
    return ExercisesError(
        f"exercises.yaml cannot be read in line {line + 1}, or in the one above; expected `name: value`, indented as "
        "in the form, and quotes around a value with special characters"
    )


def _line(event: yaml.Event) -> int:
    """Counted from 0."""
    return event.start_mark.line if event.start_mark else 0


def _document(events: Iterator[yaml.Event]) -> Data:
    found: Data | None = None
    for event in events:
        if isinstance(event, yaml.NodeEvent):
            if found is not None:
                raise _unreadable(_line(event))
            found = _value(event, events, 1)
    return {} if found is None else found


def _value(event: yaml.Event, events: Iterator[yaml.Event], depth: int) -> Data:
    """What begins with an event, which may take more of them."""
    line = _line(event)
    if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) or getattr(event, "tag", None):
        raise ExercisesError(
            f"exercises.yaml has a value in line {line + 1} that begins with a sign of YAML's own (one of & * !); "
            "put quotes around it"
        )
    if isinstance(event, yaml.ScalarEvent):
        return str(event.value)
    if depth > DEEPEST:
        raise _unreadable(line)
    if isinstance(event, yaml.SequenceStartEvent):
        return [_value(item, events, depth + 1) for item in _until(yaml.SequenceEndEvent, events)]
    return _mapping(events, depth)


def _mapping(events: Iterator[yaml.Event], depth: int) -> dict[str, Data]:
    found: dict[str, Data] = {}
    for event in _until(yaml.MappingEndEvent, events):
        line = _line(event)
        key = _value(event, events, depth + 1)
        if not isinstance(key, str):
            raise _unreadable(line)
        if key in found:
            raise ExercisesError(f"exercises.yaml has the same name again in line {line + 1}; keep one of the two")
        found[key] = _value(next(events), events, depth + 1)
    return found


def _until(end: type[yaml.Event], events: Iterator[yaml.Event]) -> Iterator[yaml.Event]:
    for event in events:
        if isinstance(event, end):
            return
        yield event
