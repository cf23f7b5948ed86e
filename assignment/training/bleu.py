"""Scores of translations: BLEU as sacrebleu computes it, with an interval, and the share that is exactly right.

Papineni et al. (2002), "BLEU: a Method for Automatic Evaluation of Machine Translation"; Post (2018), "A Call for
Clarity in Reporting BLEU Scores", for the signature that says how; Koehn (2004), "Statistical Significance Tests for
Machine Translation Evaluation", for the interval.
"""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from dataclasses import dataclass

from .errors import TrainingError

RESAMPLES = 1000
"""Bootstrap samples for the interval."""
DIGITS = 15
"""Behind the point, of what sacrebleu tells in words."""


@dataclass(frozen=True)
class Bleu:
    """A corpus score, 0 to 100.

    Attributes:
        score: on the test sentences.
        low: lower end of the 95 % interval: how far other sentences of the kind would have moved it.
        high: upper end.
        signature: sacrebleu's, which says how it was computed.
    """

    score: float
    low: float
    high: float
    signature: str

    def __str__(self) -> str:
        return f"{self.score:.1f} (95 %: {self.low:.1f} to {self.high:.1f})"


def check() -> None:
    """Find out before training whether it can be scored.

    Raises:
        TrainingError: sacrebleu is not installed.
    """
    try:
        import sacrebleu  # noqa: PLC0415  # an extra
    except ImportError as error:
        raise TrainingError("BLEU needs the package sacrebleu; pip install -e '.[translation]'") from error


def corpus_bleu(translations: Sequence[str], references: Sequence[str], resamples: int = RESAMPLES) -> Bleu:
    """Score translations against one reference each, as the course does: the texts as they are.

    Args:
        translations: as many as references.
        references: by people.
        resamples: for the interval; 0: no interval, both ends are the score.

    Raises:
        TrainingError: sacrebleu is not installed.
    """
    check()
    from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415  # an extra

    metric = BLEU(force=True)  # no warning that tokenised text is scored
    found = metric.corpus_score(list(translations), [list(references)], n_bootstrap=max(1, resamples))
    signature = str(metric.get_signature())
    told = json.loads(found.format(width=DIGITS, signature=signature, is_json=True))
    middle, half = told.get("confidence_mean", found.score), told.get("confidence_var", 0.0)
    return Bleu(found.score, middle - half, middle + half, signature)


def unescaped(texts: Sequence[str]) -> list[str]:
    """Write "&apos;" and its like, which Moses' tokenizer leaves behind, as characters.

    sacrebleu's tokenizer splits "&apos;s" into "& apos ; s", four words of which three are for free: scores on escaped
    text are some points higher and do not compare with others'.
    """
    return [html.unescape(text) for text in texts]


def exact_match(translations: Sequence[str], references: Sequence[str]) -> float:
    """Return the share of translations, 0 to 100, that are the reference word for word.

    Raises:
        ValueError: there are none, or not equally many.
    """
    if not references:
        raise ValueError("no sentences to score; expected one or more")
    same = sum(ours == theirs for ours, theirs in zip(translations, references, strict=True))
    return 100 * same / len(references)
