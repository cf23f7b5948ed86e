"""The arrays of the public tests: seeded inputs and parameters, and what the twins make of them, right and wrong ones.

`python -m grader.fixtures` writes `tests/fixtures/*.npz` and the hints that go with the wrong ones; with `--check` it
only says which of them differ. The seed is public and the cases are not those of the checks. Expected values come from
the twins alone, never from `solution/`.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from grader import mistakes, twins
from grader.atomic import write_atomic
from grader.case import Answer, Call, Case, Input, Role, Status
from grader.checks.draw import Draw
from grader.wrong_texts import wrong_texts

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.case import Array, Json

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests" / "fixtures"
PUBLIC_SEED = 11868
SAME = 1e-12
"""Difference that another CPU's rounding may make, relative or, in what is 0 but for rounding, absolute; a file within
it is left as it is."""
LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The date of every member: the same arrays give the same bytes."""
HINTS = "hints.json"
SHOWN_OTHERWISE = {"dropout.in_evaluation", "lm.no_limit", "generate.in_training"}
"""Mistakes that a public test names by something else than an array or a text."""


def logsumexp(draw: Draw, shape: tuple[int, ...], dim: int, far: float = 0.0) -> Case:
    """Numbers of any shape, reduced over one dim; `far`: how far they lie from 0, every second row below it."""
    kept = np.empty(shape).sum(axis=dim, keepdims=True).shape
    x = draw.normal(*shape, scale=2.0)
    x[::2] += far
    x[1::2] -= far
    inputs = {"x": Input(x), "dim": Input(dim, Role.PLAIN)}
    return Case("nn.logsumexp", (Call(inputs, cotangent=draw.normal(*kept)),))


def softmax_loss(draw: Draw, examples: int, classes: int) -> Case:
    """Logits (N, C) and targets (N,)."""
    inputs = {
        "logits": Input(draw.normal(examples, classes, scale=2.0)),
        "target": Input(draw.ids(classes, examples), Role.CONSTANT),
    }
    return Case("nn.softmax_loss", (Call(inputs, cotangent=draw.normal(examples)),))


def module(draw: Draw, target: str, shape: tuple[int, ...], out: tuple[int, ...] = (), **arguments: Json) -> Case:
    """A module that maps x of this shape; `out`, the output's shape, where gradients are public too."""
    call = Call({"x": Input(draw.normal(*shape))}, cotangent=draw.normal(*out) if out else None)
    return Case(target, (call,), arguments, draw.parameters(target, arguments))


def embedding(draw: Draw, batch: int, length: int) -> Case:
    """Ids (B, S), the first of which stands twice."""
    arguments: dict[str, Json] = {"num_embeddings": 7, "embedding_dim": 4}
    ids = draw.ids(7, batch, length)
    ids[0, -1] = ids[0, 0]
    call = Call({"ids": Input(ids, Role.CONSTANT)}, cotangent=draw.normal(batch, length, 4))
    target = "modules_basic.Embedding"
    return Case(target, (call,), arguments, draw.parameters(target, arguments))


def decoder_lm(draw: Draw, batch: int, length: int, n_layer: int) -> Case:
    """Ids (B, S) into logits (B, S, V). The head's bias is 0: a head without one is right too."""
    target = "transformer.DecoderLM"
    sizes: dict[str, Json] = {"n_vocab": 11, "n_embd": 8, "n_head": 2, "n_positions": 7, "n_layer": n_layer}
    call = Call({"idx": Input(draw.ids(11, batch, length), Role.CONSTANT)})
    parameters = draw.parameters(target, sizes)
    parameters["lm_head.bias"] = np.zeros_like(parameters["lm_head.bias"])
    return Case(target, (call,), sizes, parameters)


