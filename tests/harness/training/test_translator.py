"""The translator on the reference's modules: it learns as torch does, and says what it learned."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from assignment.framework import TensorBackend, tensor
from assignment.training import Translator, grammar, translator
from assignment.training.words import Words
from grader.twins.right import RIGHT
from solution import transformer, translation

STEPS, BATCH, RATE = 20, 8, 5e-3


@pytest.fixture(autouse=True)
def _reference(monkeypatch):
    monkeypatch.setattr(translator, "DecoderLM", transformer.DecoderLM)
    monkeypatch.setattr(translator, "loss_fn", translation.loss_fn)
    monkeypatch.setattr(translator, "generate", translation.generate)


@pytest.fixture(scope="module")
def lesson():
    return grammar.draw(np.random.default_rng(0), STEPS, BATCH, 8)


def made(lesson, n_embd=16, seed=0):
    return Translator(len(lesson.words), n_embd, 4, grammar.LENGTH, n_layer=2, backend=TensorBackend(seed=seed))


def taught(model, batches, lr):
    return model.learn(tensor(batches, backend=model.backend), lr).to_numpy()


def losses_of_torch(model, lesson):
    """The same model, loss and optimiser of torch's parts."""
    vocabulary, width = model.model.token_embeddings.weights.value.shape
    twin = RIGHT.lm(RIGHT, vocabulary, width, 4, grammar.LENGTH, 0.0, n_layer=2)
    twin.load_state_dict({name: torch.tensor(value) for name, value in model.model.state().items()})
    optimizer = torch.optim.Adam(twin.parameters(), RATE)
    losses = []
    for ids, labels, weights in torch.tensor(lesson.batches):
        optimizer.zero_grad()
        each = functional.cross_entropy(twin(ids).transpose(1, 2), labels, reduction="none")  # (B, V, S) -> (B, S)
        loss = (each * weights).sum() / weights.sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_twenty_losses_follow_torch(lesson):
    model = made(lesson)
    expected = losses_of_torch(model, lesson)
    losses = taught(model, lesson.batches, RATE)
    assert losses.shape == (STEPS,)
    np.testing.assert_allclose(losses, expected, rtol=0, atol=1e-9)
    assert losses[-1] < losses[0]


def test_learning_in_two_calls_is_learning_in_one(lesson):
    whole, halves = made(lesson), made(lesson)
    losses = taught(whole, lesson.batches[:6], RATE)
    parts = [taught(halves, lesson.batches[part], RATE) for part in (slice(2), slice(2, 6))]
    np.testing.assert_array_equal(np.concatenate(parts), losses)


def test_its_parameters_are_those_of_the_language_model(lesson):
    model = made(lesson)
    assert [name for name, _ in model.named_parameters()] == [f"model.{name}" for name in model.model.state()]
    ids = tensor(lesson.batches[0, 0], backend=model.backend)
    np.testing.assert_array_equal(model(ids).to_numpy(), model.model(ids).to_numpy())


def test_what_it_has_learned_by_heart_it_says_and_reads_no_reference(lesson):
    steps, known = 60, lesson.held_out[:6]
    model = made(lesson, n_embd=32)
    batch = grammar.encode(known, lesson.words, grammar.LENGTH).transpose(1, 0, 2)  # (6, 3, S) -> (3, 6, S)
    taught(model, np.tile(batch, (steps, 1, 1, 1)), 1e-2)
    asked = grammar.decoys(known)
    said = model.translate(asked, Words(lesson.words), grammar.LENGTH)
    assert said == [pair["en"] for pair in known]
