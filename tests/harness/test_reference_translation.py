"""The solution's loss and greedy decoding against the twins', on a model and a tokenizer that are tables."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from assignment.framework import Module, TensorBackend, tensor
from grader.case import Answer, Call, Case, Input, Role, Status
from grader.twins import run
from solution.nn import one_hot
from solution.transformer import DecoderLM
from solution.translation import generate, loss_fn, progress

WORDS = ["<pad>", "<eos_de>", "<eos_en>", "ein", "hund", "a", "dog", "runs"]
PAD, EOS_DE, EOS_EN, EIN, HUND, A, DOG, RUNS = range(8)
BACKEND = TensorBackend(seed=0)


class Table(Module):
    """Logits after token t are row t of a table; remembers the modes and lengths it was called with."""

    def __init__(self, table):
        super().__init__()
        self.table = table
        self.seen = []

    def forward(self, idx):
        self.seen.append((self.training, idx.shape))
        return one_hot(idx, self.table.shape[0]) @ self.table


class Words:
    def __init__(self):
        self.vocab = {word: number for number, word in enumerate(WORDS)}

    def __call__(self, text):
        return {"input_ids": [self.vocab[word] for word in text.replace("<", " <").split()]}

    def decode(self, ids):
        return " ".join(WORDS[number] for number in ids)


def chain(*tokens):
    """A table in which each token is followed by the next of `tokens`."""
    table = np.zeros((len(WORDS), len(WORDS)))
    for token, following in pairwise(tokens):
        table[token, following] = 1.0
    return table


def translate(table, sources, limit):
    examples = [{"de": source, "en": "dog dog dog"} for source in sources]
    model = Table(tensor(table))
    return generate(model, examples, "de", "en", Words(), limit, BACKEND, "test"), model


def twin_ids(table, sources, limit):
    examples = [{"de": source, "en": "dog dog dog"} for source in sources]
    inputs = {
        "model": Input(table, Role.TABLE_MODEL),
        "examples": Input(examples, Role.EXAMPLES),
        "src_key": Input("de", Role.PLAIN),
        "tgt_key": Input("en", Role.PLAIN),
        "tokenizer": Input(WORDS, Role.TOKENIZER),
        "model_max_length": Input(limit, Role.PLAIN),
        "backend": Input(None, Role.BACKEND),
        "desc": Input("test", Role.PLAIN),
    }
    return run(Case("translation.generate", (Call(inputs),)), Answer(Status.OK))["0.out"]


def test_the_loss_and_its_gradient_equal_the_twins():
    rng = np.random.default_rng(3)
    table = rng.normal(size=(8, 8)) * 5
    weights = (rng.random((4, 6)) < 0.5).astype(float)
    batch = np.stack([rng.integers(0, 8, (4, 6)), rng.integers(0, 8, (4, 6)), weights]).astype(float)
    inputs = {"batch": Input(batch, Role.BATCH), "model": Input(table, Role.TABLE_MODEL)}
    expected = run(Case("translation.loss_fn", (Call(inputs, cotangent=np.array([1.7])),)), Answer(Status.OK))
    model = Table(tensor(table, requires_grad=True))
    keys = ("input_ids", "labels", "label_token_weights")
    loss = loss_fn({key: tensor(value) for key, value in zip(keys, batch, strict=True)}, model)
    loss.backward([1.7])
    assert loss.shape == expected["0.out"].shape == (1,)
    assert loss.item() == pytest.approx(float(expected["0.out"][0]), rel=1e-14)
    gradient = model.table.grad.to_numpy()
    assert abs(gradient - expected["0.grad.model"]).max() <= 1e-13 * abs(gradient).max()


def test_the_loss_ignores_positions_without_weight():
    table = tensor(np.random.default_rng(3).normal(size=(8, 8)))
    batch = {"input_ids": [[3, 4, 1, 5]], "labels": [[4, 1, 5, 6]], "label_token_weights": [[0, 0, 1, 1]]}
    first = loss_fn({key: tensor(value) for key, value in batch.items()}, Table(table)).item()
    batch |= {"input_ids": [[7, 2, 1, 5]], "labels": [[0, 0, 5, 6]]}
    assert loss_fn({key: tensor(value) for key, value in batch.items()}, Table(table)).item() == first


def test_generate_follows_the_table_and_leaves_the_end_token_out():
    table = chain(EOS_DE, A, DOG, RUNS, EOS_EN)
    texts, _ = translate(table, ["ein hund", "hund"], limit=20)
    assert texts == ["a dog runs"] * 2
    assert twin_ids(table, ["ein hund", "hund"], 20).tolist() == [[A, DOG, RUNS]] * 2


def test_generate_stops_at_the_limit_and_never_asks_for_more_than_it():
    table = chain(EOS_DE, A, DOG, A)
    texts, model = translate(table, ["ein hund"], limit=6)
    assert texts == ["a dog a dog"]
    assert max(shape for _, shape in model.seen) == (1, 6)
    assert twin_ids(table, ["ein hund"], 6).tolist() == [[A, DOG, A, DOG]]


@pytest.mark.parametrize(("limit", "text"), [(2, ""), (3, "a")])
def test_a_source_that_fills_the_window_gets_no_token_or_one(limit, text):
    table = chain(EOS_DE, A, DOG, A)
    assert translate(table, ["ein hund"], limit)[0] == [text]
    assert twin_ids(table, ["ein hund"], limit).shape == (1, len(text))


def test_rows_of_different_length_are_filled_with_minus_one():
    table = chain(EOS_DE, A, DOG, A)
    assert twin_ids(table, ["ein hund", "hund"], 5).tolist() == [[A, DOG, A, -1], [A, DOG, A, DOG]]


@pytest.mark.parametrize("training", [True, False])
def test_generate_evaluates_and_gives_the_mode_back(training):
    model = Table(tensor(chain(EOS_DE, A, EOS_EN)))
    (model.train if training else model.eval)()
    generate(model, [{"de": "hund"}], "de", "en", Words(), 9, BACKEND, "test")
    assert [mode for mode, _ in model.seen] == [False, False]
    assert model.training is training


def test_generate_runs_on_a_real_model():
    model = DecoderLM(len(WORDS), 8, 2, n_positions=6, n_layer=1, backend=BACKEND)
    texts = generate(model, [{"de": "ein hund"}], "de", "en", Words(), 6, BACKEND, "test")
    assert len(texts) == 1
    assert set(texts[0].split()) <= set(WORDS)


def test_progress_is_silent_where_nobody_watches(capsys):
    assert list(progress(["a", "b"], "test")) == ["a", "b"]
    assert capsys.readouterr() == ("", "")
