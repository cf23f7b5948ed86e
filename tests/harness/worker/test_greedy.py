"""The worker's own translation: many at a time, which must be those that `generate` gives one after the other."""

import numpy as np
import pytest

from assignment import framework
from assignment.framework import Module, TensorBackend, tensor
from assignment.training import grammar
from grader.case import GREEDILY
from grader.worker import greedy
from grader.worker.vocabulary import WordTokenizer
from solution.transformer import DecoderLM
from solution.translation import generate

LONGEST = 14


def translate(model, pairs, words, longest, backend):
    return greedy.Greedy(model, framework, backend)(pairs, words, longest)


def one_by_one(model, pairs, words, longest, backend):
    return generate(model, pairs, "de", "en", words, longest, backend, "")


def words_of(*more):
    return WordTokenizer([*grammar.SPECIALS, *more])


def test_grader_and_worker_call_it_alike():
    assert greedy.METHOD == GREEDILY


@pytest.fixture(scope="module")
def sentences():
    words = WordTokenizer(grammar.vocabulary(np.random.default_rng(1)))
    return grammar.pairs(np.random.default_rng(0), 40), words


@pytest.mark.parametrize("seed", range(3))
def test_a_model_translates_many_at_a_time_as_one_by_one(sentences, seed):
    pairs, words = sentences
    backend = TensorBackend(seed=seed)
    model = DecoderLM(len(words.vocab), 16, 2, LONGEST, backend=backend, n_layer=2)
    model.lm_head.bias.value.array[2] += 0.8  # so that translations end, some sooner than others
    model.eval()
    found = translate(model, pairs, words, LONGEST, backend)
    assert found == one_by_one(model, pairs, words, LONGEST, backend)
    assert len({len(text.split()) for text in found}) > 2


class Echo(Module):
    """Says after each prompt the words of a list that begins where the prompt's length says, and never ends."""

    def __init__(self, count, stop_after=None):
        super().__init__()
        self.count, self.stop_after = count, stop_after

    def forward(self, idx):
        batch, length = idx.shape
        scores = np.zeros((batch, length, self.count))
        scores[:, -1, 3 + length % 4] = 1
        if self.stop_after is not None and length > self.stop_after:
            scores[:, -1, 2] = 2
        return tensor(scores)


@pytest.mark.parametrize("longest", [3, 4, 5, 9])
@pytest.mark.parametrize("stop_after", [None, 5])
def test_the_limit_and_prompts_that_fill_or_exceed_it_are_as_one_by_one(longest, stop_after):
    words = words_of("a", "b", "c", "d")
    pairs = [{"de": text, "en": "?"} for text in ("a", "a b", "a b c", "d", "a b c d", "")]
    model = Echo(len(words.vocab), stop_after)
    found = translate(model, pairs, words, longest, TensorBackend())
    assert found == one_by_one(model, pairs, words, longest, TensorBackend())
    assert found[4] == "" or longest > 4


def test_no_sentences_are_no_translations():
    assert translate(Echo(7), [], words_of(), 9, TensorBackend()) == []


def test_more_sentences_than_fit_in_a_batch_keep_their_order(sentences, monkeypatch):
    pairs, words = sentences
    monkeypatch.setattr(greedy, "BATCH", 3)
    backend = TensorBackend(seed=0)
    model = DecoderLM(len(words.vocab), 16, 2, LONGEST, backend=backend, n_layer=1)
    model.eval()
    assert translate(model, pairs, words, LONGEST, backend) == one_by_one(model, pairs, words, LONGEST, backend)
