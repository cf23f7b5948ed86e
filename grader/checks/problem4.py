"""Problem 4: the masked loss and greedy generation (design of the translation task; lecture sections 6.3, 7.1)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from grader.case import Answer, Call, Case, Input, Role
from grader.checks.draw import Draw, FloatArray
from grader.checks.registry import check
from grader.checks.trial import EVERYTHING, NOTHING, OUTPUTS, Broken, Property, Trial

WORDS = ["<pad>", "<eos_de>", "<eos_en>", *(f"w{i}" for i in range(12))]
EOS_DE, EOS_EN, FIRST_WORD = 1, 2, 3


@check("p4.loss")
def masked_loss(draw: Draw) -> Iterator[Trial]:
    """The loss is the weighted mean over target tokens; source and padding carry no weight."""
    vocabulary = 9
    for batch, length in ((8, 12), (1, 40), (20, 5)):  # long enough for 1e-8 beside the sum of weights to vanish
        tokens = draw.ids(vocabulary, batch, length + 1)
        weights = draw.generator.integers(0, 2, (batch, length)).astype(np.float64)
        weights[0, -1] = 1.0
        arrays = np.stack(
            [tokens[:, :-1], tokens[:, 1:], weights]
        )  # (3, B, S): the labels are the input shifted by one
        call = Call(
            {
                "batch": Input(arrays, Role.BATCH),
                "model": Input(draw.normal(vocabulary, vocabulary), Role.TABLE_MODEL),
            },
            cotangent=np.array([1.0 + draw.generator.random()]),
        )
        yield Trial(Case("translation.loss_fn", (call,)), EVERYTHING)


def _chain_table(draw: Draw, order: list[int]) -> FloatArray:
    """Logits (V, V) whose largest entry leads from each token of `order` to the next one."""
    table = draw.normal(len(WORDS), len(WORDS))
    for token, following in pairwise(order):
        table[token, following] = table[token].max() + 1.0
    return table


def _generate(draw: Draw, table: FloatArray, sources: list[list[int]], limit: int) -> Case:
    decoy = " ".join(WORDS[i] for i in draw.generator.permutation(np.arange(FIRST_WORD, len(WORDS)))[:4])
    pairs = [{"de": " ".join(WORDS[i] for i in source), "en": decoy} for source in sources]
    inputs = {
        "model": Input(table, Role.TABLE_MODEL),
        "examples": Input(pairs, Role.EXAMPLES),  # type: ignore[arg-type]  # JSON is invariant in its lists
        "src_key": Input("de", Role.PLAIN),
        "tgt_key": Input("en", Role.PLAIN),
        "tokenizer": Input(list(WORDS), Role.TOKENIZER),
        "model_max_length": Input(limit, Role.PLAIN),
        "backend": Input(None, Role.BACKEND),
        "desc": Input("test", Role.PLAIN),
    }
    return Case("translation.generate", (Call(inputs),), seed=draw.seed())


def _stops_at_limit(sources: list[list[int]], limit: int) -> Property:
    """Each text follows the table greedily up to the limit, or one token further, as the course's loop does."""

    def holds(case: Case, answer: Answer) -> Broken | None:
        table = np.asarray(case.calls[0].inputs["model"].value)
        generated = answer.arrays["0.out"]
        if generated.ndim != 2 or generated.dtype.kind != "i" or len(generated) != len(sources):  # noqa: PLR2004 - (examples, tokens)
            return Broken("0.out", f"{len(sources)} sentences went in, {len(np.atleast_1d(generated))} came out")
        for row, source in enumerate(sources):
            got = [int(i) for i in generated[row] if i >= 0]
            room = max(0, limit - len(source) - 1)
            token, chain = EOS_DE, []
            for _ in range(room + 1):
                token = int(table[token].argmax())
                chain.append(token)
            if got not in (chain, chain[:room]):
                text = f"an endless text has {len(got)} tokens; {room} or {room + 1} fit, each the likeliest"
                return Broken("0.out", text, (row,))
        return None

    return holds


@check("p4.generate")
def greedy_generation(draw: Draw) -> Iterator[Trial]:
    """Generation is greedy, from the last position, and stops at the end token or the length limit."""
    words = [int(i) for i in draw.generator.permutation(np.arange(FIRST_WORD, len(WORDS)))]
    sources = [words[:3], words[2:4], words[5:9]]
    ending = _chain_table(draw, [EOS_DE, *words[3:8], EOS_EN])
    yield Trial(_generate(draw, ending, sources, 30), OUTPUTS)
    at_once = _chain_table(draw, [EOS_DE, EOS_EN])
    yield Trial(_generate(draw, at_once, sources[:2], 30), OUTPUTS)
    endless = _chain_table(draw, [EOS_DE, *words, words[0]])
    for limit in (9, 4):  # the third source and its end token fill a window of 5, and overfill one of 4
        yield Trial(_generate(draw, endless, sources, limit), NOTHING, (_stops_at_limit(sources, limit),))
