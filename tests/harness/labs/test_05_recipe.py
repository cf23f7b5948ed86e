"""The numbers of lab 05, and the small modules that they come from."""

import math

import numpy as np
import pytest
import torch

from assignment.framework import Adam, Module, TensorBackend, tensor, warmup_learning_rate, zeros
from handouts.labs import (
    city_training,
    first_steps,
    free_running,
    output_limit,
    padding,
    smoothed_targets,
    teacher_forcing,
)
from handouts.labs.city_language import city_language, expected_above_floor
from handouts.labs.course import transformer

CONVENTIONS = ("all", "others")


@pytest.fixture
def generator():
    return np.random.default_rng(0)


@pytest.fixture
def small_model():
    return transformer.DecoderLM(56, 16, 4, 10, 0.0, backend=TensorBackend(seed=0), n_layer=2)


SENTENCE = np.array([0, 30, 20, 50, 10, 40, 45, 0])


class Fixed(Module):
    """Gives the same logits (V,) at every position."""

    def __init__(self, logits):
        super().__init__()
        self.logits, self.backend = np.array(logits, float), TensorBackend()

    def forward(self, idx):
        return tensor(np.broadcast_to(self.logits, (*idx.shape, len(self.logits))))


def test_one_forward_gives_what_seven_forwards_of_prefixes_give(small_model):
    forwards = []
    small_model.register_forward_hook(lambda *_: forwards.append(1))
    together = teacher_forcing.at_once(small_model, SENTENCE)
    assert len(forwards) == 1
    apart = teacher_forcing.prefix_by_prefix(small_model, SENTENCE)
    assert len(forwards) == 1 + 7
    assert np.abs(together - apart).max() < 1e-14


def test_without_the_causal_mask_one_forward_gives_something_else(monkeypatch, small_model):
    monkeypatch.setattr(transformer.MultiHeadAttention, "create_causal_mask", lambda _, n: zeros((1, 1, n, n)))
    together, apart = (
        way(small_model, SENTENCE) for way in (teacher_forcing.at_once, teacher_forcing.prefix_by_prefix)
    )
    assert np.abs(together - apart).max() > 1e-3


def test_the_probabilities_of_the_words_are_those_of_torchs_log_softmax(small_model):
    logits = torch.from_numpy(small_model(tensor(SENTENCE[None, :-1])).to_numpy()[0])
    expected = -torch.nn.functional.cross_entropy(logits, torch.from_numpy(SENTENCE[1:]), reduction="none")
    np.testing.assert_allclose(teacher_forcing.at_once(small_model, SENTENCE), expected.numpy(), atol=1e-12)


def test_the_smoothed_targets_of_ten_classes_are_the_published_ones():
    slides, torchs = (smoothed_targets.target(10, 3, 0.1, convention) for convention in ("others", "all"))
    np.testing.assert_allclose(slides, [0.1 / 9] * 3 + [0.9] + [0.1 / 9] * 6, atol=1e-12)
    np.testing.assert_allclose(torchs, [0.01] * 3 + [0.91] + [0.01] * 6, atol=1e-12)
    assert np.abs(slides - torchs).max() == pytest.approx(0.01, abs=1e-12)


def test_a_smoothing_of_no_known_convention_is_refused():
    with pytest.raises(ValueError, match="convention 'most'; expected all or others"):
        smoothed_targets.target(10, 3, 0.1, "most")


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_the_gradient_of_the_given_loss_is_softmax_minus_target(convention, generator):
    logits = generator.standard_normal(10)
    softmax = torch.softmax(torch.from_numpy(logits), 0).numpy()
    target = {"all": [0.01] * 3 + [0.91] + [0.01] * 6, "others": [0.1 / 9] * 3 + [0.9] + [0.1 / 9] * 6}[convention]
    found = smoothed_targets.gradient(logits, 3, 0.1, convention)
    np.testing.assert_allclose(found, softmax - target, atol=1e-14)


