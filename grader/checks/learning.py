"""Problems 3 and 4: what students wrote must work together, and learn (lecture sections 6.7 and 7.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.case import GREEDILY, Answer, Call, Case, Input, Json, Role, Status
from grader.checks.draw import Draw
from grader.checks.registry import check
from grader.checks.trial import NOTHING, OUTPUTS, Broken, Property, Trial
from grader.given import grammar, sentences

CLASSIFIER, TRANSLATOR = "training.SentenceClassifier", "training.Translator"
FOLLOWED = 20
"""Steps in float64 whose losses are compared with the twin's."""

READER: Mapping[str, Json] = {"n_vocab": len(sentences.WORDS), "n_embd": 32, "n_head": 4, "n_layer": 1}
SENTENCE_BATCH, SENTENCE_STEPS, SENTENCE_RATE = 24, 120, 1e-2
"""On 20 seeds: all turned sentences right with positions, half of them without."""
GUESSING = 0.6
"""Share of the turned sentences that may be right without positions: half of each pair is, whatever is said."""
SAME_WORDS = {"float64": 1e-12, "float32": 1e-4}
"""Of the largest entry: how far apart two sentences of the same words may be without positions, by rounding."""

SPEAKER: Mapping[str, Json] = {
    "n_vocab": len(grammar.SPECIALS + grammar.GERMAN + grammar.ENGLISH),
    "n_embd": 32,
    "n_head": 4,
    "n_layer": 2,
}
GRAMMAR_BATCH, GRAMMAR_STEPS, GRAMMAR_RATE = 16, 600, 8e-3
"""On 24 seeds: every sentence right. Many small batches learn more in the same time than few large ones."""
HELD_OUT = 60
NOTHING_MORE = -1
"""Fills the rows of translations; see `grader.worker.vocabulary`."""
NONE_AT, ALL_AT = Fraction(80, 100), Fraction(95, 100)
"""Share of the held-out sentences translated exactly: where points begin, and where all are earned."""


def _ids(array: npt.NDArray[Any]) -> Input:
    return Input(array.astype(np.float64), Role.CONSTANT)


def _case(draw: Draw, target: str, arguments: Mapping[str, Json], *calls: Call, dtype: str = "float32") -> Case:
    given = dict(arguments)
    return Case(target, calls, given, draw.start(target, given), draw.seed(), dtype)


def _reader(*, positions: bool) -> dict[str, Json]:
    return {**READER, "n_positions": sentences.LENGTH, "positions": positions}


def _read(data: sentences.Sentences, lr: Json = SENTENCE_RATE) -> Call:
    learnt = {"ids": _ids(data.ids), "labels": _ids(data.labels)}
    return Call(learnt, method="learn", keywords={"lr": lr})


def _falling(rate: float, steps: int) -> list[Json]:
    """A learning rate for each step, in a line to 0."""
    return [rate * (1 - step / steps) for step in range(steps)]


@check("p3.reversal.follow", trains=True)
def reversal_losses(draw: Draw) -> Iterator[Trial]:
    """Twenty training losses on sentences turned by "but" follow those of a right model."""
    data = sentences.draw(draw.generator, FOLLOWED, SENTENCE_BATCH)
    for positions in (True, False):
        yield Trial(_case(draw, CLASSIFIER, _reader(positions=positions), _read(data), dtype="float64"), OUTPUTS)


@check("p3.reversal.order", trains=True)
def reversal_order(draw: Draw) -> Iterator[Trial]:
    """Sentences turned by "but" are told apart with positions, and cannot be without."""
    data = sentences.draw(draw.generator, SENTENCE_STEPS, SENTENCE_BATCH)
    pairs, turned = data.turned_pairs(), data.tests["turned"]
    pools = [Call({"idx": _ids(pairs[:, which])}, method="pool") for which in (0, 1)]  # (P, 2, S) -> (P, S) each
    yield Trial(_case(draw, CLASSIFIER, _reader(positions=False), *pools, dtype="float64"), NOTHING, (_same_pool,))
    asked = Call({"idx": _ids(turned.ids)})
    for positions, least, most in ((True, 1.0, 1.0), (False, 0.0, GUESSING)):
        learning = _read(data, _falling(SENTENCE_RATE, SENTENCE_STEPS))
        case = _case(draw, CLASSIFIER, _reader(positions=positions), learning, asked)
        yield Trial(case, NOTHING, (_told_apart(turned.labels, least, most),))


