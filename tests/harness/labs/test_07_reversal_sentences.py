"""What lab 07 shows: twenty steps beside torch's own layers, and what the classifier is asked."""

from functools import partial

import numpy as np
import pytest

from assignment import modules_basic, reversal
from assignment.framework import tensor
from assignment.training import classifier, sentences
from handouts.labs import film_classifier, torch_classifier

STEPS = 20


@pytest.fixture(scope="module")
def data():
    return sentences.draw(np.random.default_rng(0), STEPS, reversal.BATCH)


def twenty_losses(data, model):
    """Train a model and its twin on the same batches: both losses (20,)."""
    twin = torch_classifier.TorchClassifier(model, reversal.N_HEAD)
    with film_classifier.on_course_modules():
        ours = model.learn(tensor(data.ids), tensor(data.labels), reversal.RATE).to_numpy()
    return ours, twin.learn(data.ids, data.labels, reversal.RATE)


@pytest.mark.parametrize(("positions", "n_layer"), [(False, 1), (True, 1), (True, 2)])
def test_twenty_losses_are_torchs_to_rounding(data, positions, n_layer):
    ours, theirs = twenty_losses(data, film_classifier.fresh(positions, n_layer=n_layer))
    assert ours.shape == theirs.shape == (STEPS,)
    assert np.abs(ours - theirs).max() < 1e-14
    assert ours[-1] < ours[0]


def test_another_gelu_in_the_twin_is_seen(monkeypatch, data):
    monkeypatch.setattr(torch_classifier, "partial", lambda function, **_: partial(function, approximate="none"))
    ours, theirs = twenty_losses(data, film_classifier.fresh(positions=True))
    assert np.abs(ours - theirs).max() > 1e-6


def test_the_learning_rate_starts_at_the_commands_and_falls(data):
    model = film_classifier.fresh(positions=True)
    expected = torch_classifier.TorchClassifier(model, reversal.N_HEAD).learn(
        data.ids[:3], data.labels[:3], reversal.RATE
    )
    losses = film_classifier.learn(model, data)
    np.testing.assert_allclose(losses[:2], expected[:2], rtol=0, atol=1e-12)
    assert abs(losses[2] - expected[2]) > 1e-6
    assert losses.shape == (STEPS,)
    assert not model.training


def test_without_positions_a_pair_of_turned_sentences_costs_at_least_ln_2_on_average(data):
    pairs, labels = data.turned_pairs(), data.tests["turned"].labels.reshape(-1, 2)
    model = film_classifier.fresh(positions=False)
    film_classifier.learn(model, data)
    logits = model(tensor(pairs.reshape(-1, sentences.LENGTH))).to_numpy().reshape(-1, 2, 2)  # (P, 2, 2)
    shifted = logits - np.log(np.exp(logits).sum(axis=2, keepdims=True))
    costs = -np.take_along_axis(shifted, labels[:, :, None], axis=2).mean(axis=(1, 2))  # (P,)
    assert costs.min() > np.log(2) - 1e-12


def test_the_modules_of_the_course_stand_in_only_within():
    with film_classifier.on_course_modules():
        assert classifier.Embedding.__module__ == "solution.modules_basic"
    assert classifier.Embedding is modules_basic.Embedding


def test_sentences_get_the_ids_of_their_words():
    assert film_classifier.encoded(["b a", "a a"], words=("a", "b")).tolist() == [[1, 0], [0, 0]]


def test_the_sizes_are_those_of_the_command():
    model = film_classifier.fresh(positions=True)
    shapes = {name: value.shape for name, value in model.state().items()}
    assert shapes["token_embeddings.weights"] == (22, 32)
    assert shapes["position_embeddings.weights"] == (9, 32)