def test_the_right_logit_is_best_12_72_above_37000_others():
    gap = smoothed_targets.best_gap(37000, 0.1)
    assert gap == pytest.approx(12.72, abs=0.005)
    weights = np.array([math.exp(gap)] + [1.0] * 36_999)
    assert weights[0] / weights.sum() == pytest.approx(0.9, rel=1e-9)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_the_best_answer_leaves_the_expected_smoothed_loss_no_slope(convention, generator):
    p = generator.dirichlet(np.ones(6))
    answer = smoothed_targets.best_answer(p, 0.2, convention)
    slopes = [smoothed_targets.gradient(np.log(answer), right, 0.2, convention) for right in range(6)]
    np.testing.assert_allclose(p @ np.array(slopes), 0, atol=1e-14)  # (6,) @ (6, 6) -> (6,)


def smoothing_cost():
    often, p = city_language().beginnings()
    answers = smoothed_targets.best_answer(p, 0.1, "all")
    return expected_above_floor(often, p, np.log(answers)), (answers.argmax(axis=1) != p.argmax(axis=1)).sum()


def test_smoothing_by_a_tenth_costs_98_millinats_and_no_argmax():
    often, p = map(torch.from_numpy, city_language().beginnings())
    smooth = torch.log(0.9 * p + 0.1 / 56)
    expected = 1000 * (often * torch.nn.functional.kl_div(smooth, p, reduction="none").sum(-1)).sum().item()
    cost, changed = smoothing_cost()
    assert cost == pytest.approx(expected, rel=1e-9)
    assert cost == pytest.approx(97.7, abs=0.05)
    assert changed == 0


def test_a_smoothing_that_forgets_to_spread_the_mass_costs_something_else(monkeypatch):
    monkeypatch.setattr(smoothed_targets, "best_answer", lambda p, eps, _: np.maximum((1 - eps) * p, 1e-9))
    assert abs(smoothing_cost()[0] - 97.7) > 1


@pytest.mark.parametrize(("step", "rate"), [(2000, 3.49e-4), (4000, 6.99e-4), (16_000, 3.49e-4), (100_000, 1.40e-4)])
def test_the_schedule_of_the_base_model_has_the_published_rates(step, rate):
    assert warmup_learning_rate(step, 512) == pytest.approx(rate, abs=0.5e-6)


def test_the_schedule_of_the_big_model_is_lower_by_the_root_of_two():
    assert warmup_learning_rate(4000, 512) / warmup_learning_rate(4000, 1024) == pytest.approx(2**0.5, rel=1e-12)


GRADIENTS = np.array([sign * 10.0**power for power in range(-6, 4) for sign in (1, -1)])


def test_adams_first_step_is_the_learning_rate_times_the_sign_of_any_gradient():
    first = first_steps.moves(GRADIENTS[None])[0]
    assert np.abs(first - np.sign(GRADIENTS)).max() < 1.1e-3
    np.testing.assert_allclose(first, GRADIENTS / (np.abs(GRADIENTS) + 1e-9), rtol=1e-9)


def test_without_the_correction_of_its_means_adams_first_step_is_another(monkeypatch):
    class Uncorrected(Adam):
        def move(self, index, grad, xp):  # noqa: ARG002  # the optimisers' common signature
            return self.lr * (1 - self.beta1) * grad / (np.sqrt((1 - self.beta2) * grad * grad) + self.eps)

    monkeypatch.setattr(first_steps, "Adam", Uncorrected)
    assert np.abs(first_steps.moves(GRADIENTS[None])[0] - np.sign(GRADIENTS)).max() > 0.2


