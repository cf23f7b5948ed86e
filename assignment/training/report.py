"""What a run came to: scores, a few translations, and the files beside the checkpoint."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assignment.framework import Module, TensorBackend
from assignment.translation import Tokenizer, generate

from . import bleu, curve
from .atomic import write_atomic
from .errors import TrainingError
from .loop import Trainer
from .pairs import Corpus, Pair

SHOWN = 3
"""Test sentences that are printed with their translations."""


def translated(
    model: Module, pairs: Sequence[Pair], tokenizer: Tokenizer, longest: int, backend: TensorBackend
) -> list[str] | None:
    """Translate by the student's `generate`; None where that is a stub.

    Raises:
        TrainingError: what it returned is no list of texts, one for each pair.
    """
    try:
        texts: Any = generate(model, pairs, "de", "en", tokenizer, longest, backend, "translating")
    except NotImplementedError:
        return None
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts) or len(texts) != len(pairs):
        got = f"a list of {len(texts)}" if isinstance(texts, list) else type(texts).__name__
        raise TrainingError(f"generate returned {got}; expected a list of {len(pairs)} texts, one for each example")
    return texts


def quick_score(
    corpus: Corpus, translations: Sequence[str] | None, references: Sequence[str]
) -> tuple[str, float | None]:
    """Score a few sentences, and say what was measured: exact translations of the grammar, else BLEU.

    Without translations the score is None.
    """
    metric = f"{metric_of(corpus)} on {len(references)} validation sentences"
    if translations is None:
        return metric, None
    if corpus.is_grammar:
        return metric, bleu.exact_match(translations, references)
    return metric, bleu.corpus_bleu(translations, references, resamples=0).score


def metric_of(corpus: Corpus) -> str:
    """Name what translations of a text are scored by."""
    return "% exact" if corpus.is_grammar else "BLEU"


def report(corpus: Corpus, trainer: Trainer, tokenizer: Tokenizer, folder: Path, *, finished: bool) -> None:
    """Translate the test part, score it, print and write what came out."""
    references = [pair["en"] for pair in corpus.test]
    translations = translated(trainer.model, corpus.test, tokenizer, trainer.recipe.model_max_length, trainer.backend)
    result: dict[str, Any] = {"finished": finished, "steps": trainer.place.taken, "test_sentences": len(references)}
    if translations is None:
        say("nothing is translated: generate is not written yet; write it, and the same command goes on from here")
    else:
        write_atomic(folder / "translations.txt", "".join(f"{line}\n" for line in translations).encode())
        result |= scored(corpus, translations, references)
        show(corpus.test[:SHOWN], translations)
    write_atomic(folder / "result.json", (json.dumps(result, indent=1) + "\n").encode())
    if trainer.place.curve:
        drawn = curve.draw(trainer.place.curve, f"{metric_of(corpus)}, validation", folder / "curve.svg")
        say(f"learning curve: {folder / 'curve.svg'}" if drawn else "no learning curve: matplotlib is not installed")


def scored(corpus: Corpus, translations: Sequence[str], references: Sequence[str]) -> dict[str, Any]:
    """Score and print the translations of the test part."""
    if not corpus.is_grammar:
        return bleu_of(translations, references)
    exact = bleu.exact_match(translations, references)
    say(f"exactly right: {exact:.1f} % of {len(references)} test sentences")
    return {"exact_match": exact}


def bleu_of(translations: Sequence[str], references: Sequence[str]) -> dict[str, Any]:
    """Score and print BLEU, on the texts as they are and without "&apos;" and its like."""
    scored = bleu.corpus_bleu(translations, references)
    plain = bleu.corpus_bleu(bleu.unescaped(translations), bleu.unescaped(references))
    say(f"BLEU {scored} on {len(references)} test sentences, as the course scores it")
    say(f"BLEU {plain} on unescaped text")
    say(f"signature {scored.signature}")
    return {"bleu": dataclasses.asdict(scored), "bleu_unescaped": dataclasses.asdict(plain)}


def show(pairs: Sequence[Pair], translations: Sequence[str]) -> None:
    """Print a few translations beside their references."""
    for pair, translation in zip(pairs, translations, strict=False):
        say(f"\n  de        {pair['de']}\n  reference {pair['en']}\n  generate  {translation}")


def say(text: str) -> None:
    """Print a line of the results."""
    print(text)  # noqa: T201  # what the command is for