def loss_fn(draw: Draw, batch: int, length: int) -> Case:
    """Tokens, the same shifted by one, and weights, each (B, S); a model that is a table (V, V) of logits."""
    vocabulary = 9
    tokens = draw.ids(vocabulary, batch, length + 1)
    weights = (draw.generator.random((batch, length)) < 0.5).astype(np.float64)  # noqa: PLR2004 - half of them
    weights[0, -1] = 1.0
    inputs = {
        "batch": Input(np.stack([tokens[:, :-1], tokens[:, 1:], weights]), Role.BATCH),  # (3, B, S)
        "table": Input(draw.normal(vocabulary, vocabulary), Role.TABLE_MODEL),
    }
    return Case("translation.loss_fn", (Call(inputs, cotangent=np.ones(1)),))


LINEAR, LAYER_NORM = "modules_basic.Linear", "modules_basic.LayerNorm1d"
ATTENTION, FEED_FORWARD, LAYER = (
    f"transformer.{name}" for name in ("MultiHeadAttention", "FeedForward", "TransformerLayer")
)

FIXTURES: Mapping[str, Callable[[Draw], Case]] = {
    "logsumexp_dim_0": partial(logsumexp, shape=(3, 5), dim=0),
    "logsumexp_dim_1": partial(logsumexp, shape=(2, 3, 4), dim=1),
    "logsumexp_last_dim": partial(logsumexp, shape=(2, 3, 4), dim=-1),
    "logsumexp_of_large_numbers": partial(logsumexp, shape=(2, 4), dim=1, far=1000.0),
    "softmax_loss_4_examples": partial(softmax_loss, examples=4, classes=6),
    "softmax_loss_1_example": partial(softmax_loss, examples=1, classes=3),
    "linear": partial(module, target=LINEAR, shape=(4, 5), out=(4, 3), in_size=5, out_size=3, bias=True),
    "linear_without_bias": partial(module, target=LINEAR, shape=(2, 3), out=(2, 4), in_size=3, out_size=4, bias=False),
    "embedding_3_sequences": partial(embedding, batch=3, length=6),
    "embedding_1_sequence": partial(embedding, batch=1, length=4),
    "layer_norm_4": partial(module, target=LAYER_NORM, shape=(3, 4), dim=4, eps=1e-5),
    "layer_norm_6": partial(module, target=LAYER_NORM, shape=(5, 6), dim=6, eps=1e-5),
    "attention_1_head": partial(module, target=ATTENTION, shape=(2, 5, 8), n_embd=8, n_head=1),
    "attention_2_heads": partial(module, target=ATTENTION, shape=(2, 5, 8), n_embd=8, n_head=2),
    "attention_4_heads": partial(module, target=ATTENTION, shape=(2, 5, 8), n_embd=8, n_head=4),
    "attention_without_bias": partial(module, target=ATTENTION, shape=(3, 4, 6), n_embd=6, n_head=2, bias=False),
    "attention_1_token": partial(module, target=ATTENTION, shape=(2, 1, 8), n_embd=8, n_head=2),
    "attention_head_size_4": partial(module, target=ATTENTION, shape=(2, 6, 4), n_embd=4, n_head=1),
    "attention_head_size_16": partial(module, target=ATTENTION, shape=(2, 6, 32), n_embd=32, n_head=2),
    "feed_forward_12": partial(module, target=FEED_FORWARD, shape=(2, 5, 8), out=(2, 5, 8), n_embd=8, middle_dim=12),
    "feed_forward_20": partial(module, target=FEED_FORWARD, shape=(3, 2, 4), out=(3, 2, 4), n_embd=4, middle_dim=20),
    "layer_causal": partial(module, target=LAYER, shape=(2, 5, 8), out=(2, 5, 8), n_embd=8, n_head=2, causal=True),
    "layer_not_causal": partial(module, target=LAYER, shape=(2, 4, 8), out=(2, 4, 8), n_embd=8, n_head=4, causal=False),
    "decoder_lm_1_layer": partial(decoder_lm, batch=2, length=7, n_layer=1),
    "decoder_lm_2_layers": partial(decoder_lm, batch=2, length=5, n_layer=2),
    "loss_fn_3_sequences": partial(loss_fn, batch=3, length=6),
    "loss_fn_1_sequence": partial(loss_fn, batch=1, length=4),
}
"""The name of a file -> the one case in it, from a generator of its own: adding a file changes no other."""


