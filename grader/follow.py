"""A mistake costs once: what fails only through a mistake that another check has already charged earns its points."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from grader.diagnose import Causes
from grader.verdict import Outcome, Verdict

_CHARGED = {Verdict.FAILED, Verdict.ERROR}


def carried_forward(outcomes: Mapping[str, Outcome], causes: Mapping[str, Causes]) -> dict[str, Outcome]:
    """The outcomes, with the points of every failed check whose causes have all been paid for elsewhere.

    Args:
        outcomes: check id -> what was found.
        causes: check id -> what explains all of its failure; no entry where nothing does.

    A cause is paid for when the check that it is blamed on failed and is not itself carried. A check that one of its
    causes is blamed on is never carried, so that leaving something wrong on purpose earns nothing.
    """
    paid = {
        check
        for check, outcome in outcomes.items()
        if outcome.verdict in _CHARGED and (check not in causes or any(c.blames == check for c in causes[check]))
    }
    return {check: _carry(check, outcome, causes.get(check, ()), paid) for check, outcome in outcomes.items()}


def _carry(check: str, outcome: Outcome, found: Causes, paid: set[str]) -> Outcome:
    if not found or check in paid or any(cause.blames not in paid for cause in found):
        return outcome
    names = " and ".join(f"{cause.name} ({cause.blames})" for cause in found)
    message = f"right but for {names}, which has been paid for there"
    payers = tuple(dict.fromkeys(cause.blames for cause in found))
    return msgspec.structs.replace(outcome, carried=1 - outcome.share, message=message, carried_from=payers)
