"""What a run came to: scores, a few translations, and the files beside the checkpoint."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assignment.translation import Tokenizer, generate

from . import bleu, curve
from .atomic import write_atomic
from .greedy import translate
from .loop import Trainer
from .pairs import Corpus, Pair

SHOWN = 3
"""Test sentences that are translated by `generate` and printed."""


def quick_score(corpus: Corpus, translations: Sequence[str], references: Sequence[str]) -> tuple[str, float]:
    """Score a few sentences, and say what was measured: exact translations of the grammar, else BLEU."""
    count = f"on {len(references)} validation sentences"
    if corpus.is_grammar:
        return f"% exact {count}", bleu.exact_match(translations, references)
    return f"BLEU {count}", bleu.corpus_bleu(translations, references, resamples=0).score


def report(corpus: Corpus, trainer: Trainer, tokenizer: Tokenizer, folder: Path, *, finished: bool) -> None:
    """Translate the test part, score it, print and write what came out."""
    length, backend = trainer.recipe.model_max_length, trainer.backend
    references = [pair["en"] for pair in corpus.test]
    translations = translate(trainer.model, corpus.test, tokenizer, length, backend)
    write_atomic(folder / "translations.txt", "".join(f"{line}\n" for line in translations).encode())
    result: dict[str, Any] = {"finished": finished, "steps": trainer.place.taken, "test_sentences": len(references)}
    if corpus.is_grammar:
        result["exact_match"] = bleu.exact_match(translations, references)
        say(f"exactly right: {result['exact_match']:.1f} % of {len(references)} test sentences")
        metric = "% exact"
    else:
        result |= bleu_of(translations, references)
        metric = "BLEU"
    write_atomic(folder / "result.json", (json.dumps(result, indent=1) + "\n").encode())
    show(trainer, tokenizer, corpus.test[:SHOWN], translations)
    if trainer.place.curve:
        drawn = curve.draw(trainer.place.curve, f"{metric}, validation", folder / "curve.svg")
        say(f"learning curve: {folder / 'curve.svg'}" if drawn else "no learning curve: matplotlib is not installed")


def bleu_of(translations: Sequence[str], references: Sequence[str]) -> dict[str, Any]:
    """Score and print BLEU, on the texts as they are and without "&apos;" and its like."""
    scored = bleu.corpus_bleu(translations, references)
    plain = bleu.corpus_bleu(bleu.unescaped(translations), bleu.unescaped(references))
    say(f"BLEU {scored} on {len(references)} test sentences, as the course scores it")
    say(f"BLEU {plain} on unescaped text")
    say(f"signature {scored.signature}")
    return {"bleu": dataclasses.asdict(scored), "bleu_unescaped": dataclasses.asdict(plain)}


def show(trainer: Trainer, tokenizer: Tokenizer, pairs: Sequence[Pair], translations: Sequence[str]) -> None:
    """Print a few translations by the student's own `generate`, and whether they are those that were scored."""
    length, backend = trainer.recipe.model_max_length, trainer.backend
    own = generate(trainer.model, pairs, "de", "en", tokenizer, length, backend, "generate")
    for pair, mine, scored in zip(pairs, own, translations, strict=False):
        say(f"\n  de        {pair['de']}\n  reference {pair['en']}\n  generate  {mine}")
        if mine != scored:
            say(f"  scored    {scored}   (training/greedy.py, many at a time; generate should give the same)")


def say(text: str) -> None:
    """Print a line of the results."""
    print(text)  # noqa: T201  # what the command is for
