"""The counts of a proof, and what a person has to look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from grader.report.gradebook import number
from grader.report.text import one_line
from grader.rubric import load
from grader.selfcheck.known import Known
from grader.selfcheck.patches import Equivalent, Mutant
from grader.selfcheck.proof import Proof, Result


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    """What the solution got, as text that is exact."""

    score: str
    pending: str
    max: str


class Mutants(msgspec.Struct, frozen=True, kw_only=True):
    """Killed: the right check lost points. Equivalent: shown to be right, and lost none."""

    total: int
    killed: int
    equivalent: int


class Equivalents(msgspec.Struct, frozen=True, kw_only=True):
    """Passed: full marks."""

    total: int
    passed: int


class Misconceptions(msgspec.Struct, frozen=True, kw_only=True):
    """Named: every mutant of that name was reported under it."""

    total: int
    named: int


class Attacks(msgspec.Struct, frozen=True, kw_only=True):
    """Held: graded as it must be, with nothing changed around it; none, where something is and none can be blamed."""

    total: int = 0
    held: int = 0


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """The last line of `--json`."""

    tier: str
    reference: Reference
    blank: str
    mutants: Mutants
    equivalents: Equivalents
    misconceptions: Misconceptions
    attacks: Attacks

    @property
    def holds(self) -> bool:
        """Whether the proof is complete."""
        reference = self.reference
        return (
            float(reference.score) + float(reference.pending) == float(reference.max)
            and self.blank == "0"
            and self.mutants.killed + self.mutants.equivalent == self.mutants.total
            and self.equivalents.passed == self.equivalents.total
            and self.misconceptions.named == self.misconceptions.total
            and self.attacks.held == self.attacks.total
        )


def summary(proof: Proof, known: Known, tier: str) -> Summary:
    """The counts of what was graded."""
    named = list(zip(known.mutants, proof.mutants, strict=True))
    killed = sum(is_killed(*pair) for pair in named)
    lost = sum(bool(result.lost) and result.id not in known.harmless for result in proof.machines)
    harmless = sum(not result.lost and result.id in known.harmless for result in proof.machines)
    names = {mutant.named for mutant in known.mutants} - {""}
    unnamed = {mutant.named for mutant, result in named if not is_named(mutant, result)}
    return Summary(
        tier=tier,
        reference=Reference(
            score=number(proof.reference.score),
            pending=number(proof.reference.pending),
            max=number(_top()),
        ),
        blank=number(proof.blank.score),
        mutants=Mutants(total=len(named) + len(proof.machines), killed=killed + lost, equivalent=harmless),
        equivalents=Equivalents(
            total=len(proof.equivalents), passed=sum(has_full_marks(result) for result in proof.equivalents)
        ),
        misconceptions=Misconceptions(total=len(names), named=len(names - unnamed)),
        attacks=Attacks(total=len(proof.attacks), held=0 if proof.left else sum(tried.held for tried in proof.attacks)),
    )


def is_killed(mutant: Mutant, result: Result) -> bool:
    """Whether it lost every check that it must lose, and failed every one that it must fail."""
    return set(mutant.loses) <= set(result.lost) and set(mutant.fails) <= set(result.failed)


def is_named(mutant: Mutant, result: Result) -> bool:
    """Whether the first check that it must lose says its name, alone or with another."""
    return not mutant.named or mutant.named in result.names.get(mutant.loses[0], ())


def has_full_marks(result: Result) -> bool:
    """Whether nothing is lost."""
    return not result.lost and not result.notes and result.score + result.pending == _top()


def _top() -> float:
    return float(load().max_score)


def show(screen: Console, proof: Proof, found: Summary, known: Known) -> None:
    """The counts as a table, then everything that is not as it should be."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("what", "graded", "as it should be", ""):
        table.add_column(column, justify="right" if column in {"graded", "as it should be"} else "left")
    mutants, right = found.mutants, found.equivalents
    reference = f"{found.reference.score} + {found.reference.pending} pending of {found.reference.max}"
    table.add_row("reference", "1", str(int(has_full_marks(proof.reference))), reference)
    table.add_row("blank stubs", "1", str(int(found.blank == "0")), f"{found.blank} points")
    note = f"{mutants.killed} lose the right check, {mutants.equivalent} are shown to be right"
    table.add_row("mutants", str(mutants.total), str(mutants.killed + mutants.equivalent), note)
    table.add_row("equivalents", str(right.total), str(right.passed), "full marks")
    names = found.misconceptions
    table.add_row("misconceptions", str(names.total), str(names.named), "reported by name")
    attacks = found.attacks
    table.add_row("attacks", str(attacks.total), str(attacks.held), f"held on tier {found.tier}")
    screen.print(table)
    for line in _wrong(proof, known):
        screen.print(Text(one_line(line)), soft_wrap=True)
    dearer = sum(set(r.lost) > set(m.loses) for m, r in zip(known.mutants, proof.mutants, strict=True))
    screen.print(f"named mutants that cost more than the check they are made for: {dearer}")


def _wrong(proof: Proof, known: Known) -> Iterator[str]:
    for result in (proof.reference, *proof.equivalents):
        if not has_full_marks(result):
            yield f"NOT FULL MARKS  {result.id}: {'; '.join(result.notes) or number(result.score)}"
    yield from _unkilled(zip(known.mutants, proof.mutants, strict=True))
    for result in proof.machines:
        if not result.lost and result.id not in known.harmless:
            yield f"SURVIVES        {result.id}"
        elif result.lost and result.id in known.harmless:
            yield f"NOT HARMLESS    {result.id}: loses {', '.join(result.lost)}"
    for tried in proof.attacks:
        if not tried.held:
            yield f"NOT HELD        {tried.id}: {tried.why_not}"
    if proof.left:
        yield f"LEFT BEHIND     by some attack: {proof.left}"


def _unkilled(pairs: Iterable[tuple[Mutant, Result]]) -> Iterator[str]:
    for mutant, result in pairs:
        if not is_killed(mutant, result):
            lost, notes = ", ".join(result.lost) or "nothing", "; ".join(result.notes)
            expected = ", ".join([*mutant.loses, *mutant.fails])
            yield f"SURVIVES        {mutant.id}: loses {lost}, expected {expected}; {notes}"
        elif not is_named(mutant, result):
            said = " + ".join(result.names.get(mutant.loses[0], ())) or "nothing"
            yield f"UNNAMED         {mutant.id}: {mutant.loses[0]} says {said}"


def ways(equivalents: Sequence[Equivalent]) -> set[int]:
    """The variations of the design's list that are covered."""
    return {way for equivalent in equivalents for way in equivalent.ways}
