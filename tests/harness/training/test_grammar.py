"""The small language: what it says, that it says it in one way only, and how it becomes arrays."""

import itertools

import numpy as np
import pytest

from assignment.training import grammar
from assignment.training.grammar import LENGTH, LONGEST, SPECIALS

NOMINATIVE, OBLIQUE = "der", ("den", "dem")
NOUNS = {"mann": "man", "hund": "dog", "koch": "cook", "arzt": "doctor", "sohn": "son", "freund": "friend"}
OTHERS = {"alt": "old", "klein": "small", "gut": "good", "heute": "today", "gestern": "yesterday", "oft": "often"}
VERBS = {
    "gesehen": "seen", "gefunden": "found", "gesucht": "sought", "gerufen": "called", "geholfen": "helped",
    "gedankt": "thanked",
}  # fmt: skip


def translated(german):
    """Translate by the rules of German: the case says who does it."""
    words = german.split()
    groups = {}
    for place, word in enumerate(words):
        if word in (NOMINATIVE, *OBLIQUE):
            end = next(i for i in range(place, len(words)) if words[i] in NOUNS)
            adjective = [OTHERS[w.removesuffix("n").removesuffix("e")] for w in words[place + 1 : end]]
            groups[word == NOMINATIVE] = ["the", *adjective, NOUNS[words[end]]]
    adverb = [OTHERS[words[0]]] if words[0] in OTHERS else []
    negation = ["not"] if words[-2] == "nicht" else []
    return " ".join([*adverb, *groups[True], "has", *negation, VERBS[words[-1]], *groups[False]])


@pytest.fixture(scope="module")
def all_pairs():
    """Every sentence of the language."""
    likes = ("", *grammar.ADJECTIVES)
    people = itertools.permutations(grammar.NOUNS, 2)
    options = itertools.product(people, likes, likes, grammar.VERBS, grammar.FIRST, ("", "nicht"))
    return [grammar.sentence(who, whom, *rest) for (who, whom), *rest in options]


@pytest.fixture(scope="module")
def lesson():
    return grammar.draw(np.random.default_rng(0), 20, 16, 50)


def spelt(lesson, row):
    """The two texts in a row of ids: what was put in, and what its labels add."""
    inputs, labels, weights = row
    whole = [lesson.words[number] for number in (*inputs, labels[-1])]
    middle, end = whole.index("<eos_de>"), whole.index("<eos_en>")
    assert [lesson.words[n] for n, w in zip(labels, weights, strict=True) if w] == whole[middle + 1 : end + 1]
    return " ".join(whole[:middle]), " ".join(whole[middle + 1 : end])


@pytest.mark.parametrize(
    ("german", "english"),
    [
        (("mann", "hund", "", "", "gesehen", "subject", ""), "der mann hat den hund gesehen"),
        (("mann", "hund", "", "", "gesehen", "object", ""), "den hund hat der mann gesehen"),
        (("mann", "hund", "alt", "klein", "geholfen", "heute", "nicht"),
         "heute hat der alte mann dem kleinen hund nicht geholfen"),
    ],
)  # fmt: skip
def test_german_has_cases_inflected_adjectives_and_its_own_order(german, english):
    assert grammar.sentence(*german)["de"] == english


def test_every_german_sentence_is_translated_as_the_rules_of_german_want(all_pairs):
    for pair in all_pairs:
        assert pair["en"] == translated(pair["de"])


def test_every_german_sentence_is_another_one_so_none_is_ambiguous(all_pairs):
    assert len({pair["de"] for pair in all_pairs}) == len(all_pairs) == 6 * 5 * 4 * 4 * 6 * 5 * 2


def test_the_longest_sentences_just_fit(all_pairs):
    for language in ("de", "en"):
        assert max(len(pair[language].split()) for pair in all_pairs) == LONGEST
    words = grammar.vocabulary(np.random.default_rng(0))
    assert grammar.encode(all_pairs[::50], words, LENGTH).shape == (len(all_pairs[::50]), 3, LENGTH)
    longest = max(all_pairs, key=lambda pair: len(f"{pair['de']} {pair['en']}".split()))
    with pytest.raises(ValueError, match="are 22 tokens; expected 21 at most"):
        grammar.encode([longest], words, LENGTH - 1)


def test_the_same_seed_gives_the_same_lesson_and_another_gives_words_other_ids(lesson):
    again, other = (grammar.draw(np.random.default_rng(seed), 20, 16, 50) for seed in (0, 1))
    assert (again.words, again.held_out) == (lesson.words, lesson.held_out)
    np.testing.assert_array_equal(again.batches, lesson.batches)
    assert other.words != lesson.words
    assert set(other.words) == set(lesson.words)
    assert other.held_out != lesson.held_out
    assert lesson.words[:3] == other.words[:3] == SPECIALS == ("<pad>", "<eos_de>", "<eos_en>")


def test_what_is_held_out_is_not_learnt_in_either_language(lesson):
    rows = lesson.batches.transpose(0, 2, 1, 3).reshape(-1, 3, LENGTH)  # (steps, 3, B, S) -> (steps B, 3, S)
    learnt = [spelt(lesson, row) for row in rows]
    assert len(learnt) == 20 * 16
    assert all(english == translated(german) for german, english in learnt)
    assert len(lesson.held_out) == 50
    assert not {pair["de"] for pair in lesson.held_out} & {german for german, _ in learnt}
    assert not {pair["en"] for pair in lesson.held_out} & {english for _, english in learnt}


def test_a_sentence_becomes_ids_labels_shifted_by_one_and_weights_on_the_target():
    words = (*SPECIALS, "hat", "der", "mann", "the", "man")
    (row,) = grammar.encode([{"de": "der mann hat", "en": "the man"}], words, 8)
    assert row.tolist() == [
        [4, 5, 3, 1, 6, 7, 2, 0],
        [5, 3, 1, 6, 7, 2, 0, 0],
        [0, 0, 0, 1, 1, 1, 0, 0],
    ]


def test_a_sentence_that_fills_the_window_keeps_the_label_of_its_end():
    words = (*SPECIALS, "hat", "der", "mann", "the", "man")
    (row,) = grammar.encode([{"de": "der mann hat", "en": "the man"}], words, 6)
    assert row.tolist() == [[4, 5, 3, 1, 6, 7], [5, 3, 1, 6, 7, 2], [0, 0, 0, 1, 1, 1]]


def test_a_decoy_has_the_right_german_and_the_english_of_another_sentence(lesson):
    twice = [*lesson.held_out, *lesson.held_out[-1:]]  # neighbours with one translation
    for pair, decoy in zip(twice, grammar.decoys(twice), strict=True):
        assert decoy["de"] == pair["de"]
        assert decoy["en"] != pair["en"]
        assert decoy["en"] in {other["en"] for other in twice}
    with pytest.raises(ValueError, match="expected two translations or more"):
        grammar.decoys(lesson.held_out[:1])


def test_a_disguise_tells_nothing_but_the_ids(lesson):
    hidden = grammar.disguise(lesson.held_out, lesson.words)
    names = grammar.disguised(lesson.words)
    for pair, other in zip(lesson.held_out, hidden, strict=True):
        for language in ("de", "en"):
            assert [lesson.words[names.index(name)] for name in other[language].split()] == pair[language].split()
    assert names[:3] == list(SPECIALS)
    assert len(set(names)) == len(names)
    assert not set(names[3:]) & set(lesson.words)
