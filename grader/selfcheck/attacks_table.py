"""`python -m grader.selfcheck.attacks_table`: carries out every attack on every tier that holds here, and lists them.

The list stands in `handouts/security.md` between two markers, in the order of `tests/harness/attacks`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from grader import grading
from grader.atomic import write_atomic
from grader.errors import GraderError, RefusedToStartError, UsageError
from grader.fingerprint import ROOT
from grader.sandbox import keepable
from grader.selfcheck.attacking import Tried, carry_out
from grader.selfcheck.attacks import Attack
from grader.selfcheck.command import SECRET
from grader.selfcheck.ground import prepared
from grader.selfcheck.known import Known, load

PATH = ROOT / "handouts" / "security.md"
BEGIN = "<!-- attacks: begin (made by `python -m grader.selfcheck.attacks_table`) -->"
END = "<!-- attacks: end -->"

TIERS = "AB"
HEAD = ("attack", "what the submission does", "what must come of it", *(f"tier {letter}" for letter in TIERS))
HELD, NOT_HELD, NOT_TRIED = "held", "**not held**", "not tried"

Held = Mapping[tuple[str, str], bool]
"""(id, letter of a tier) -> whether it held."""


def main() -> int:
    """Carry them out and write the table. Exit status 0: all held; 1: one did not; 2: no sandbox, or no markers."""
    known = load(ROOT)
    held: dict[tuple[str, str], bool] = {}
    try:
        document = PATH.read_text("utf-8")
        parts(document)
        for tried, letter in _tried(known):
            held[tried.id, letter] = tried.held
            if not tried.held:
                sys.stdout.write(f"not held on tier {letter}: {tried.id}: {tried.why_not}\n")
        write_atomic(PATH, with_table(document, known.attacks, held).encode())
    except GraderError as error:
        sys.stderr.write(f"attacks_table: {error}\n")
        return 2
    sys.stdout.write(f"{sum(held.values())} of {len(held)} held: {PATH.relative_to(ROOT)}\n")
    return 0 if all(held.values()) else 1


def _tried(known: Known) -> Iterable[tuple[Tried, str]]:
    sandboxes = keepable()
    if not sandboxes:
        raise RefusedToStartError("no isolation works here; python -m grader.selfcheck says why")
    bench = grading.prepare(SECRET, "auto", ()).bench
    for sandbox in sandboxes:
        own = known.on(sandbox.letter)
        with (
            prepared(replace(bench, sandbox=sandbox), own.reference, own.texts, own.all_attacks) as ground,
            ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool,
        ):
            in_order = sorted(own.attacks, key=lambda attack: not attack.waits)
            for tried in pool.map(lambda attack: carry_out(attack, ground), in_order):
                yield tried, sandbox.letter
            if left := ground.left_behind():
                raise RefusedToStartError(f"an attack on tier {sandbox.letter} has changed its surroundings: {left}")


def parts(document: str) -> tuple[str, str, str]:
    """What stands before, between and after the markers.

    Raises:
        UsageError: one of them is missing, or stands there twice.
    """
    if document.count(BEGIN) != 1 or document.count(END) != 1:
        raise UsageError(f"{PATH.name} must hold {BEGIN!r} and {END!r} once each; put them in")
    before, _, rest = document.partition(BEGIN)
    between, _, after = rest.partition(END)
    return before, between, after


def with_table(document: str, attacks: Sequence[Attack], held: Held) -> str:
    """The document with the table of these attacks between its markers."""
    before, _, after = parts(document)
    rows = [HEAD, ("---",) * len(HEAD), *(row(attack, held) for attack in attacks)]
    table = "".join(f"| {' | '.join(cells)} |\n" for cells in rows)
    return f"{before}{BEGIN}\n\n{table}\n{END}{after}"


def row(attack: Attack, held: Held) -> tuple[str, ...]:
    """One attack's cells."""
    results = (_result(attack, letter, held) for letter in TIERS)
    about = f"{attack.about} (As in: {attack.incident}.)" if attack.incident else attack.about
    return (f"`{attack.id}`", _cell(about), _cell(outcome(attack)), *results)


def outcome(attack: Attack) -> str:
    """What must come of it, in words."""
    if attack.ungradable:
        return "refused as ungradable"
    if attack.deed and not attack.outcome:
        return "prevented; the right answer is paid"
    return ", ".join(f"{check} {verdict.value}" for check, verdict in attack.expected.items())


def _result(attack: Attack, letter: str, held: Held) -> str:
    if (attack.id, letter) not in held:
        return NOT_TRIED
    return HELD if held[attack.id, letter] else NOT_HELD


def _cell(text: str) -> str:
    """Text that no reader of Markdown takes for anything else."""
    escaped = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    return "".join(f"\\{character}" if character in "\\`*_[]|$~" else character for character in escaped)


if __name__ == "__main__":
    sys.exit(main())
