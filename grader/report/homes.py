"""Which check explains what, so that a student reads nothing twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from grader.report.voice import Voice, is_explained, is_hidden
from grader.verdict import CheckReport, Raised, Verdict

LIMITS = frozenset({Verdict.TIMEOUT, Verdict.MEMORY})


@dataclass(frozen=True)
class Homes:
    """Which check explains what: the first that shows it.

    Args:
        mistakes: name of a misconception -> check id.
        errors: exception of a public check -> check id.
        limits: a limit that a public check met -> check id.
        unnamed: what a student wrote, "nn.logsumexp" -> the first check of it that is wrong in a way without a name.
        again: check id -> the other checks that stopped at the same place.
        titles: check id -> title.
    """

    mistakes: Mapping[str, str]
    errors: Mapping[Raised, str]
    limits: Mapping[Verdict, str]
    unnamed: Mapping[str, str]
    again: Mapping[str, Sequence[CheckReport]]
    titles: Mapping[str, str]

    def explained_at(self, check: CheckReport) -> str:
        """The id of the check under which this one's exception is explained: itself, another one, or "" for none."""
        return self.errors.get(check.raised, "") if check.raised else ""

    def is_repeated(self, check: CheckReport) -> bool:
        """Whether there is nothing to say of a check but that it stopped where another one did."""
        return self.explained_at(check) not in {"", check.id}


def homes(checks: Iterable[CheckReport], voice: Voice) -> Homes:
    """The homes of what these checks show, in their order."""
    mistakes: dict[str, str] = {}
    errors: dict[Raised, str] = {}
    limits: dict[Verdict, str] = {}
    unnamed: dict[str, str] = {}
    ordered = list(checks)
    for check in filter(is_explained, ordered):
        for name in check.diagnosis.names if check.diagnosis else ():
            mistakes.setdefault(name, check.id)
        if check.raised and not is_hidden(check):
            errors.setdefault(check.raised, check.id)
        elif check.verdict in LIMITS and not is_hidden(check):
            limits.setdefault(check.verdict, check.id)
        guide = voice.guide(check)
        if guide and _is_unnamed(check, voice):
            unnamed.setdefault(guide.where, check.id)
    titles = {check.id: voice.title(check) for check in ordered}
    known = Homes(mistakes, errors, limits, unnamed, {}, titles)
    again: dict[str, list[CheckReport]] = {}
    for check in filter(known.is_repeated, filter(is_explained, ordered)):
        again.setdefault(known.explained_at(check), []).append(check)
    return replace(known, again=again)


def named(check: CheckReport, voice: Voice) -> list[str]:
    """The mistakes of a check that there is something to say of."""
    return [name for name in (check.diagnosis.names if check.diagnosis else ()) if voice.ladder(name)]


def first_unnamed(check: CheckReport, voice: Voice, known: Homes) -> str:
    """The id of an earlier check of the same code that is wrong without a name too; "" where there is none."""
    guide = voice.guide(check)
    first = known.unnamed.get(guide.where, "") if guide and _is_unnamed(check, voice) else ""
    return "" if first == check.id else first


def _is_unnamed(check: CheckReport, voice: Voice) -> bool:
    return check.verdict is Verdict.FAILED and not named(check, voice)