def test_adams_moves_are_those_of_torch(generator):
    gradients = generator.standard_normal((12, 5))
    parameter = torch.zeros(5, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([parameter], lr=1e-3, betas=(0.9, 0.98), eps=1e-9)
    expected = []
    for gradient in gradients:
        before = parameter.detach().clone()
        parameter.grad = torch.from_numpy(gradient)
        optimizer.step()
        expected.append((before - parameter.detach()).numpy() / 1e-3)
    np.testing.assert_allclose(first_steps.moves(gradients), expected, rtol=1e-9)


def test_in_noise_a_move_falls_from_the_whole_learning_rate_to_0_23_of_it(generator):
    assert first_steps.settled() == pytest.approx(math.sqrt(0.1 / 1.9), rel=1e-12)
    moves = np.sqrt((first_steps.moves(generator.standard_normal((200, 1000))) ** 2).mean(axis=1))
    assert moves[0] == pytest.approx(1, abs=1e-6)
    assert moves[-50:].mean() == pytest.approx(0.2294, abs=0.01)


def test_the_share_of_padding_is_what_one_counts():
    lengths = np.array([1, 4, 2, 4])
    batches = [np.array([0, 1]), np.array([2, 3])]  # 8 + 8 places, 11 words
    assert padding.padding_share(lengths, batches) == 5 / 16
    assert padding.padding_share(lengths, [np.array([1, 3])]) == 0


def test_batches_by_length_hold_every_sentence_once_and_hardly_any_padding(generator):
    lengths = generator.integers(6, 17, size=2000)
    batches = padding.by_length(lengths, 32, generator)
    assert sorted(np.concatenate(batches).tolist()) == list(range(2000))
    assert padding.padding_share(lengths, batches) < 0.01
    longest = [lengths[batch].max() for batch in batches]
    assert longest != sorted(longest)
    at_random = padding.padding_share(lengths, padding.cut(np.arange(2000), 32))
    assert at_random == pytest.approx(1 - 11 / 16, abs=0.03)  # the mean of 6 ... 16 over the longest


def test_a_model_that_knows_nothing_spends_most_on_what_cannot_follow():
    language = city_language()
    run = city_training.Run(Fixed(np.zeros(56)), language, seed=0)
    possible = (run.chances > 0).sum(axis=-1).mean()
    assert free_running.impossible_mass(run) == pytest.approx(1 - possible / 56, rel=1e-12)


def test_what_a_model_writes_is_drawn_from_its_own_distribution(generator):
    written = free_running.write(Fixed(np.log([0.2, 0.5, 0.3])), generator, 2000, 3)
    assert written.shape == (2000, 3)
    np.testing.assert_allclose(np.bincount(written.reshape(-1)) / 6000, [0.2, 0.5, 0.3], atol=0.03)


def test_what_a_model_writes_goes_on_from_the_last_word_written(generator):
    class Successor(Fixed):
        def forward(self, idx):  # after 0 comes 1, after 1 comes 2, after 2 comes 0
            return tensor(100 * np.eye(3)[(idx.to_numpy().astype(int) + 1) % 3])

    assert free_running.write(Successor([0, 0, 0]), generator, 2, 5).tolist() == [[1, 2, 0, 1, 2]] * 2


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("in rome people speak italian . rome", None),
        ("in rome people speak german .", 4),
        (". in rome", 0),
        ("the train from rome to rome", 5),
        ("leeds is old and so", None),
    ],
)
def test_the_first_mistake_is_the_first_word_that_cannot_follow(text, place):
    language = city_language()
    assert free_running.first_mistake(language, [language.ids[word] for word in text.split()]) == place


def test_a_mistake_is_marked_within_its_sentence():
    language = city_language()
    text = "in rome people speak german . leeds is"
    ids = [language.ids[word] for word in text.split()]
    assert free_running.marked(language, ids, 4) == "in rome people speak [german] ."
    assert free_running.marked(language, ids[:2], 1) == "in [rome]"


@pytest.mark.parametrize("length", [1, 4, 10])
def test_an_output_has_at_most_fifty_tokens_more_than_its_source(length):
    sources = np.full((2, length), 1)
    endless = output_limit.outputs(Fixed([0, 0, 1]), sources, 0, TensorBackend())
    assert endless == [[2] * (length + 50)] * 2
    assert output_limit.outputs(Fixed([1, 0, 0]), sources, 0, TensorBackend()) == [[], []]
