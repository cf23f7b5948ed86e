"""Which misconception is it? The submission's arrays are compared with those of each wrong twin."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Protocol, TypeAlias

import numpy as np

from grader.errors import GraderError, InfrastructureError
from grader.evidence import Exhibit, equals
from grader.judge import Finding
from grader.misconceptions import Misconception, find, known, parts_with
from grader.twins import RIGHT, Parts
from grader.verdict import Diagnosis, Verdict

USED_BY: dict[str, tuple[str, ...]] = {
    "nn.logsumexp": ("logsumexp",),
    "nn.softmax_loss": ("softmax_loss", "logsumexp"),
    "modules_basic.Linear": ("linear",),
    "modules_basic.Embedding": ("embedding",),
    "modules_basic.LayerNorm1d": ("layer_norm",),
    "transformer.MultiHeadAttention": ("attention", "linear"),
    "transformer.FeedForward": ("feed_forward", "linear"),
    "transformer.TransformerLayer": ("layer", "attention", "feed_forward", "layer_norm", "linear"),
    "transformer.DecoderLM": ("lm", "layer", "attention", "feed_forward", "layer_norm", "embedding", "linear"),
    "translation.loss_fn": ("loss_fn", "softmax_loss", "logsumexp"),
    "translation.generate": ("generate",),
}
_LAYER = ("layer", "attention", "feed_forward", "layer_norm", "embedding", "linear", "softmax_loss", "logsumexp")
LEARNERS: dict[str, tuple[str, ...]] = {
    "training.SentenceClassifier": ("classifier", *_LAYER),
    "training.Translator": ("translator", "lm", "loss_fn", *_LAYER),
}
"""The same of what is given and learns. Their twins take seconds, so only mistakes that showed before are tried."""
TARGETS = {parts[0]: target for target, parts in USED_BY.items()}
"""Part -> its target, for all that students write but Dropout."""
USED_BY |= LEARNERS

MOST_TRAINED = 24
"""Sets of mistakes whose twins are trained for one check; each takes up to a second."""

OUT_OF_MEMORY = "DefaultCPUAllocator"
"""How torch, which has no exception of its own for it, says that this machine has no memory left."""


class Cause(Protocol):
    """Why a check fails: a named mistake, or a fault without a name in a module below."""

    @property
    def name(self) -> str:
        """What a report calls it."""

    @property
    def blames(self) -> str:
        """The check whose points it costs."""


Causes: TypeAlias = tuple[Cause, ...]
"""What together explains a failed check."""


def diagnose(
    exhibits: Sequence[Exhibit],
    finding: Finding,
    earlier: Sequence[Misconception] = (),
    *,
    passed: Collection[str] = (),
    pairs: bool = True,
) -> Causes:
    """The misconceptions that together explain every array of a failed check; empty when none does.

    A match is as exact as a pass.

    Args:
        exhibits: the check's trials and answers.
        finding: why it failed; a property may have named the mistake.
        earlier: what this submission's other checks showed; tried first, since a mistake below spreads upwards.
        passed: checks that this submission passed: what these would have caught is not the reason.
        pairs: whether two mistakes that no other check showed are tried together, which takes hundreds of twins.
    """
    if finding.misconception:
        return (find(finding.misconception),)
    if finding.verdict not in {Verdict.FAILED, Verdict.ERROR} or finding.unwritten:
        return ()
    if finding.error is not None and finding.error.what.startswith("param."):
        return ()  # parameters of another shape than the twins', or none: there is nothing to lay beside them
    target = exhibits[0].trial.case.target
    parts = USED_BY.get(target, ())
    compared = sorted((exhibit for exhibit in exhibits if exhibit.trial.compare), key=_cost)
    if all(explains(exhibit, RIGHT) for exhibit in compared):
        return ()  # the arrays are right: it is a property that does not hold
    deep = pairs and finding.verdict is not Verdict.ERROR  # two mistakes that only together raise are no misconception
    screen = replace(compared[0], followed=compared[0].followed[:1])  # one small call turns nearly all of them down
    tried = _candidates(parts, tuple(dict.fromkeys(earlier)), passed, pairs=deep)
    for mistakes in _trained_together(parts, earlier) if target in LEARNERS else tried:
        twins = parts_with(*mistakes)
        if explains(screen, twins) and all(explains(exhibit, twins) for exhibit in compared):
            return mistakes
    return ()


def _cost(exhibit: Exhibit) -> int:
    """How long the twin takes for one call, roughly: its layers, then the numbers that go in."""
    call, layers = exhibit.trial.case.calls[0], exhibit.trial.case.arguments.get("n_layer")
    entries = sum(np.size(given.value) for given in call.inputs.values() if isinstance(given.value, np.ndarray))
    return entries + 1000 * (layers if isinstance(layers, int) else 1)


def describe(causes: Causes) -> Diagnosis | None:
    """The diagnosis as a report shows it."""
    named = [cause for cause in causes if isinstance(cause, Misconception)]
    if not named:
        return None
    names, says = " + ".join(m.name for m in named), " ".join(m.says for m in named)
    return Diagnosis(misconception=names, match="exact", hint=says)


def own_part(exhibits: Sequence[Exhibit]) -> str:
    """The part that a check's target is."""
    return all_parts(exhibits)[0]