def arrays(name: str) -> dict[str, Array]:
    """What the file of this name holds.

    Returns:
        `input.<name>`, `parameter.<name>` and `cotangent`, as given; `out`, `gradient.<input>` and
        `parameter_gradient.<name>`, as the twin computes them; and what comes in the place of these by common
        mistakes, see `mistakes.stacked`.
    """
    case = FIXTURES[name](Draw(np.random.default_rng([PUBLIC_SEED, zlib.crc32(name.encode())])))
    (call,) = case.calls
    found: dict[str, Array] = {
        f"input.{key}": np.asarray(given.value) for key, given in call.inputs.items() if given.role is not Role.PLAIN
    }
    found |= {f"parameter.{key}": value for key, value in (case.parameters or {}).items()}
    if call.cotangent is not None:
        found["cotangent"] = call.cotangent
    right = twins.run(case, Answer(Status.OK))
    found |= {public_name(key): array for key, array in right.items()}
    for key, wrong in mistakes.wrong_arrays(case, right).items():
        found |= mistakes.stacked(public_name(key), wrong)
    return found


def public_name(key: str) -> str:
    """Say what an array of the twins is called in a file."""
    return key.removeprefix("0.").replace("grad.param.", "parameter_gradient.").replace("grad.", "gradient.")


def hints(files: Iterable[Mapping[str, Array]]) -> bytes:
    """Write what the tests may say of the mistakes in these files, in JSON."""
    texts = wrong_texts()
    names = {name for wrong in texts.values() for found in wrong.values() for name in found}
    for content in files:
        names |= mistakes.names_in(content)
    content = mistakes.hints(names | SHOWN_OTHERWISE) | {"texts": texts}
    return (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode("utf-8")


def npz(content: Mapping[str, Array]) -> bytes:
    """Pack arrays into the bytes of an `.npz` file, the same ones every time."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, array in sorted(content.items()):
            member = io.BytesIO()
            np.lib.format.write_array(member, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", LONG_AGO), member.getvalue())
    return packed.getvalue()


def is_current(path: Path, content: Mapping[str, Array]) -> bool:
    """Say whether the file holds these arrays, to the rounding of another CPU."""
    if not path.is_file():
        return False
    try:
        # Opened here: NumPy does not close a damaged file that it opened itself.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            there = dict(stored)
    except (ValueError, OSError, EOFError, zipfile.BadZipFile):
        return False
    return there.keys() == content.keys() and all(
        np.array_equal(there[name], made) if made.dtype.kind == "S" else is_same(there[name], made)
        for name, made in content.items()
    )


def is_same(there: Array, made: Array) -> bool:
    """Say whether two arrays of numbers differ by rounding at most."""
    if mistakes.same(there, made, SAME):
        return True
    return there.shape == made.shape and bool((np.abs(there - made) <= SAME).all())


def stale(folder: Path) -> dict[str, bytes | None]:
    """Find the files that differ from what this generator makes: name -> its bytes, None where it is none of ours."""
    made = {name: arrays(name) for name in FIXTURES}
    found: dict[str, bytes | None] = {
        f"{name}.npz": npz(content) for name, content in made.items() if not is_current(folder / f"{name}.npz", content)
    }
    texts = hints(made.values())
    if not (folder / HINTS).is_file() or (folder / HINTS).read_bytes() != texts:
        found[HINTS] = texts
    names = {HINTS, *(f"{name}.npz" for name in made)}
    return found | {path.name: None for path in sorted(folder.glob("*")) if path.name not in names}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the public tests' arrays into `tests/fixtures/`, or compare with what is there; exit status 1 if stale."""
    parser = argparse.ArgumentParser(prog="python -m grader.fixtures", description=main.__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a file would change")
    options = parser.parse_args(arguments)
    different = stale(FOLDER)
    if options.check:
        for name in different:
            sys.stderr.write(
                f"tests/fixtures/{name} is not what grader/fixtures.py makes; run: python -m grader.fixtures\n"
            )
        return 1 if different else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, content in different.items():
        if content is None:
            (FOLDER / name).unlink()
        else:
            write_atomic(FOLDER / name, content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
