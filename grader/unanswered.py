"""What a request without an answer means for the check that made it."""

from __future__ import annotations

from collections.abc import Mapping

from grader.case import FaultKind
from grader.verdict import Verdict

NO_ANSWER: Mapping[FaultKind, Verdict] = {
    FaultKind.TIMEOUT: Verdict.TIMEOUT,
    FaultKind.MEMORY: Verdict.MEMORY,
    FaultKind.OUTPUT: Verdict.ERROR,
    FaultKind.DIED: Verdict.ERROR,
    FaultKind.PROTOCOL: Verdict.ERROR,
}
