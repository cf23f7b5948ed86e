"""What `loss_fn` gets: sequences in arrays, in an order that a restart finds again."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignment.training import batches, grammar
from assignment.training.batches import TokenPair
from assignment.training.words import Words

WORDS = Words([*grammar.SPECIALS, "das", "haus", "the", "house", "old"])
PAIR = {"de": "das haus", "en": "the house"}
GIVEN = np.random.default_rng(0).integers(4, 60, 500)


def test_source_and_target_are_one_sequence_with_an_end_each():
    (sequence,), cut = batches.encode([PAIR], WORDS, 80)
    assert sequence == TokenPair((3, 4, 1, 5, 6, 2), source=3)
    assert (sequence.targets, cut) == (3, 0)


def test_labels_are_shifted_by_one_and_only_target_tokens_count():
    sequences, _ = batches.encode([PAIR, {"de": "das", "en": "the old house"}, {"de": "haus", "en": ""}], WORDS, 80)
    found = batches.arrays(sequences, pad=0)
    assert {name: array.tolist() for name, array in found.items()} == {
        "input_ids": [[3, 4, 1, 5, 6], [3, 1, 5, 7, 6], [4, 1, 2, 0, 0]],
        "labels": [[4, 1, 5, 6, 2], [1, 5, 7, 6, 2], [1, 2, 0, 0, 0]],
        "label_token_weights": [[0, 0, 1, 1, 1], [0, 1, 1, 1, 1], [0, 1, 0, 0, 0]],
    }


def test_the_grammar_encodes_its_sentences_just_so():
    pairs = grammar.pairs(np.random.default_rng(0), 20)
    words = grammar.vocabulary(np.random.default_rng(1))
    expected = grammar.encode(pairs, words, grammar.LENGTH)
    sequences, _ = batches.encode(pairs, Words(words), grammar.LENGTH)
    found = np.stack(list(batches.arrays(sequences, pad=0).values()), axis=1)
    np.testing.assert_array_equal(found, expected[:, :, : found.shape[2]])
    assert not expected[:, 1:, found.shape[2] :].any()


@pytest.mark.parametrize(
    ("longest", "ids", "cut"), [(5, (3, 4, 1, 5, 6, 2), 0), (4, (3, 4, 1, 5, 6), 1), (3, (3, 4, 1, 5), 1)]
)
def test_a_sequence_is_cut_to_what_the_model_reads_and_the_last_label(longest, ids, cut):
    sequences, found = batches.encode([PAIR], WORDS, longest)
    assert ([sequence.ids for sequence in sequences], found) == ([ids], cut)


def test_a_pair_with_nothing_left_of_its_target_is_left_out():
    assert batches.encode([PAIR], WORDS, 2) == ([], 1)


@given(count=st.integers(1, 300), batch=st.integers(1, 40), samples=st.integers(0, 400), epoch=st.integers(0, 5))
def test_an_epoch_takes_as_many_different_sequences_as_asked_in_the_steps_foretold(count, batch, samples, epoch):
    lengths = np.arange(count) % 17
    order = batches.epoch_order(lengths, batch, samples, np.random.default_rng([3, epoch]))
    taken = np.concatenate(order)
    assert len(taken) == len(set(taken.tolist())) == min(count, samples or count)
    assert len(order) == batches.steps_of_epoch(count, batch, samples)
    assert max(map(len, order)) <= batch


def of_given(samples=0, seed=0):
    return batches.epoch_order(GIVEN, 8, samples, np.random.default_rng(seed))


def test_the_order_is_the_same_for_the_same_generator_and_another_for_others():
    first, same, other = ([places.tolist() for places in of_given(seed=seed)] for seed in (1, 1, 2))
    assert first == same
    assert first != other


def test_an_epoch_of_some_draws_others_the_next_time():
    first, second = (set(np.concatenate(of_given(100, seed)).tolist()) for seed in (0, 1))
    assert len(first) == len(second) == 100
    assert first != second


def test_a_batch_holds_sequences_of_similar_length():
    def padding(order):
        return sum(GIVEN[places].max() * len(places) - GIVEN[places].sum() for places in order)

    shuffled = np.random.default_rng(0).permutation(500)
    assert padding(of_given()) < 0.2 * padding(np.split(shuffled, range(8, 500, 8)))


def test_short_batches_do_not_all_come_first():
    means = [GIVEN[places].mean() for places in of_given(160)]
    assert means != sorted(means)
