"""Translations become numbers, in the trusted process only: BLEU as the course computes it, and on unescaped text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from grader.given import bleu

if TYPE_CHECKING:
    from assignment.training.bleu import Bleu


@dataclass(frozen=True)
class Scored:
    """The score of one submission's translations.

    Args:
        own: of its `generate`, as the course scores it.
        unescaped: the same on text without "&apos;" and its like.
        given: of its model without its `generate`.
    """

    own: Bleu
    unescaped: Bleu
    given: Bleu

    @property
    def points_by(self) -> Fraction:
        """What points follow from: BLEU as a report shows it."""
        return shown(self.own.score)


def score(own: Sequence[str], given: Sequence[str], references: Sequence[str]) -> Scored:
    """Score translations of the test sentences."""
    plain = bleu.unescaped(own), bleu.unescaped(references)
    return Scored(
        bleu.corpus_bleu(own, references),
        bleu.corpus_bleu(*plain),
        bleu.corpus_bleu(given, references, resamples=0),
    )


def quick_bleu(translations: Sequence[str], references: Sequence[str]) -> float:
    """BLEU without an interval, for the learning curve."""
    return float(bleu.corpus_bleu(translations, references, resamples=0).score)


def shown(value: float) -> Fraction:
    """A score as a report shows it: with two digits behind the point."""
    return Fraction(f"{value:.2f}")
