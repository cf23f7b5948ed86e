"""The texts that common mistakes in `generate` give where the public tests ask for other ones."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from grader import twins
from grader.case import Answer, Call, Case, Input, Role, Status
from grader.misconceptions import known, parts_with
from grader.twins import RIGHT, Parts

WORDS = ["<pad>", "<eos_de>", "<eos_en>", "hund", "katze", "the", "dog", "saw", "a", "cat"]
SENTENCES = (
    (["hund katze", "katze"], ["the", "dog", "saw", "a", "cat", "<eos_en>"]),
    (["hund"], ["<eos_en>"]),
)
"""What the tests have translated, and what their model says after <eos_de>, word by word."""
UNSEEN = "generate.in_training"
"""The tests' model answers alike in training."""
LIMITS = (20, 19)
"""One token more than fits is right as well, so a text without end may be one shorter."""


def wrong_texts() -> dict[str, dict[str, list[str]]]:
    """Right translations -> wrong ones -> the names of the mistakes that give them; a line for each sentence."""
    found: dict[str, dict[str, list[str]]] = {}
    for sources, words in SENTENCES:
        for limit in LIMITS:
            case = _case(sources, words, limit)
            right = _translate(case)
            for mistake in (m for m in known() if m.part == "generate" and m.name != UNSEEN):
                wrong = _translate(case, parts_with(mistake))
                if wrong != right:
                    names = found.setdefault(right, {}).setdefault(wrong, [])
                    names += [mistake.name] if mistake.name not in names else []
    return found


def _case(sources: list[str], words: list[str], limit: int) -> Case:
    table = np.zeros((len(WORDS), len(WORDS)))
    for word, following in pairwise(["<eos_de>", *words]):
        table[WORDS.index(word), WORDS.index(following)] = 1.0
    inputs = {
        "model": Input(table, Role.TABLE_MODEL),
        "examples": Input([{"de": source, "en": "a decoy"} for source in sources], Role.EXAMPLES),
        "src_key": Input("de", Role.PLAIN),
        "tgt_key": Input("en", Role.PLAIN),
        "tokenizer": Input([*WORDS], Role.TOKENIZER),
        "model_max_length": Input(limit, Role.PLAIN),
    }
    return Case("translation.generate", (Call(inputs),))


def _translate(case: Case, parts: Parts = RIGHT) -> str:
    ids = twins.run(case, Answer(Status.OK), parts)["0.out"]  # (n, longest), filled with -1
    return "\n".join(" ".join(WORDS[token] for token in row if token >= 0) for row in ids)
