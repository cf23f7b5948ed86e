"""Optimisers against torch's, the schedule against its formula, and the average of checkpoints."""

import numpy as np
import pytest
import torch

from assignment.framework import SGD, Adam, Parameter, average_checkpoints, tensor, warmup_learning_rate

TARGET = np.array([0.3, -1.0, 2.0])


def distances(make, torch_make, steps=20):
    """The largest difference after so many steps on the same curved loss."""
    start = np.array([1.0, 2.0, -0.5])
    parameter, other = Parameter(tensor(start)), torch.tensor(start, requires_grad=True)
    optimiser, torch_optimiser = make([parameter]), torch_make([other])
    for _ in range(steps):
        optimiser.zero_grad()
        ((parameter.value - TARGET) ** 4).sum().backward()
        optimiser.step()
        torch_optimiser.zero_grad()
        ((other - torch.tensor(TARGET)) ** 4).sum().backward()
        torch_optimiser.step()
    return np.abs(parameter.value.to_numpy() - other.detach().numpy()).max()


def test_sgd_walks_as_torchs():
    assert distances(lambda p: SGD(p, lr=0.01), lambda p: torch.optim.SGD(p, lr=0.01)) < 1e-12


@pytest.mark.parametrize(("beta1", "beta2", "eps"), [(0.9, 0.999, 1e-8), (0.5, 0.7, 1e-3)])
def test_adam_walks_as_torchs(beta1, beta2, eps):
    ours = lambda p: Adam(p, lr=0.05, beta1=beta1, beta2=beta2, eps=eps)  # noqa: E731  # a pair with the next line
    theirs = lambda p: torch.optim.Adam(p, lr=0.05, betas=(beta1, beta2), eps=eps)  # noqa: E731
    assert distances(ours, theirs) < 1e-12


@pytest.mark.parametrize("kind", [SGD, Adam])
def test_a_parameter_without_a_gradient_is_left_alone(kind):
    used, unused = Parameter(tensor([1.0])), Parameter(tensor([1.0]))
    optimiser = kind([used, unused], lr=0.1)
    (used.value * 2).backward()
    optimiser.step()
    assert unused.value.item() == 1.0
    assert used.value.item() < 1.0


@pytest.mark.parametrize("kind", [SGD, Adam])
def test_a_step_changes_no_array_that_somebody_holds(kind):
    parameter = Parameter(tensor([1.0, 2.0]))
    held, gradient = parameter.value.to_numpy(), np.array([0.5, -0.5])
    (parameter.value * 1).backward(gradient)
    kind([parameter], lr=0.1).step()
    assert held.tolist() == [1.0, 2.0]
    assert parameter.grad.to_numpy().tolist() == gradient.tolist() == [0.5, -0.5]


def test_the_warm_up_schedule_rises_to_its_peak_and_falls_with_the_root():
    rates = [warmup_learning_rate(step, n_embd=512, warmup_steps=4000) for step in (1, 2000, 4000, 16000)]
    assert rates == pytest.approx(
        [512**-0.5 * 4000**-1.5, 512**-0.5 * 2000 * 4000**-1.5, 512**-0.5 * 4000**-0.5, 512**-0.5 * 16000**-0.5]
    )
    assert max(rates) == rates[2]
    with pytest.raises(ValueError, match="got step 0; expected 1 or more"):
        warmup_learning_rate(0, 512)


def test_the_average_of_checkpoints_is_the_mean_of_each_parameter():
    states = [{"a": np.array([1.0, 2.0]), "b": np.array([3.0])}, {"a": np.array([3.0, 6.0]), "b": np.array([5.0])}]
    average = average_checkpoints(states)
    assert {name: value.tolist() for name, value in average.items()} == {"a": [2.0, 4.0], "b": [4.0]}
    with pytest.raises(ValueError, match="got no states"):
        average_checkpoints([])
    with pytest.raises(ValueError, match="different models"):
        average_checkpoints([*states, {"a": np.array([1.0, 2.0])}])
