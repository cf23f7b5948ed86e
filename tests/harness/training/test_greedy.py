"""Many translations at a time, which must be those that `generate` gives one after the other."""

import numpy as np
import pytest

from assignment.framework import Module, TensorBackend, tensor
from assignment.training import grammar
from assignment.training.greedy import translate
from assignment.training.words import Words
from solution.transformer import DecoderLM
from solution.translation import generate

LONGEST = 14


def one_by_one(model, pairs, words, longest, backend):
    return generate(model, pairs, "de", "en", words, longest, backend, "")


@pytest.fixture(scope="module")
def sentences():
    return grammar.pairs(np.random.default_rng(0), 40), Words(grammar.vocabulary(np.random.default_rng(1)))


@pytest.mark.parametrize("seed", range(3))
def test_a_model_translates_many_at_a_time_as_one_by_one(sentences, seed):
    pairs, words = sentences
    backend = TensorBackend(seed=seed)
    model = DecoderLM(len(words.vocab), 16, 2, LONGEST, backend=backend, n_layer=2)
    model.lm_head.bias.value.array[2] += 0.8  # so that translations end, some sooner than others
    found = translate(model, pairs, words, LONGEST, backend)
    assert found == one_by_one(model, pairs, words, LONGEST, backend)
    assert len({len(text.split()) for text in found}) > 2


class Echo(Module):
    """Says after each prompt the words of a list that begins where the prompt's length says, and never ends."""

    def __init__(self, count, stop_after=None):
        super().__init__()
        self.count, self.stop_after, self.modes = count, stop_after, []

    def forward(self, idx):
        self.modes.append(self.training)
        batch, length = idx.shape
        scores = np.zeros((batch, length, self.count))
        scores[:, -1, 3 + length % 4] = 1
        if self.stop_after is not None and length > self.stop_after:
            scores[:, -1, 2] = 2
        return tensor(scores)


@pytest.mark.parametrize("longest", [3, 4, 5, 9])
@pytest.mark.parametrize("stop_after", [None, 5])
def test_the_limit_and_prompts_that_fill_or_exceed_it_are_as_one_by_one(longest, stop_after):
    words = Words([*grammar.SPECIALS, "a", "b", "c", "d"])
    pairs = [{"de": text, "en": "?"} for text in ("a", "a b", "a b c", "d", "a b c d", "")]
    model = Echo(len(words.vocab), stop_after)
    found = translate(model, pairs, words, longest, TensorBackend())
    assert found == one_by_one(model, pairs, words, longest, TensorBackend())
    assert found[4] == "" or longest > 4


@pytest.mark.parametrize("training", [True, False])
def test_the_model_is_in_evaluation_mode_meanwhile_and_as_before_afterwards(training):
    model = Echo(7, stop_after=3)
    (model.train if training else model.eval)()
    translate(model, [{"de": "a"}], Words([*grammar.SPECIALS, "a", "b", "c", "d"]), 9, TensorBackend())
    assert set(model.modes) == {False}
    assert model.training is training


def test_no_sentences_are_no_translations():
    assert translate(Echo(7), [], Words(grammar.SPECIALS), 9, TensorBackend()) == []


def test_more_sentences_than_fit_in_a_batch_keep_their_order(sentences, monkeypatch):
    pairs, words = sentences
    monkeypatch.setattr("assignment.training.greedy.BATCH", 3)
    backend = TensorBackend(seed=0)
    model = DecoderLM(len(words.vocab), 16, 2, LONGEST, backend=backend, n_layer=1)
    assert translate(model, pairs, words, LONGEST, backend) == one_by_one(model, pairs, words, LONGEST, backend)