def _same_pool(_: Case, answer: Answer) -> Broken | None:
    """Without positions two sentences of the same words are one and the same."""
    first, second = (answer.arrays[f"{number}.out"] for number in (0, 1))
    allowed = SAME_WORDS["float32" if first.dtype == np.float32 else "float64"]
    first, second = first.astype(np.float64), second.astype(np.float64)
    scale = max(float(np.abs(first).max(initial=0.0)), 1e-300)
    apart = float(np.abs(first - second).max(initial=0.0)) / scale if first.shape == second.shape else np.inf
    if apart <= allowed:
        return None
    text = f"without positions, two sentences of the same words are represented differently (by {apart:.1e})"
    return Broken("1.out", text, excused=("p3.reversal.follow",))


def _told_apart(labels: npt.NDArray[np.int64], least: float, most: float) -> Property:
    """The share of sentences whose class is right lies within bounds."""

    def holds(case: Case, answer: Answer) -> Broken | None:
        logits = answer.arrays["1.out"]
        if logits.shape != (len(labels), 2):
            return Broken("1.out", f"{len(labels)} sentences went in, logits of shape {logits.shape} came out")
        share = float((logits.argmax(axis=1) == labels).mean())
        if least <= share <= most:
            return None
        kind = "with" if case.arguments["positions"] else "without"
        bound = f"at least {least:.0%}" if share < least else f"at most {most:.0%}"
        text = f"after training {kind} positions, {share:.0%} of the turned sentences are right, expected {bound}"
        return Broken("1.out", text, excused=("p3.reversal.follow",))

    return holds


def _speaker() -> dict[str, Json]:
    return {**SPEAKER, "n_positions": grammar.LENGTH}


def _listen(lesson: grammar.Lesson, lr: Json = GRAMMAR_RATE) -> Call:
    return Call({"batches": _ids(lesson.batches)}, method="learn", keywords={"lr": lr})


@check("p4.grammar.follow", trains=True)
def grammar_losses(draw: Draw) -> Iterator[Trial]:
    """Twenty training losses on a small language follow those of a right translator."""
    lesson = grammar.draw(draw.generator, FOLLOWED, GRAMMAR_BATCH, 1)
    yield Trial(_case(draw, TRANSLATOR, _speaker(), _listen(lesson), dtype="float64"), OUTPUTS)


@check("p4.grammar.exact", trains=True)
def grammar_translations(draw: Draw) -> Iterator[Trial]:
    """Sentences of a small language that were never seen are translated word for word."""
    lesson = grammar.draw(draw.generator, GRAMMAR_STEPS, GRAMMAR_BATCH, HELD_OUT)
    names = grammar.disguised(lesson.words)
    asked = grammar.disguise(grammar.decoys(lesson.held_out), lesson.words)
    inputs = {
        "examples": Input([dict(pair) for pair in asked], Role.EXAMPLES),
        "tokenizer": Input(list(names), Role.TOKENIZER),
        "model_max_length": Input(grammar.LENGTH, Role.PLAIN),
    }
    by_generate, without = Call(inputs, method="translate"), Call(inputs, method=GREEDILY)
    learning = _listen(lesson, _falling(GRAMMAR_RATE, GRAMMAR_STEPS))
    case = _case(draw, TRANSLATOR, _speaker(), learning, by_generate, without)
    yield Trial(case, NOTHING, (_translated(_targets(lesson)),))


def _targets(lesson: grammar.Lesson) -> list[list[int]]:
    number = {word: index for index, word in enumerate(lesson.words)}
    return [[number[word] for word in pair["en"].split()] for pair in lesson.held_out]


def _translated(targets: Sequence[Sequence[int]]) -> Property:
    """Enough of the held-out sentences are translated word for word, by the submission's own `generate`."""

    def holds(_: Case, answer: Answer) -> Broken | None:
        own, given = (_exact(answer, number, targets) for number in (1, 2))
        earned = _earned(own)
        if earned == 1:
            return None
        text = f"after training, {float(own):.0%} of {len(targets)} new sentences are translated word for word"
        to_blame = "p4.generate" if _earned(given) == 1 else "p4.grammar.follow"
        return Broken("1.out", f"{text}, expected {float(ALL_AT):.0%}", share=earned, excused=(to_blame,))

    return holds


def _exact(answer: Answer, call: int, targets: Sequence[Sequence[int]]) -> Fraction:
    """The share of sentences that were translated word for word; 0 where there is no answer of that form."""
    rows = answer.arrays.get(f"{call}.out")
    if answer.calls[call].status is not Status.OK or rows is None or rows.shape[:1] != (len(targets),):
        return Fraction(0)
    if rows.dtype.kind != "i":
        return Fraction(0)
    said = [[int(token) for token in row if token != NOTHING_MORE] for row in rows.reshape(len(targets), -1)]
    return Fraction(sum(map(list.__eq__, said, map(list, targets))), len(targets))


def _earned(share: Fraction) -> Fraction:
    """In a line from `NONE_AT` to `ALL_AT`."""
    return min(max((share - NONE_AT) / (ALL_AT - NONE_AT), Fraction(0)), Fraction(1))
