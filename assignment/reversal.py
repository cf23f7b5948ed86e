"""See attention learn that the order of words matters: `python -m assignment.reversal`.

Sentences about films are judged by three models: one that only counts words, your Transformer without position
embeddings, and your Transformer with them. "The plot was good but the acting was bad" and "the plot was bad but the
acting was good" are the same words with opposite verdicts; only who sees the order can tell them apart.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any, TextIO

import numpy as np

from assignment.framework import DeviceError, TensorBackend, backend_for, tensor_from_numpy
from assignment.training import SentenceClassifier, sentences
from assignment.training.attention import BLOCKS, LETTERS, UnknownLayoutError, attention_weights, picture
from assignment.training.bag_of_words import BagOfWords
from assignment.training.errors import where_unwritten

N_EMBD, N_HEAD = 32, 4
BATCH = 24
STEPS = 120
RATE = 1e-2
"""Learning rate of the first step; it falls in a line to 0."""
CHUNK = 10
"""Steps between two looks at the bar."""
MODELS = ("bag of words", "without positions", "with positions")


def main(arguments: Sequence[str] | None = None) -> int:
    """Train the three models and show what they can and cannot tell apart; exit status 1 when something is missing."""
    parser = argparse.ArgumentParser(prog="python -m assignment.reversal", description=main.__doc__)
    parser.add_argument("--seed", type=at_least(0), default=0, metavar="N", help="of all that is random (0)")
    parser.add_argument("--steps", type=at_least(1), default=STEPS, metavar="N", help=f"of training ({STEPS})")
    parser.add_argument(
        "--device", choices=("auto", "cpu", "cuda"), default="auto", help="a GPU if there is one (auto)"
    )
    options = parser.parse_args(arguments)
    try:
        show(options.seed, options.steps, options.device)
    except DeviceError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except NotImplementedError as error:
        sys.stderr.write(f"{where_unwritten(error)}\n")
        return 1
    return 0


def at_least(least: int) -> Callable[[str], int]:
    """Make a reader of whole numbers from `least` up, for the options."""

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r}; expected a whole number, {least} or more")
        return int(text)

    return read


def show(seed: int, steps: int, device: str) -> None:
    """Train, and write what came of it to standard output."""
    data = sentences.draw(np.random.default_rng(seed), steps, BATCH)
    counter = BagOfWords(len(data.words))
    counter.learn(data.ids.reshape(-1, sentences.LENGTH), data.labels.reshape(-1))  # (steps, B, S) -> (steps B, S)
    blind, seeing = (trained(data, positions, backend_for(device, "float64", seed)) for positions in (False, True))
    say("Share of new sentences judged rightly:\n")
    say(f"{'':9}" + "".join(f"{name:>20}" for name in MODELS))
    for kind, test in data.tests.items():
        judged = [counter(test.ids), *(judge(model, test.ids) for model in (blind, seeing))]
        say(f"{kind:9}" + "".join(f"{np.mean(classes == test.labels):20.0%}" for classes in judged))
    pair = data.turned_pairs()[0]
    say("\nThe same words, turned:\n")
    for ids in pair:
        say(f"    {data.text(ids)}")
    say("\nHow far apart a model puts the two (largest difference of their mean vectors):\n")
    for name, model in zip(MODELS[1:], (blind, seeing), strict=True):
        say(f"    {name:18}{distance(model, pair):10.1e}")
    say()
    say(look(data, seeing))


def trained(data: sentences.Sentences, positions: bool, backend: TensorBackend) -> SentenceClassifier:
    """Train a classifier on all batches of the data."""
    model = SentenceClassifier(len(data.words), N_EMBD, N_HEAD, sentences.LENGTH, positions=positions, backend=backend)
    steps = len(data.ids)
    rates = [RATE * (1 - step / steps) for step in range(steps)]
    for start in range(0, steps, CHUNK):
        part = slice(start, start + CHUNK)
        ids, labels = (tensor_from_numpy(array[part], backend=backend) for array in (data.ids, data.labels))
        model.learn(ids, labels, rates[part])
        bar(MODELS[1 + positions], min(start + CHUNK, steps), steps)
    model.eval()
    return model


def judge(model: SentenceClassifier, ids: sentences.Ids) -> Any:
    """Classify sentences (N, S): (N,)."""
    return model(tensor_from_numpy(ids, backend=model.backend)).to_numpy().argmax(axis=1)  # (N, 2) -> (N,)


def distance(model: SentenceClassifier, pair: sentences.Ids) -> float:
    """Compare what a model makes of two sentences (2, S) before it judges."""
    one, other = model.pool(tensor_from_numpy(pair, backend=model.backend)).to_numpy()  # (2, D)
    return float(abs(one - other).max())


def look(data: sentences.Sentences, model: SentenceClassifier) -> str:
    """Draw where the model looks in a turned sentence, and say how much it looks at the verdict on average."""
    turned = data.tests["turned"].ids
    try:
        weights = attention_weights(model, tensor_from_numpy(turned, backend=model.backend))  # (N, S, S)
    except UnknownLayoutError as error:
        return f"There is no picture of the attention: {error}."
    words = [data.words[number] for number in turned[0]]
    mean = weights.mean(axis=(0, 1))  # (N, S, S) -> (S,)
    drawn = picture(words, weights[0], shades())
    return (
        f"Where each word looks (the darker, the more), averaged over the heads:\n\n{drawn}\n\n"
        f"Over all turned sentences, {mean[-1]:.0%} of the attention is on the last word, the verdict "
        f"(evenly spread it would be {1 / len(mean):.0%})."
    )


def shades() -> str:
    """Choose what standard output can show."""
    try:
        BLOCKS.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return LETTERS
    return BLOCKS


def bar(label: str, done: int, total: int, stream: TextIO | None = None) -> None:
    """Draw a progress bar on standard error, where a person is watching it; a full one goes away."""
    stream = stream or sys.stderr
    if not stream.isatty():
        return
    filled = 30 * done // total
    text = f"{label:18}[{'#' * filled:<30}] {done}/{total}"
    stream.write(f"\r{' ' * len(text)}\r" if done == total else f"\r{text}")
    stream.flush()


def say(line: str = "") -> None:
    """Write a line to standard output."""
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
