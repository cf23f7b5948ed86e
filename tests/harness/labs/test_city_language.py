"""The city language: what it says of itself, against its description, a formula and torch."""

import math

import numpy as np
import pytest
import torch

from handouts.labs import city_language as city

CITY = math.log(6) + math.log(3) - 2 / 3 * math.log(2)
"""Entropy of a city: one of six countries, then the capital (2/3) or the other (1/3)."""


def other_city():
    """Entropy of a second city, given the first: the shares 1/9 and 1/18 of those left, by the first's share."""
    total = 0.0
    for first in (1 / 9, 1 / 18):
        left = [1 / 9] * (5 + (first == 1 / 18)) + [1 / 18] * (5 + (first == 1 / 9))
        total -= 6 * first * sum(share / (1 - first) * math.log(share / (1 - first)) for share in left)
    return total


@pytest.fixture(scope="module")
def language():
    return city.city_language()


def chances_after(language, beginning):
    found = language.next_word([language.ids[word] for word in beginning.split()])
    return {language.words[number]: pytest.approx(p, abs=1e-12) for number, p in enumerate(found) if p}


@pytest.mark.parametrize(
    ("beginning", "expected"),
    [
        ("madrid is the capital of", {"spain": 1}),
        ("porto is a city in", {"portugal": 1}),
        ("in lyon people speak", {"french": 1}),
        ("in lyon people speak french", {".": 1 / 2, "and": 1 / 2}),
        ("in leeds people speak english and learn", dict.fromkeys(("french", "german"), 1 / 5)),
        ("the train from rome to milan takes", {"two": 1 / 2, "three": 1 / 2}),
        ("the train from rome to paris takes", {"eight": 1 / 2, "nine": 1 / 2}),
        ("the train from rome to paris takes nine hours and leaves", {"rome": 1}),
        ("the train from rome to", {"berlin": 1 / 9 / (8 / 9), "milan": 1 / 18 / (8 / 9)}),
        ("leeds is old", {"and": 1 / 2, "but": 1 / 2}),
        ("leeds is old but rome is", {"new": 1}),
        ("", {"in": 1 / 4, "the": 1 / 4, "paris": 1 / 2 * 1 / 9, "lyon": 1 / 2 * 1 / 18}),
    ],
)
def test_after_a_beginning_comes_what_the_grammar_says(language, beginning, expected):
    found = chances_after(language, beginning)
    assert {word: found[word] for word in expected} == expected


def test_the_floor_is_the_entropy_of_a_sentence_over_its_mean_length(language):
    sentence = (
        math.log(4)
        + (
            CITY  # places
            + (CITY + math.log(2) + math.log(5) / 2)  # languages
            + (CITY + other_city() + 2 * math.log(2))  # trains: hours and time
            + (CITY + other_city() + math.log(6) + math.log(2))  # comparisons: a word, and which of two forms
        )
        / 4
    )
    length = (7 + (6 + 9) / 2 + 16 + 8) / 4
    assert language.floor() == pytest.approx(sentence / length, rel=1e-12)


def test_no_sentence_stands_twice_and_their_probabilities_sum_to_one(language):
    assert len(set(language.sentences)) == len(language.sentences) == 12 + 12 * 6 + 132 * 4 + 132 * 12
    assert language.probabilities.sum() == pytest.approx(1, abs=1e-12)


def test_a_text_begins_with_an_end_and_says_only_what_can_be_said(language):
    text = language.draw(np.random.default_rng(0), 20, 30)
    assert text.shape == (20, 31)
    assert not text[:, 0].any()
    chances = language.next_words(text[:, :-1])
    np.testing.assert_allclose(chances.sum(axis=-1), 1, atol=1e-12)
    assert np.take_along_axis(chances, text[:, 1:, None], axis=-1).min() > 0


def test_a_drawn_text_has_each_word_as_often_as_the_language(language):
    text = language.draw(np.random.default_rng(1), 500, 96)[:, 1:]
    often, chances = language.beginnings()
    expected, count = often @ chances, text.size
    found = np.bincount(text.reshape(-1), minlength=len(language.words)) / count  # (rows, S) -> (rows S,)
    assert (np.abs(found - expected) < 6 * np.sqrt(expected / count)).all()


def test_after_what_no_sentence_begins_with_there_is_no_next_word(language):
    ids = [language.ids[word] for word in ("rome", "rome")]
    assert not language.is_beginning(ids)
    with pytest.raises(KeyError, match="no sentence begins with 'rome rome'"):
        language.next_word(ids)


def test_the_truth_is_on_the_floor_and_any_other_answer_is_above_it_by_its_divergence(language):
    often, p = language.beginnings()
    with np.errstate(divide="ignore"):
        truth = np.log(p)  # -inf where a word cannot follow
    assert city.expected_above_floor(often, p, truth) == pytest.approx(0, abs=1e-9)
    assert city.millinats_above_floor(p, truth) == pytest.approx(0, abs=1e-9)
    log_q = torch.log_softmax(torch.from_numpy(np.random.default_rng(2).standard_normal(p.shape)), -1)
    each = torch.nn.functional.kl_div(log_q, torch.from_numpy(p), reduction="none").sum(-1).numpy()
    assert city.millinats_above_floor(p, log_q.numpy()) == pytest.approx(1000 * each.mean(), rel=1e-12)
    assert city.expected_above_floor(often, p, log_q.numpy()) == pytest.approx(1000 * often @ each, rel=1e-12)


def test_a_choice_among_equals_has_their_number_as_perplexity():
    assert city.perplexity(city.entropy(np.full(8, 1 / 8))) == pytest.approx(8, rel=1e-12)
