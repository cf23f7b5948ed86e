"""The classifier on the reference's modules: it learns as torch does, and needs positions for turned sentences."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from assignment.framework import TensorBackend, tensor
from assignment.training import SentenceClassifier, classifier, sentences
from grader.twins.right import RIGHT
from solution import modules_basic, nn, transformer

STEPS, BATCH, RATE = 20, 12, 1e-2


@pytest.fixture(autouse=True)
def _reference(monkeypatch):
    monkeypatch.setattr(classifier, "Embedding", modules_basic.Embedding)
    monkeypatch.setattr(classifier, "Linear", modules_basic.Linear)
    monkeypatch.setattr(classifier, "TransformerLayer", transformer.TransformerLayer)
    monkeypatch.setattr(classifier, "softmax_loss", nn.softmax_loss)


@pytest.fixture(scope="module")
def data():
    return sentences.draw(np.random.default_rng(0), STEPS, BATCH)


def made(*, positions=True, n_layer=1, dtype="float64", seed=0, n_embd=16):
    return SentenceClassifier(
        len(sentences.WORDS), n_embd, 4, sentences.LENGTH, n_layer=n_layer, positions=positions,
        backend=TensorBackend(dtype=dtype, seed=seed),
    )  # fmt: skip


def taught(model, data, lr, steps=slice(None)):
    ids, labels = (tensor(array[steps], backend=model.backend) for array in (data.ids, data.labels))
    return model.learn(ids, labels, lr).to_numpy()


class TorchClassifier(torch.nn.Module):
    """The same model of torch's parts, without dropout."""

    def __init__(self, model, positions, n_layer):
        super().__init__()
        vocabulary, width = model.token_embeddings.weights.value.shape
        self.token_embeddings = RIGHT.embedding(RIGHT, vocabulary, width)
        self.position_embeddings = RIGHT.embedding(RIGHT, sentences.LENGTH, width) if positions else None
        self.layers = [RIGHT.layer(RIGHT, width, 4, 0.0, causal=False) for _ in range(n_layer)]
        for number, layer in enumerate(self.layers, start=1):
            self.add_module(f"t_layer_{number}", layer)
        self.head = RIGHT.linear(RIGHT, width, 2)
        self.load_state_dict({name: torch.tensor(value) for name, value in model.state().items()})

    def forward(self, ids):
        x = self.token_embeddings(ids)
        if self.position_embeddings is not None:
            x = x + self.position_embeddings(torch.arange(ids.shape[1])[None])
        for layer in self.layers:
            x = layer(x)
        return self.head(x.mean(1))

    def learn(self, ids, labels, lr):
        optimizer = torch.optim.Adam(self.parameters(), lr)
        losses = []
        for batch, classes in zip(torch.tensor(ids), torch.tensor(labels), strict=True):
            optimizer.zero_grad()
            loss = functional.cross_entropy(self(batch), classes)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses


@pytest.mark.parametrize(("positions", "n_layer"), [(True, 1), (False, 1), (True, 2)])
def test_twenty_losses_follow_torch(data, positions, n_layer):
    model = made(positions=positions, n_layer=n_layer)
    expected = TorchClassifier(model, positions, n_layer).learn(data.ids, data.labels, RATE)
    losses = taught(model, data, RATE)
    assert losses.shape == (STEPS,)
    np.testing.assert_allclose(losses, expected, rtol=0, atol=1e-9)
    assert losses[-1] < losses[0]


def test_its_logits_are_the_head_of_its_pool(data):
    model = made()
    ids = tensor(data.ids[0], backend=model.backend)
    pooled = model.pool(ids)
    assert pooled.shape == (BATCH, 16)
    assert model(ids).shape == (BATCH, 2)
    np.testing.assert_array_equal(model(ids).to_numpy(), model.head(pooled).to_numpy())


def test_learning_in_two_calls_is_learning_in_one(data):
    whole, halves = made(), made()
    losses = taught(whole, data, RATE)
    first, second = (taught(halves, data, RATE, part) for part in (slice(8), slice(8, None)))
    np.testing.assert_array_equal(np.concatenate([first, second]), losses)


def test_each_step_may_have_its_own_learning_rate(data):
    one, each, given = made(), made(), made()
    rates = [RATE, 0.0, 3 * RATE]
    expected = [taught(one, data, rate, slice(step, step + 1))[0] for step, rate in enumerate(rates)]
    np.testing.assert_array_equal(taught(each, data, rates, slice(3)), expected)
    np.testing.assert_array_equal(taught(given, data, tensor(rates), slice(3)), expected)


def test_too_few_learning_rates_are_refused(data):
    with pytest.raises(ValueError, match="2 learning rates arrived for 3 steps"):
        taught(made(), data, [RATE, RATE], slice(3))


@pytest.mark.parametrize(("positions", "names"), [(True, ["position_embeddings.weights"]), (False, [])])
def test_without_positions_there_are_no_position_embeddings(positions, names):
    model = made(positions=positions)
    assert (model.position_embeddings is None) != positions
    assert [name for name, _ in model.named_parameters() if name.startswith("position")] == names


def test_without_positions_turned_sentences_are_the_same_to_rounding_and_with_them_they_are_not(data):
    pairs = data.turned_pairs()
    apart = {}
    for positions in (False, True):
        model = made(positions=positions)
        one, other = (model.pool(tensor(pairs[:, which], backend=model.backend)).to_numpy() for which in (0, 1))
        apart[positions] = np.abs(one - other).max(axis=1)
    assert apart[False].max() < 1e-14
    assert apart[True].min() > 1e-3


def test_trained_with_positions_it_gets_new_sentences_right_and_without_it_guesses_the_turned_ones():
    steps = 120
    data = sentences.draw(np.random.default_rng(3), steps, 24)
    rates = [RATE * (1 - step / steps) for step in range(steps)]
    right = {}
    for positions in (False, True):
        model = made(positions=positions, dtype="float32", n_embd=32)
        taught(model, data, rates)
        for kind, test in data.tests.items():
            classes = model(tensor(test.ids, backend=model.backend)).to_numpy().argmax(axis=1)
            right[positions, kind] = np.mean(classes == test.labels)
    assert right.pop((False, "turned")) <= 0.6
    assert right == dict.fromkeys(right, 1.0)