def all_parts(exhibits: Sequence[Exhibit]) -> tuple[str, ...]:
    """The parts that a check's target is made of, its own first."""
    return USED_BY.get(exhibits[0].trial.case.target, ("",))


def _candidates(
    parts: tuple[str, ...], found: Sequence[Misconception], passed: Collection[str], *, pairs: bool
) -> Iterator[tuple[Misconception, ...]]:
    """Fewest mistakes first; those found below before others; pairs of which one is of the target itself."""
    below = tuple(m for m in found if m.part in parts)
    yield from _known_below(parts, found)
    possible = {part: tuple(m for m in _of_part(part) if not _is_ruled_out(m, passed)) for part in parts}
    within = tuple(m for part in parts for m in possible[part] if m not in below)
    for mistake in within:
        yield (mistake,)
    if below:
        for mistake in within:
            yield (*below, mistake)
    if not pairs:
        return
    own = possible[parts[0]] if parts else ()
    for first, second in combinations(own, 2):
        yield (*(m for m in below if m not in (first, second)), first, second)
    for first in own:
        for second in within:
            if second.part != parts[0]:
                yield (first, second)


def _known_below(parts: tuple[str, ...], found: Sequence[Misconception]) -> Iterator[tuple[Misconception, ...]]:
    """Sets of the mistakes that other checks showed in these parts: one, two, all but one, all of them.

    Not every set: there are two to the power of the mistakes, and one that a check does not show does no harm in a set.
    """
    below = tuple(dict.fromkeys(m for m in found if m.part in parts))
    for size in sorted({1, 2, len(below) - 1, len(below)} & set(range(1, len(below) + 1))):
        yield from combinations(below, size)


def _trained_together(parts: tuple[str, ...], found: Sequence[Misconception]) -> list[tuple[Misconception, ...]]:
    """The same for what learns, as far as there is time: all of them, all but one, then the smaller sets."""
    sets = sorted(_known_below(parts, found), key=len, reverse=True)
    return sets[:MOST_TRAINED]


def _is_ruled_out(mistake: Misconception, passed: Collection[str]) -> bool:
    """Whether a check that was passed would have caught it.

    LayerNorm's own checks have two dims only, as a right one may take no more: passing them says nothing of three.
    """
    return mistake.blames in passed and mistake.part != "layer_norm"


@functools.cache
def _of_part(part: str) -> tuple[Misconception, ...]:
    return tuple(m for m in known() if m.part == part)


def explains(exhibit: Exhibit, parts: Parts) -> bool:
    """Whether the submission computed exactly what twins made of `parts` compute."""
    try:
        return equals(exhibit, parts)
    except InfrastructureError:
        raise  # a borrowed module's sandbox was lost: that says nothing of the twin
    except RuntimeError as error:
        if OUT_OF_MEMORY in str(error):
            raise InfrastructureError(f"torch ran out of memory in the grader: {error}") from error
        return False
    except (GraderError, LookupError, TypeError, ValueError):
        return False  # a wrong twin that cannot compute this case (a shape that does not fit) explains nothing
