"""`python -m assignment.translation`: train your model to translate, and score it.

    python -m assignment.translation --data grammar     half a minute, NumPy only
    python -m assignment.translation --data FOLDER      real text: see `text` for the layouts
    python -m assignment.translation --data iwslt14     the course's data set, from the Hugging Face hub

The last two need the extra: pip install -e '.[translation]'. A run that was stopped, in whatever way, goes on when the
same command is given again.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from assignment.framework import DeviceError, Module, backend_for, default_backend
from assignment.transformer import DecoderLM

from . import batches, bleu, checkpoint, grammar, text
from .bpe import BytePairs
from .checkpoint import Identity
from .errors import TrainingError, where_unwritten
from .loop import Trainer
from .pairs import GRAMMAR, Corpus
from .recipe import CONVENTIONS, RECIPES, SCHEDULES, Recipe, flag
from .report import quick_score, report, translated
from .terminal import Display, duration
from .words import Words

GRAMMAR_PAIRS = {"train": 6400, "valid": 100, "test": 200}
SCORED_AFTER_EPOCH = 100
"""Validation sentences that are translated after each epoch."""
CHOICES = {"schedule": SCHEDULES, "smoothing": CONVENTIONS}


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and score; exit status 1 when that cannot be done, 130 after Ctrl-C."""
    options = parser().parse_args(arguments)
    try:
        run(options)
    except NotImplementedError as error:
        sys.stderr.write(f"{where_unwritten(error)}\n")
        return 1
    except (TrainingError, DeviceError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("\nstopped; the same command goes on from the last checkpoint\n")
        return 130
    return 0


def parser() -> argparse.ArgumentParser:
    """Describe the command line: an option for each field of a recipe, and those that change no result."""
    made = argparse.ArgumentParser(
        prog="python -m assignment.translation", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    made.add_argument("--data", required=True, metavar="grammar|FOLDER|iwslt14", help="what to learn from")
    made.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto", help="auto: CUDA where there is one")
    made.add_argument(
        "--out", type=Path, metavar="FOLDER", help="for checkpoints and results; runs/<data> if not given"
    )
    made.add_argument("--time-limit", type=float, metavar="MINUTES", help="end training early, with the BLEU so far")
    made.add_argument("--checkpoint-steps", type=int, default=0, metavar="N", help="a checkpoint every N steps, too")
    made.add_argument("--checkpoint-minutes", type=float, default=1, metavar="N", help="and every N minutes (1)")
    made.add_argument(
        "--recipe",
        choices=sorted(RECIPES),
        help="where the options below start from; grammar, course or small by --data",
    )
    group = made.add_argument_group("recipe", "what decides the result; see the class Recipe")
    for field in dataclasses.fields(Recipe):
        kind = type(field.default)
        group.add_argument(flag(field.name), type=kind, choices=CHOICES.get(field.name), metavar=kind.__name__.upper())
    return made


def recipe_of(options: argparse.Namespace) -> Recipe:
    """Fill in the recipe from the options given.

    Raises:
        TrainingError: an option is out of its range.
    """
    usual = {GRAMMAR: "grammar", text.HUB: "course"}.get(options.data, "small")
    given = {field.name: getattr(options, field.name) for field in dataclasses.fields(Recipe)}
    chosen = {name: value for name, value in given.items() if value is not None}
    return dataclasses.replace(RECIPES[options.recipe or usual], **chosen)


def run(options: argparse.Namespace) -> None:
    """Do what the options say.

    Raises:
        TrainingError: it cannot be done; the text says why.
        DeviceError: there is no such device.
        NotImplementedError: a stub was met.
    """
    recipe = recipe_of(options)
    backend = backend_for(options.device, "float32", recipe.seed)
    default_backend().generator = np.random.default_rng([recipe.seed, 1])  # for modules that draw without a backend
    corpus = corpus_of(options.data, recipe)
    folder = options.out or Path("runs") / (Path(options.data).resolve().name if not corpus.is_grammar else GRAMMAR)
    with_folder(folder)
    tokenizer = tokenizer_of(corpus, recipe, folder / "tokenizer.json")
    train, valid = encoded(corpus, tokenizer, recipe)
    model = DecoderLM(
        len(tokenizer.vocab),
        recipe.n_embd,
        recipe.n_head,
        recipe.model_max_length,
        p_dropout=recipe.dropout,
        backend=backend,
        n_layer=recipe.n_layer,
    )
    scale_embeddings(model, recipe.embedding_scale)
    identity = Identity(recipe, corpus.fingerprint())
    trainer = Trainer(model, identity, train, valid, tokenizer.vocab["<pad>"], backend, folder)
    display = Display(trainer.steps)
    announce(display, trainer, options)

    def score() -> tuple[str, float | None]:
        part = corpus.valid[:SCORED_AFTER_EPOCH]
        found = translated(model, part, tokenizer, recipe.model_max_length, backend)
        return quick_score(corpus, found, [pair["en"] for pair in part])

    finished = trainer.run(
        display,
        score,
        every_steps=options.checkpoint_steps,
        every_seconds=60 * options.checkpoint_minutes,
        limit_seconds=float("inf") if options.time_limit is None else 60 * options.time_limit,
    )
    if not finished:
        display.line(f"the time is up after step {trainer.place.taken} of {trainer.steps}; the same command goes on")
    state = trainer.final_state()
    checkpoint.write_arrays(folder / "model.npz", state)
    model.load_state(state)
    report(corpus, trainer, tokenizer, folder, finished=finished)


def scale_embeddings(model: Module, factor: float) -> None:
    """Multiply the two tables of a language model by a factor."""
    for table in (model.token_embeddings.weights, model.position_embeddings.weights):
        table.update(table.value * factor)


def corpus_of(data: str, recipe: Recipe) -> Corpus:
    """Load the text and keep what the recipe keeps of it.

    Raises:
        TrainingError: it is not there or malformed, or what scores it is not installed.
    """
    if data == GRAMMAR:
        generator = np.random.default_rng([recipe.seed, 2])
        held_out = grammar.pairs(generator, GRAMMAR_PAIRS["valid"] + GRAMMAR_PAIRS["test"])
        learned = grammar.pairs(generator, GRAMMAR_PAIRS["train"], avoid=held_out)
        return Corpus(GRAMMAR, learned, held_out[: GRAMMAR_PAIRS["valid"]], held_out[GRAMMAR_PAIRS["valid"] :])
    bleu.check()
    return text.complete(text.load(data)).shortened(recipe.max_words, recipe.test_sentences)


def with_folder(folder: Path) -> None:
    """Make the folder for checkpoints and results.

    Raises:
        TrainingError: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TrainingError(f"{folder} cannot be made: {error.strerror}; choose another --out") from error


def tokenizer_of(corpus: Corpus, recipe: Recipe, path: Path) -> BytePairs | Words:
    """Take the tokenizer beside a checkpoint; where there is none, make it and put it there.

    Raises:
        TrainingError: it cannot be made or read.
    """
    if (path.parent / checkpoint.RECORD).exists() and path.exists():
        return Words.load(path) if corpus.is_grammar else BytePairs.load(path)
    made: BytePairs | Words
    if corpus.is_grammar:
        made = Words(grammar.vocabulary(np.random.default_rng([recipe.seed, 3])))
    else:
        made = BytePairs.learn(corpus.train, recipe.vocabulary)
    made.save(path)
    return made


def encoded(
    corpus: Corpus, tokenizer: BytePairs | Words, recipe: Recipe
) -> tuple[list[batches.TokenPair], list[batches.TokenPair]]:
    """Tokenize the training and the validation part, and say how many pairs were too long for the model.

    Raises:
        TrainingError: nothing is left.
    """
    parts = []
    for name, pairs in (("training", corpus.train), ("validation", corpus.valid)):
        sequences, cut = batches.encode(pairs, tokenizer, recipe.model_max_length)
        if not sequences:
            raise TrainingError(
                f"no {name} pair has a target within {recipe.model_max_length} tokens; give a longer --model-max-length"
            )
        if cut:
            sys.stderr.write(
                f"{cut} of {len(pairs)} {name} pairs are over {recipe.model_max_length} tokens and lost their end\n"
            )
        parts.append(sequences)
    return parts[0], parts[1]


def announce(display: Display, trainer: Trainer, options: argparse.Namespace) -> None:
    """Say what will be done, on which device, from where, and about how long it takes."""
    size = sum(parameter.value.size for parameter in trainer.model.parameters())
    where = "CPU" if trainer.backend.on_cpu else "CUDA"
    display.line(
        f"{len(trainer.train):,} training pairs, {size:,} parameters, {trainer.steps:,} steps in float32 on {where}"
    )
    if trainer.recipe.label_smoothing:
        display.line(
            "with label smoothing, training goes down on your loss_fn and what training/smoothing.py adds to it"
        )
    if trainer.resume():
        display.line(f"on from step {trainer.place.taken} of {trainer.steps} in {trainer.folder}")
    if trainer.place.taken < trainer.steps and trainer.backend.on_cpu:
        seconds = trainer.estimate()
        slow = "; CUDA was not found, a GPU is much faster" if options.device == "auto" and seconds > 3600 else ""  # noqa: PLR2004  # an hour
        display.line(f"training takes about {duration(seconds)} on this machine{slow}")
