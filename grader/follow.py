"""A mistake costs once: what fails only through a mistake that another check has already charged earns its points."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from grader.diagnose import Cause, Causes
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
    return {
        check: _carry(outcome, causes[check])
        if check in causes and check not in paid and all(_is_paid(cause, paid, causes) for cause in causes[check])
        else outcome
        for check, outcome in outcomes.items()
    }


def _is_paid(cause: Cause, paid: set[str], causes: Mapping[str, Causes]) -> bool:
    """Whether the check that a cause is blamed on has failed for that very cause."""
    if cause.blames not in paid:
        return False
    return cause.blames not in causes or cause.name in {other.name for other in causes[cause.blames]}


def _carry(outcome: Outcome, found: Causes) -> Outcome:
    names = " and ".join(f"{cause.name} ({cause.blames})" for cause in found)
    message = f"right but for {names}, which has been paid for there"
    payers = tuple(dict.fromkeys(cause.blames for cause in found))
    return msgspec.structs.replace(outcome, carried=1 - outcome.share, message=message, carried_from=payers)
