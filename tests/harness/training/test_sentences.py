"""The sentences that a classifier learns from and is tested with: balanced, labelled rightly, never in both."""

from collections import Counter

import numpy as np
import pytest

from assignment.training import sentences
from assignment.training.sentences import BAD, GOOD, KINDS, LENGTH, WORDS

STEPS, BATCH = 40, 24


def drawn(seed=0):
    return sentences.draw(np.random.default_rng(seed), STEPS, BATCH)


@pytest.fixture(scope="module")
def data():
    return drawn()


def kind_of(text):
    return "turned" if " but " in text else "negated" if " nor " in text else "plain"


def verdict(text):
    """What a reader says: good (1) or bad (0). The last word decides, unless all of it is denied."""
    last = text.split()[-1]
    assert last in GOOD + BAD
    return int((last in GOOD) != (kind_of(text) == "negated"))


def texts(data, ids):
    return [data.text(row) for row in ids.reshape(-1, LENGTH)]


def test_the_same_seed_gives_the_same_sentences(data):
    again = drawn()
    assert again.words == data.words
    np.testing.assert_array_equal(again.ids, data.ids)
    np.testing.assert_array_equal(again.labels, data.labels)
    for kind in KINDS:
        np.testing.assert_array_equal(again.tests[kind].ids, data.tests[kind].ids)


def test_another_seed_gives_words_other_ids_and_tests_with_other_sentences(data):
    other = drawn(seed=1)
    assert other.words != data.words
    assert set(other.words) == set(data.words) == set(WORDS)
    assert set(texts(other, other.tests["turned"].ids)) != set(texts(data, data.tests["turned"].ids))


def test_batches_have_the_shape_that_was_asked_for_and_a_third_of_each_kind(data):
    assert data.ids.shape == (STEPS, BATCH, LENGTH)
    assert data.labels.shape == (STEPS, BATCH)
    for ids in data.ids:
        assert Counter(map(kind_of, texts(data, ids))) == dict.fromkeys(KINDS, BATCH // 3)


def test_every_label_is_what_a_reader_would_say(data):
    assert [verdict(text) for text in texts(data, data.ids)] == data.labels.reshape(-1).tolist()
    for kind, test in data.tests.items():
        assert {kind_of(text) for text in texts(data, test.ids)} == {kind}
        assert [verdict(text) for text in texts(data, test.ids)] == test.labels.tolist()


def test_no_sentence_is_learnt_and_tested(data):
    learnt = set(texts(data, data.ids))
    for test in data.tests.values():
        tested = texts(data, test.ids)
        assert len(set(tested)) == len(tested) == 2 * sentences.TESTS
        assert not learnt & set(tested)


def test_a_turned_pair_has_the_same_words_and_opposite_labels(data):
    pairs = data.turned_pairs()
    labels = data.tests["turned"].labels.reshape(-1, 2)
    for (one, other), both in zip(pairs, labels, strict=True):
        assert sorted(one) == sorted(other)
        assert sorted(both) == [0, 1]
    assert 0 < labels[:, 0].sum() < len(labels)  # whether the good one comes first says nothing


def test_no_word_tells_the_label_in_any_batch_or_test(data):
    tests = list(data.tests.values())
    simple = np.concatenate([test.ids for test in tests[:2]]), np.concatenate([test.labels for test in tests[:2]])
    for ids, labels in [*zip(data.ids, data.labels, strict=True), simple, (tests[2].ids, tests[2].labels)]:
        good, bad = (np.bincount(ids[labels == label].reshape(-1), minlength=len(WORDS)) for label in (1, 0))
        np.testing.assert_array_equal(good, bad)


def test_every_word_is_learnt(data):
    assert set(np.unique(data.ids)) == set(range(len(WORDS)))


def test_a_batch_that_cannot_hold_pairs_of_every_kind_is_refused():
    with pytest.raises(ValueError, match="a batch of 8 sentences; expected a multiple of 6"):
        sentences.draw(np.random.default_rng(0), 1, 8)
