"""All solutions whose grade we know, found beside the installed project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from grader import preflight
from grader.errors import UsageError
from grader.selfcheck import machine, patches
from grader.selfcheck.attacks import Attack
from grader.selfcheck.machine import Machine
from grader.selfcheck.patches import Equivalent, Mutant
from grader.submission import Submission

T = TypeVar("T")

HARNESS = Path("tests") / "harness"
HARMLESS = "harmless_mutants.yaml"
"""Beside the folder of mutants: the machine-made ones that are right, with the reason."""

SAMPLED_MUTANTS, SAMPLED_MACHINES, SAMPLED_EQUIVALENTS, SAMPLED_ATTACKS = 12, 16, 5, 8


@dataclass(frozen=True)
class Known:
    """What is to be graded.

    Args:
        reference: the solution.
        blank: the stubs.
        texts: the solution's files, with the markers.
        mutants: wrong on purpose, most of them with a name.
        machines: made by rule.
        equivalents: right, written otherwise.
        attacks: submissions that try what no submission may.
        harmless: id of a machine-made mutant that is right -> why.
        all_mutants: also those that are not graded now, as a patch may come after another.
        all_equivalents: likewise.
        all_attacks: likewise.
    """

    reference: Submission
    blank: Submission
    texts: Mapping[str, str]
    mutants: Sequence[Mutant] = ()
    machines: Sequence[Machine] = ()
    equivalents: Sequence[Equivalent] = ()
    attacks: Sequence[Attack] = ()
    harmless: Mapping[str, str] = field(default_factory=dict)
    all_mutants: Sequence[Mutant] = ()
    all_equivalents: Sequence[Equivalent] = ()
    all_attacks: Sequence[Attack] = ()

    def on(self, tier: str) -> Known:
        """Without the attacks that need not hold on the tier of that letter."""
        return replace(self, attacks=[attack for attack in self.attacks if tier in attack.tiers])

    def sample(self) -> Known:
        """Some of each kind, spread evenly, the same every time."""
        return replace(
            self,
            mutants=_spread(self.mutants, SAMPLED_MUTANTS),
            machines=_spread(self.machines, SAMPLED_MACHINES),
            equivalents=_spread(self.equivalents, SAMPLED_EQUIVALENTS),
            attacks=_spread(self.attacks, SAMPLED_ATTACKS),
        )


def load(root: Path) -> Known:
    """What is known under the project's folder; without `tests/harness` only the reference and the stubs.

    Raises:
        UsageError: a file there is malformed, or explains a machine-made mutant that is not made any more.
        RefusedToStartError: the reference or the stubs are missing.
    """
    folder = root / HARNESS
    known = Known(
        reference=preflight.submission_of(root / "solution", preflight.REFERENCE),
        blank=preflight.submission_of(root / "assignment", preflight.BLANK),
        texts=patches.solution(root / "solution"),
    )
    if not (folder / "mutants").is_dir():
        return known
    machines = machine.mutants(known.texts)
    harmless = patches.reasons(folder / HARMLESS)
    if unknown := sorted(harmless.keys() - {made.id for made in machines}):
        raise UsageError(f"{HARMLESS} explains {unknown[0]!r}, which is not made (any more); take it out")
    mutants, equivalents = _patches(folder, "mutants", Mutant), _patches(folder, "equivalents", Equivalent)
    attacks = _patches(folder, "attacks", Attack)
    return replace(
        known,
        mutants=mutants,
        machines=machines,
        equivalents=equivalents,
        attacks=attacks,
        harmless=harmless,
        all_mutants=mutants,
        all_equivalents=equivalents,
        all_attacks=attacks,
    )


def _patches(folder: Path, name: str, kind: type[T]) -> list[T]:
    return patches.read(folder / name, kind)


def _spread(entries: Sequence[T], wanted: int) -> Sequence[T]:
    step = max(1, len(entries) / wanted)
    return [entries[int(i * step)] for i in range(min(wanted, len(entries)))]
