"""`report.yaml` and the other YAML files: block style, plain numbers, the same bytes for the same report."""

from __future__ import annotations

import math
import re
from typing import Any

import msgspec
import yaml

from grader.errors import InfrastructureError
from grader.report.text import clean
from grader.verdict import Report

ERROR_DIGITS = 2
"""More would tell a student the hidden numbers, and differ between processors."""

_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_NUMBER_LIKE = re.compile(r"[-+.0-9]")


class OneLine(dict[str, Any]):
    """A mapping that is written on one line, `{id: s001, score: 81}`: a row of a table."""


class _Block(_Dumper):  # type: ignore[misc]  # which of PyYAML's two dumpers it is, is known only at run time
    """Quotes whatever another YAML version could read as a number: an id `1e5` or `0012` stays text."""

    def ignore_aliases(self, _data: object) -> bool:
        """Two equal lists are written twice: a report has no `&id001`."""
        return True


def _text(dumper: Any, value: str) -> Any:
    style = '"' if _NUMBER_LIKE.match(value) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


def _row(dumper: Any, value: OneLine) -> Any:
    return dumper.represent_mapping("tag:yaml.org,2002:map", value.items(), flow_style=True)


_Block.add_representer(str, _text)
_Block.add_representer(OneLine, _row)


def dump(value: Any) -> bytes:
    """Plain data as YAML in UTF-8, keys in the order in which they are; text is sanitised, numbers are plain."""
    text: str = yaml.dump(
        _plain(value), Dumper=_Block, sort_keys=False, allow_unicode=True, default_flow_style=False, width=120
    )
    return text.encode()


def dump_report(report: Report) -> bytes:
    """`report.yaml` of one submission."""
    return dump(report_as_data(report))


def report_as_data(report: Report) -> dict[str, Any]:
    """The report as it is written: no number of an error with more than two digits, no key without a value there."""
    data: dict[str, Any] = msgspec.to_builtins(report)
    for problem in data["problems"]:
        for check in problem["checks"]:
            if check.get("error"):
                check["error"] = {key: _rounded(value) for key, value in check["error"].items() if value is not None}
    plain: dict[str, Any] = _plain(data)
    return plain


def load_report(data: bytes) -> Report:
    """A report that `dump_report` wrote.

    Raises:
        InfrastructureError: the bytes are no report of this version.
    """
    try:
        return msgspec.convert(yaml.load(data, Loader=_Loader), Report)  # noqa: S506 - a SafeLoader in C
    except (yaml.YAMLError, msgspec.ValidationError, UnicodeDecodeError) as error:
        raise InfrastructureError(f"this is no report.yaml of this grader: {error}") from error


def _rounded(value: Any) -> Any:
    return float(f"{value:.{ERROR_DIGITS}g}") if isinstance(value, float) and math.isfinite(value) else value


def _plain(value: Any) -> Any:
    """`value` with clean text, whole floats as integers, and null for what is no finite number."""
    match value:
        case dict():
            kind = OneLine if isinstance(value, OneLine) else dict
            return kind({_plain(key): _plain(item) for key, item in value.items()})
        case list() | tuple():
            return [_plain(item) for item in value]
        case str():
            return clean(value)
        case float():
            if not math.isfinite(value):
                return None
            return int(value) if value.is_integer() and abs(value) < 1e15 else value  # noqa: PLR2004 - exact there
        case _:
            return value
