"""The reference and the models that learn, unchanged, on arrays that refuse NumPy's: the same numbers as on the CPU.

Those arrays compute with NumPy inside, so equal means equal to the last bit. Each operation and module by itself is in
test_gpu_script.py.
"""

import importlib
import sys

import numpy as np
import pytest

from assignment.framework import Adam, TensorBackend, tensor
from solution import modules_basic, nn, transformer, translation

V, D, S, B = 11, 8, 6, 3
WORDS = ["<pad>", "<eos_de>", "<eos_en>", "ein", "hund", "a", "dog"]
ARRAY = np.random.default_rng(0).normal(size=(B, S, D))
IDS = np.random.default_rng(1).integers(0, V, (B, S))


@pytest.fixture(scope="module", autouse=True)
def mode():
    """Once is enough here: each test says itself where its tensors are."""
    return "at once"


@pytest.fixture(params=["float32", "float64"])
def backends(request, device_arrays):
    """The CPU and a device."""
    return TensorBackend(np, request.param, seed=0), TensorBackend(device_arrays, request.param, seed=0)


class Words:
    """A tokenizer of whole words."""

    vocab = {word: number for number, word in enumerate(WORDS)}  # noqa: RUF012  # the protocol's attribute

    def __call__(self, text):
        return {"input_ids": [self.vocab[word] for word in text.replace("<", " <").split()]}

    def decode(self, ids):
        return " ".join(WORDS[number] for number in ids)


@pytest.fixture(scope="module")
def training():
    """The package of the models that learn, on the reference."""
    names = {
        f"assignment.{part.__name__.partition('.')[2]}": part for part in (nn, modules_basic, transformer, translation)
    }
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in sys.modules if name.startswith("assignment.training")]:
            patch.delitem(sys.modules, name)
        for name, part in names.items():
            patch.setitem(sys.modules, name, part)
        yield importlib.import_module("assignment.training")
        for name in [name for name in sys.modules if name.startswith("assignment.training")]:
            del sys.modules[name]


def pair(make, backends):
    """The same module twice, with the same parameters; nothing of it is left on the CPU."""
    here, there = map(make, backends)
    there.load_state(here.state())
    assert {type(part.value.array).__name__ for part in there.parameters()} == {"DeviceArray"}
    return here, there


def same(here, there):
    assert there.keys() == here.keys()
    for name, value in here.items():
        np.testing.assert_array_equal(there[name], value, err_msg=name)
        assert there[name].dtype == value.dtype


def test_dropout_on_a_device_drops_scales_and_blocks_the_gradient(backends):
    _, there = backends
    dropout = modules_basic.Dropout(0.25)
    x = tensor(np.ones((40, 50)), there, requires_grad=True)
    y = dropout(x)
    y.sum().backward()
    kept = y.to_numpy()
    assert set(kept.ravel().tolist()) == {0.0, float(there.dtype.type(1 / 0.75))}
    assert abs((kept == 0).mean() - 0.25) < 0.05  # 2,000 draws: five standard deviations
    np.testing.assert_array_equal(x.grad.to_numpy(), kept)
    dropout.eval()
    assert dropout(x) is x


def test_a_model_with_dropout_trains_on_a_device(backends):
    _, there = backends
    model = transformer.DecoderLM(V, D, 2, S, p_dropout=0.1, backend=there, n_layer=1)
    optimiser, losses = Adam(model.parameters(), lr=0.01), []
    for _ in range(40):
        optimiser.zero_grad()
        loss = nn.softmax_loss(model(tensor(IDS, there)).view(B * S, V), tensor(IDS.reshape(-1), there)).mean()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2


def test_padding_is_hidden_the_same_on_a_device(backends):
    make = lambda b: transformer.MultiHeadAttention(D, 2, p_dropout=0.0, backend=b)  # noqa: E731  # of both backends
    mask = (np.arange(S) >= 4) * np.ones((B, 1))
    results = []
    for attention, backend in zip(pair(make, backends), backends, strict=True):
        results.append({"out": attention(tensor(ARRAY, backend), tensor(mask, backend)).to_numpy()})
    same(*results)


def test_a_translation_is_the_same_on_a_device(backends):
    make = lambda b: transformer.DecoderLM(len(WORDS), D, 2, 9, p_dropout=0.1, backend=b, n_layer=1)  # noqa: E731  # of both backends
    examples = [{"de": "ein hund"}, {"de": "hund"}]
    texts = [
        translation.generate(model, examples, "de", "en", Words(), 9, backend, "test")
        for model, backend in zip(pair(make, backends), backends, strict=True)
    ]
    assert texts[0] == texts[1]


def test_the_classifier_learns_the_same_on_a_device(backends, training):
    ids = np.random.default_rng(2).integers(0, V, (4, B, S))
    labels = np.random.default_rng(3).integers(0, 2, (4, B))
    results = []
    models = pair(lambda b: training.SentenceClassifier(V, D, 2, S, backend=b), backends)
    for model, backend in zip(models, backends, strict=True):
        losses = model.learn(tensor(ids, backend), tensor(labels, backend), 0.01)
        pooled = model.pool(tensor(ids[0], backend))
        results.append({"losses": losses.to_numpy(), "pooled": pooled.to_numpy()} | model.state())
    same(*results)


def test_the_translator_learns_and_translates_the_same_on_a_device(backends, training):
    rng = np.random.default_rng(4)
    ids = rng.integers(0, len(WORDS), (4, B, 8))
    batches = np.stack([ids[..., :-1], ids[..., 1:], ids[..., 1:] > 2], axis=1)  # (steps, 3, B, S)
    results, texts = [], []
    models = pair(lambda b: training.Translator(len(WORDS), D, 2, 8, n_layer=1, backend=b), backends)
    for model, backend in zip(models, backends, strict=True):
        losses = model.learn(tensor(batches, backend), [0.01, 0.01, 0.005, 0.0])
        results.append({"losses": losses.to_numpy()} | model.state())
        texts.append(model.translate([{"de": "ein hund"}], Words(), 8))
    same(*results)
    assert texts[0] == texts[1]


@pytest.mark.parametrize("convention", ["all", "others"])
def test_label_smoothing_is_the_same_on_a_device(backends, training, convention):
    smoothing = importlib.import_module(f"{training.__name__}.smoothing")
    results = []
    for backend in backends:
        logits, labels, weights = (tensor(a, backend, requires_grad=a is ARRAY) for a in (ARRAY, IDS % D, IDS > 2))
        added = smoothing.addition(logits, labels, weights, 0.1, convention)
        added.backward()
        results.append({"added": added.to_numpy(), "grad": logits.grad.to_numpy()})
    same(*results)
