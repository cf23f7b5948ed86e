"""Generates `report.schema.json` from the structs of `grader.verdict`: `python -m grader.report.schema [--check]`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import msgspec

from grader.verdict import SCHEMA, Report

PATH = Path(__file__).with_name("report.schema.json")


def schema() -> dict[str, Any]:
    """The JSON Schema of `report.yaml`; keys that are not in the structs are errors."""
    (reference,), definitions = msgspec.json.schema_components([Report], ref_template="#/$defs/{name}")
    for definition in definitions.values():
        if definition.get("type") == "object":
            definition["additionalProperties"] = False
    definitions["Report"]["properties"]["schema"] = {"const": SCHEMA}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{SCHEMA.replace('/', ':')}",
        "title": "report.yaml",
        **reference,
        "$defs": {name: definitions[name] for name in sorted(definitions)},
    }


def text() -> str:
    """The schema as it is committed."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def main(arguments: list[str]) -> int:
    """Writes the schema, or with `--check` says whether the committed one is the one that would be written."""
    if arguments not in ([], ["--check"]):
        sys.stderr.write(f"unknown arguments {arguments}; the only one is --check\n")
        return 2
    if not arguments:
        PATH.write_text(text(), encoding="utf-8")
        return 0
    if PATH.exists() and PATH.read_text(encoding="utf-8") == text():
        return 0
    sys.stderr.write(f"{PATH.name} is not what grader/verdict.py gives; run: python -m grader.report.schema\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
