"""Both conventions of label smoothing, against torch and against their formulas."""

import numpy as np
import pytest
import torch

from assignment.framework import Module, tensor
from assignment.training import smoothing
from solution import translation

CLASSES = 5
EPS = (0.0, 0.1, 0.4)
IDS = np.array([[3, 4, 1], [2, 1, 0]])
LABELS, WEIGHTS = np.array([[4, 1, 2], [1, 0, 0]]), np.array([[0, 1, 1], [1, 0, 0]])
COUNTED = WEIGHTS == 1
TABLE = np.random.default_rng(1).standard_normal((CLASSES, CLASSES))


@pytest.fixture(autouse=True)
def _reference(monkeypatch):
    monkeypatch.setattr(smoothing, "loss_fn", translation.loss_fn)


class Model(Module):
    """A language model that looks the next word's logits up, in a table that learns."""

    def __init__(self):
        super().__init__()
        self.add_parameter("table", tensor(TABLE))

    def forward(self, idx):
        return tensor(np.eye(CLASSES)[idx.to_numpy().astype(int)]) @ self.table.value  # (B, S, V) @ (V, V)


def smoothed(eps, convention, model=None):
    arrays = {"input_ids": IDS, "labels": LABELS, "label_token_weights": WEIGHTS}
    batch = {name: tensor(array) for name, array in arrays.items()}
    return smoothing.smoothed_loss(batch, model or Model(), eps, convention)


@pytest.mark.parametrize("eps", EPS)
def test_smoothing_over_all_classes_is_that_of_torch_with_its_gradient(eps):
    model, theirs = Model(), torch.tensor(TABLE, requires_grad=True)
    loss = smoothed(eps, "all", model)
    loss.backward()
    expected = torch.nn.CrossEntropyLoss(label_smoothing=eps)(theirs[IDS[COUNTED]], torch.tensor(LABELS[COUNTED]))
    expected.backward()
    assert loss.shape == (1,)
    assert loss.item() == pytest.approx(expected.item(), rel=1e-12)
    np.testing.assert_allclose(model.table.grad.to_numpy(), theirs.grad.numpy(), atol=1e-12)


@pytest.mark.parametrize("eps", EPS)
def test_smoothing_over_the_others_is_the_cross_entropy_with_their_share(eps):
    logits = TABLE[IDS[COUNTED]]
    log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    aim = np.full((3, CLASSES), eps / (CLASSES - 1))
    aim[np.arange(3), LABELS[COUNTED]] = 1 - eps
    assert smoothed(eps, "others").item() == pytest.approx(-(aim * log_p).sum(axis=1).mean(), rel=1e-12)


def test_the_two_conventions_are_one_with_another_eps():
    others = smoothed(0.2, "others").item()
    assert others == pytest.approx(smoothed(0.25, "all").item(), rel=1e-12)
    assert abs(others - smoothed(0.2, "all").item()) > 0.01


@pytest.mark.parametrize(("eps", "convention"), [(-0.1, "all"), (1.0, "all"), (0.1, "most")])
def test_what_is_no_smoothing_is_refused(eps, convention):
    with pytest.raises(ValueError, match="label smoothing"):
        smoothed(eps, convention)


def test_nothing_listens_to_the_model_afterwards():
    model = Model()
    smoothed(0.1, "all", model)
    assert model(tensor(IDS)).shape == (2, 3, CLASSES)
    assert not model._forward_hooks
