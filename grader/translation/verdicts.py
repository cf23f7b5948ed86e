"""What a training run is worth: does it learn and write, and how near does its BLEU come to the yardstick?"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from grader.judge import Finding
from grader.recipe import Line
from grader.verdict import Verdict

from .checkpoint import Place
from .lesson import TARGET, Lesson
from .scoring import Scored, score, shown
from .training import Trained

EXCUSES = ("p4.grammar.exact", "p4.grammar.follow", "p4.loss")
"""Checks of the same model on a small language: where one fails for a reason that is known, this has the same."""
GENERATE = ("p4.generate",)
NOT_EMPTY = Fraction(1, 2)
"""Share of the test sentences that must have a translation: long ones may fill the window."""


@dataclass(frozen=True)
class Judged:
    """One check of a run.

    Args:
        finding: why it does not pass; one of verdict PENDING says that it has not ended.
        remarks: which text, which recipe, which scores.
    """

    finding: Finding | None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Yardstick:
    """What a score is held against.

    Args:
        scale: where points begin and end.
        reference: the reference's BLEU, in which the scale is measured; None: in BLEU itself.
    """

    scale: Line
    reference: Fraction | None

    def share(self, value: Fraction) -> Fraction:
        """The share of the points for a BLEU, 0 … 1."""
        return self.scale.share(value if self.reference is None else value / self.reference)


def of_run(trained: Trained, lesson: Lesson) -> Judged:
    """Whether it trains, with a falling loss, and writes translations."""
    if not trained.finished:
        return Judged(_unfinished(trained.place, lesson))
    place, material, recipe = trained.place, lesson.material, lesson.recipe
    first, last = _ends(place.losses)
    empty, most = _empty(place.own), len(material.references) * (1 - NOT_EMPTY)
    finding = None
    if not last < first:
        text = f"the loss does not fall while it trains: {first:.3f} at first, {last:.3f} at last"
        finding = Finding(Verdict.FAILED, f"{TARGET}: {text}", excused=EXCUSES)
    elif empty > most:
        text = f"{empty} of {len(material.references)} translations are empty"
        excused = GENERATE if _empty(place.given) <= most else EXCUSES
        finding = Finding(Verdict.FAILED, f"{TARGET}: {text}", excused=excused)
    best = place.best.number if place.best else 0
    return Judged(
        finding,
        remarks=(
            f"trained on {len(material.train)} pairs of {material.name} (sha256 {material.fingerprint[:12]})",
            f"recipe: {recipe}",
            f"the parameters are those after epoch {best} of {recipe.epochs}, where the validation loss is lowest",
        ),
    )


def of_bleu(trained: Trained, lesson: Lesson, yardstick: Yardstick) -> Judged:
    """BLEU on the test sentences, on the line of the yardstick."""
    if not trained.finished:
        return Judged(_unfinished(trained.place, lesson))
    scored = _score(trained.place, lesson)
    share, count = yardstick.share(scored.points_by), len(lesson.material.references)
    finding = None
    if share < 1:
        able = yardstick.share(shown(scored.given.score)) == 1
        text = f"BLEU is {scored.own.score:.2f} on {count} test sentences, too low for all points"
        finding = Finding(Verdict.FAILED, f"{TARGET}: {text}", share=share, excused=GENERATE if able else EXCUSES)
    reference = "" if yardstick.reference is None else f"{float(yardstick.reference):.2f}"
    own, plain = scored.own, scored.unescaped
    return Judged(
        finding,
        remarks=(
            f"BLEU {own.score:.2f} on {count} test sentences, 95% interval {own.low:.2f} to {own.high:.2f}",
            f"BLEU {plain.score:.2f} on unescaped text, 95% interval {plain.low:.2f} to {plain.high:.2f}",
            f"BLEU {scored.given.score:.2f} without the submission's own generate",
            f"BLEU of the reference on the same text: {reference}" if reference else "the points are for BLEU itself",
            f"sacrebleu {own.signature}",
        ),
    )


def _empty(texts: tuple[str, ...] | None) -> int:
    """How many texts have no word."""
    return sum(not text.strip() for text in texts or ())


def _score(place: Place, lesson: Lesson) -> Scored:
    return score(place.own or (), place.given or (), lesson.material.references)


def _unfinished(place: Place, lesson: Lesson) -> Finding:
    """That a run goes on another time, with its score so far."""
    epoch, epochs = min(place.epoch + 1, lesson.recipe.epochs), lesson.recipe.epochs
    so_far = f"{_score(place, lesson).own.score:.2f}" if place.own else "?"
    text = f"its time was up in epoch {epoch} of {epochs} (BLEU so far: {so_far}); it goes on with --resume"
    return Finding(Verdict.PENDING, text)


def _ends(losses: tuple[float, ...]) -> tuple[float, float]:
    """The mean loss of the first tenth of the steps, and of the last."""
    size = max(1, len(losses) // 10)
    return sum(losses[:size]) / size, sum(losses[-size:]) / size
