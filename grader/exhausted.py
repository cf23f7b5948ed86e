"""Which limit stands behind an exception of student code: a report leads with it, in the words of every other limit."""

from __future__ import annotations

from dataclasses import replace

from grader.case import Limits
from grader.judge import Finding
from grader.sandbox.endings import FILE_MIB, OPEN_FILES
from grader.verdict import Raised, Verdict


def named(finding: Finding, limits: Limits) -> Finding:
    """The finding with the limit that was met in its message; any other finding as it is."""
    if finding.verdict is Verdict.MEMORY:
        return replace(finding, message=limits.memory_text)  # the place, where there is one, is in `raised`
    limit = _met(finding.raised) if finding.raised else ""
    return replace(finding, message=f"{limit}: {finding.message}") if limit else finding


def _met(raised: Raised) -> str:
    """The limit whose sign this exception is; "" for none."""
    signs = {
        ("OSError", "[Errno 24]"): f"open files limit {OPEN_FILES}",
        ("OSError", "[Errno 27]"): f"file size limit {FILE_MIB} MiB",
        ("RuntimeError", "can't start new thread"): "threads limit 1",
    }
    found = (limit for (kind, text), limit in signs.items() if raised.kind == kind and raised.text.startswith(text))
    return next(found, "")
