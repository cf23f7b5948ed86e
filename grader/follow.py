"""A mistake costs once: what fails only through a mistake that another check has already charged earns its points."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import msgspec

from grader.diagnose import Causes
from grader.verdict import Outcome, Verdict

_CHARGED = {Verdict.FAILED, Verdict.ERROR}


def carried_forward(outcomes: Mapping[str, Outcome], causes: Mapping[str, Causes]) -> dict[str, Outcome]:
    """The outcomes, with the points of every failed check whose causes have all been paid for elsewhere.

    Args:
        outcomes: check id -> what was found.
        causes: check id -> the misconceptions that explain all of it; empty when nothing does.

    A misconception is paid for when the check that it is blamed on failed and is not itself carried. A check that a
    misconception is blamed on is never carried, so that leaving something wrong on purpose earns nothing.
    """
    paid = {
        check
        for check, found in causes.items()
        if outcomes[check].verdict in _CHARGED and (not found or any(m.blames == check for m in found))
    }
    return {check: _carry(check, outcome, causes.get(check, ()), paid) for check, outcome in outcomes.items()}


def _carry(check: str, outcome: Outcome, found: Causes, paid: set[str]) -> Outcome:
    if not found or check in paid or any(m.blames not in paid for m in found):
        return outcome
    names = " and ".join(f"{m.name} ({m.blames})" for m in found)
    message = f"right but for {names}, which has been paid for there"
    return msgspec.structs.replace(outcome, carried=Fraction(1), message=message)
