"""`run.yaml`: how a run was made, and what of it every report follows from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec

from grader.report.yaml import dump
from grader.verdict import Environment

SCHEMA = "hw3-run/1"
TRANSLATION = "translation"
"""Key of what the long checks train on; a run in which they are pending has none."""


@dataclass(frozen=True)
class RunFacts:
    """One run of the grader.

    Args:
        environment: versions, tier, rubric and seed.
        only: the checks selected; none: all.
        feedback: how much students are told.
        language: of the feedback.
        assignment: a hash of the framework and the stubs.
        command: the command line.
        translation: a hash of what the long checks train on; "": they are pending.
    """

    environment: Environment
    only: tuple[str, ...] = ()
    feedback: str = "full"
    language: str = "en"
    assignment: str = ""
    command: tuple[str, ...] = ()
    translation: str = ""

    @property
    def decisive(self) -> dict[str, str]:
        """All that two runs must have in common for a report of one to stand in the other."""
        trained = {TRANSLATION: self.translation} if self.translation else {}
        shown = {"seed": self.environment.seed, "feedback": self.feedback, "lang": self.language}
        return self.preflight | shown | trained

    @property
    def preflight(self) -> dict[str, str]:
        """All that the check of the reference follows from: not the seed, for it must hold for every one."""
        facts: dict[str, str] = msgspec.to_builtins(self.environment)
        return {name: facts[name] for name in facts if name != "seed"} | {"only": " ".join(self.only)}


def dump_run(
    facts: RunFacts, started: float, finished: float | None = None, faults: Sequence[Mapping[str, str]] = ()
) -> bytes:
    """`run.yaml`; written when a run begins, without `finished`, and again when it ends.

    Args:
        facts: of the run.
        started: seconds since 1970.
        finished: likewise; None: not yet.
        faults: id and reason of each infrastructure error.
    """
    data: dict[str, Any] = {
        "schema": SCHEMA,
        "command": list(facts.command),
        "environment": msgspec.to_builtins(facts.environment),
        "assignment": facts.assignment,
        "options": {"only": list(facts.only), "feedback": facts.feedback, "lang": facts.language},
        "started": _time(started),
        "finished": None if finished is None else _time(finished),
        "wall_s": None if finished is None else round(finished - started, 1),
        "infrastructure_errors": [dict(fault) for fault in faults],
    }
    return dump(data)


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
