"""Both conventions of label smoothing, against torch and against their formulas."""

import numpy as np
import pytest
import torch

from assignment.framework import Module, tensor
from assignment.training.smoothing import smoothed_loss, smoothed_losses
from solution import nn, translation

pytestmark = pytest.mark.usefixtures("reference")

CLASSES = 5
EPS = (0.0, 0.1, 0.4)


@pytest.fixture
def drawn():
    generator = np.random.default_rng(0)
    return generator.standard_normal((4, CLASSES)), generator.integers(CLASSES, size=4)


@pytest.mark.parametrize("eps", EPS)
def test_smoothing_over_all_classes_is_that_of_torch_with_its_gradient(drawn, eps):
    logits, target = tensor(drawn[0], requires_grad=True), tensor(drawn[1])
    losses = smoothed_losses(logits, target, eps, "all")
    losses.sum().backward()
    theirs = torch.tensor(drawn[0], requires_grad=True)
    expected = torch.nn.CrossEntropyLoss(reduction="none", label_smoothing=eps)(theirs, torch.tensor(drawn[1]))
    expected.sum().backward()
    np.testing.assert_allclose(losses.to_numpy(), expected.detach().numpy(), rtol=1e-12)
    np.testing.assert_allclose(logits.grad.to_numpy(), theirs.grad.numpy(), atol=1e-12)


@pytest.mark.parametrize("eps", EPS)
def test_smoothing_over_the_others_is_the_cross_entropy_with_their_share(drawn, eps):
    logits, target = drawn
    log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    aim = np.full((4, CLASSES), eps / (CLASSES - 1))
    aim[np.arange(4), target] = 1 - eps
    found = smoothed_losses(tensor(logits), tensor(target), eps, "others")
    assert found.shape == (4,)
    np.testing.assert_allclose(found.to_numpy(), -(aim * log_p).sum(axis=1), rtol=1e-12)


def test_the_two_conventions_are_one_with_another_eps(drawn):
    logits, target = map(tensor, drawn)
    others = smoothed_losses(logits, target, 0.2, "others").to_numpy()
    np.testing.assert_allclose(others, smoothed_losses(logits, target, 0.25, "all").to_numpy(), rtol=1e-12)
    assert np.abs(others - smoothed_losses(logits, target, 0.2, "all").to_numpy()).max() > 0.01


@pytest.mark.parametrize("convention", ["all", "others"])
def test_without_mass_to_move_it_is_the_softmax_loss(drawn, convention):
    logits, target = map(tensor, drawn)
    plain = nn.softmax_loss(logits, target).to_numpy()
    np.testing.assert_allclose(smoothed_losses(logits, target, 0.0, convention).to_numpy(), plain, rtol=1e-12)


@pytest.mark.parametrize(("eps", "convention"), [(-0.1, "all"), (1.0, "all"), (0.1, "most")])
def test_what_is_no_smoothing_is_refused(drawn, eps, convention):
    with pytest.raises(ValueError, match="label smoothing"):
        smoothed_losses(*map(tensor, drawn), eps, convention)


class Table(Module):
    """A language model that looks the next word's logits up."""

    def __init__(self):
        super().__init__()
        self.table = np.random.default_rng(1).standard_normal((CLASSES, CLASSES))

    def forward(self, idx):
        return tensor(self.table[idx.to_numpy().astype(int)])


@pytest.mark.parametrize(("eps", "convention"), [(0.0, "all"), (0.3, "all"), (0.3, "others")])
def test_the_loss_of_a_batch_is_the_weighted_mean_as_without_smoothing(eps, convention):
    ids = np.array([[3, 4, 1], [2, 1, 0]])
    labels, weights = np.array([[4, 1, 2], [1, 0, 0]]), np.array([[0, 1, 1], [1, 0, 0]])
    batch = {"input_ids": tensor(ids), "labels": tensor(labels), "label_token_weights": tensor(weights)}
    each = smoothed_losses(tensor(Table().table[ids[weights == 1]]), tensor(labels[weights == 1]), eps, convention)
    found = smoothed_loss(batch, Table(), eps, convention).item()
    assert found == pytest.approx(each.to_numpy().mean(), rel=1e-12)
    if not eps:
        assert found == pytest.approx(translation.loss_fn(batch, Table()).item(), rel=1e-12)
