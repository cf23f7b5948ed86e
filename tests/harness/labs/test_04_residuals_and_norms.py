"""The numbers of lab 04, and the small modules that they come from."""

import numpy as np
import pytest
import torch

from assignment.framework import TensorBackend, tensor
from handouts.labs import city_training, layer_gradients, norms, plain_stack, residual_stream
from handouts.labs.city_language import city_language
from handouts.labs.course import modules_basic, nn, transformer
from handouts.labs.superposition import defect


@pytest.fixture
def generator():
    return np.random.default_rng(0)


def company_changes(norm, generator):
    """By how much the output for a sequence changes when three others join the batch."""
    own = generator.standard_normal((1, 6, 16))
    batch = np.concatenate([own, generator.standard_normal((3, 6, 16)) * 2 + 1])
    return np.abs(norm(batch)[:1] - norm(own)).max()


def layer_norm(x):
    return modules_basic.LayerNorm1d(16)(tensor(x)).to_numpy()


def test_layer_norm_of_a_sequence_does_not_change_when_others_join_and_batch_norm_does(generator):
    assert company_changes(layer_norm, generator) == 0.0
    assert company_changes(norms.batch_norm, generator) > 1


def test_a_layer_norm_that_looks_at_the_batch_is_seen(monkeypatch, generator):
    monkeypatch.setattr(modules_basic.LayerNorm1d, "forward", lambda _, x: tensor(norms.batch_norm(x.to_numpy())))
    assert company_changes(layer_norm, generator) > 1


def test_batch_norm_is_that_of_torch(generator):
    x = generator.standard_normal((3, 5, 4)) * 3 + 1
    expected = torch.nn.functional.batch_norm(torch.from_numpy(x).reshape(15, 4), None, None, training=True, eps=1e-5)
    np.testing.assert_allclose(norms.batch_norm(x).reshape(15, 4), expected.numpy(), atol=1e-12)


def test_what_a_scale_changes_of_layer_norm_is_what_torch_finds_and_of_the_size_of_eps(generator):
    x = generator.standard_normal((4, 6, 16))
    scaled, plain = (torch.nn.functional.layer_norm(torch.from_numpy(part), (16,)).numpy() for part in (7.5 * x, x))
    np.testing.assert_allclose(norms.change_by_scale(x, 7.5), scaled - plain, atol=1e-13)
    assert 1e-6 < np.abs(scaled - plain).max() < 1e-4


def test_sixty_four_plain_layers_leave_6_to_the_minus_32_of_a_gradient_and_residuals_with_norms_keep_it():
    assert pytest.approx(1.2565e-25, rel=1e-4, abs=0) == plain_stack.PLAIN_GAIN**64
    plain, _ = plain_stack.gain_and_size(plain_stack.PLAIN, 64, 256, seed=0)
    assert 0.3 < plain / 1.2565e-25 < 3
    _, size = plain_stack.gain_and_size(plain_stack.RESIDUAL, 64, 64, seed=0)
    assert size > 1e5
    kept, _ = plain_stack.gain_and_size(plain_stack.NORMED, 64, 64, seed=0)
    assert 1 < kept < 10


@pytest.mark.parametrize("kind", plain_stack.KINDS)
def test_a_stack_of_two_is_what_torch_computes(kind, generator):
    stack, x = plain_stack.Stack(kind, 2, 6, TensorBackend(seed=1)), generator.standard_normal((3, 6))
    expected = torch.from_numpy(x)
    for number in range(2):
        linear = getattr(stack, f"linear_{number}")
        weights, bias = (torch.from_numpy(part.value.to_numpy()) for part in (linear.weights, linear.bias))
        inside = torch.nn.functional.layer_norm(expected, (6,)) if kind == plain_stack.NORMED else expected
        outside = torch.relu(inside @ weights + bias)
        expected = outside if kind == plain_stack.PLAIN else expected + outside
    np.testing.assert_allclose(stack(tensor(x)).to_numpy(), expected.numpy(), atol=1e-12)


def test_a_stack_of_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="kind 'highway'; expected one of plain"):
        plain_stack.Stack("highway", 1, 4, TensorBackend())


def test_the_distance_from_affine_is_0_for_an_affine_map_and_known_for_a_square(generator):
    x, y = generator.standard_normal((2, 3, 8))
    assert defect(modules_basic.Linear(8, 5), x, y) < 1e-14
    assert defect(lambda z: z * z, x, x) == pytest.approx(0.5, rel=1e-12)  # (2x)^2 - 2 x^2 over (2x)^2


def test_attention_is_affine_where_there_is_nothing_to_choose_and_the_feed_forward_network_is_not(generator):
    x, y = generator.standard_normal((2, 4, 24, 64)) * 0.5**0.5
    attention = transformer.MultiHeadAttention(64, 4, p_dropout=0.0, backend=TensorBackend(seed=0))
    assert defect(attention, x[:, :1], y[:, :1]) < 1e-14
    assert defect(attention, x, y) > 0.1
    assert defect(transformer.FeedForward(64, p_dropout=0.0, backend=TensorBackend(seed=0)), x, y) > 0.1


def test_the_two_models_begin_with_the_same_numbers_and_differ_by_the_last_norm():
    pre, post = (
        city_training.language_model(kind, city_language(), 8, 2, seed=3).state()
        for kind in (city_training.PRE, city_training.POST)
    )
    assert pre.keys() - post.keys() == {"ln.weights", "ln.bias"}
    assert post.keys() < pre.keys()
    for name, values in post.items():
        np.testing.assert_array_equal(values, pre[name])


def test_a_post_ln_stream_keeps_its_size_and_a_pre_ln_stream_grows():
    text = city_language().draw(np.random.default_rng(0), 4, 12)
    post, pre = (
        residual_stream.sizes(city_training.language_model(kind, city_language(), 32, 8, seed=0), text, 8)
        for kind in (city_training.POST, city_training.PRE)
    )
    np.testing.assert_allclose(post, 1, atol=1e-3)
    assert pre[-1] > pre[0] > 1


def test_with_a_last_norm_that_does_nothing_the_logits_without_it_are_the_models_own(monkeypatch):
    model = city_training.language_model(city_training.PRE, city_language(), 8, 2, seed=0)
    text = city_language().draw(np.random.default_rng(0), 2, 5)
    found = residual_stream.logits_without_last_norm(model, text, 2)
    assert np.abs(found - model(tensor(text, model.backend)).to_numpy()).max() > 0.1
    monkeypatch.setattr(model.ln, "forward", lambda x: x)
    np.testing.assert_allclose(found, model(tensor(text, model.backend)).to_numpy(), atol=1e-6)


def test_the_gradient_of_the_last_layer_grows_with_depth_for_post_ln_and_shrinks_for_pre_ln():
    text = city_language().draw(np.random.default_rng(0), 2, 24)

    def last(kind, n_layer):
        models = [city_training.language_model(kind, city_language(), 32, n_layer, seed) for seed in range(3)]
        return np.mean([layer_gradients.gradient_norms(model, text, n_layer)[-1] for model in models])

    assert last(city_training.POST, 32) > 1.1 * last(city_training.POST, 2)
    assert last(city_training.PRE, 32) < 0.75 * last(city_training.PRE, 2)


def test_a_gradients_length_is_the_slope_of_the_loss_along_it():
    text = city_language().draw(np.random.default_rng(0), 2, 6)
    model = transformer.DecoderLM(56, 8, 2, 6, 0.0, backend=TensorBackend(seed=0), n_layer=2)
    length = layer_gradients.gradient_norms(model, text, 2)[1]
    weights = model.t_layer_2.ff.linear_out.weights
    start, direction = weights.value, tensor(weights.grad.to_numpy() / length)

    def loss(shift):
        weights.update(start + direction * shift)
        logits = model(tensor(text[:, :-1])).view(12, 56)  # (2, 6, 56) -> (12, 56)
        return nn.softmax_loss(logits, tensor(text[:, 1:].reshape(12))).mean().item()

    assert (loss(1e-4) - loss(-1e-4)) / 2e-4 == pytest.approx(length, rel=1e-6)


def test_a_run_comes_nearer_to_the_floor_and_its_curve_has_a_point_for_every_stretch():
    run = city_training.Run(
        city_training.language_model(city_training.PRE, city_language(), 16, 1, 0), city_language(), 0
    )
    curve = run.curve([1e-2] * 30, 10)
    assert len(curve) == 4
    assert curve[0] > 2800 > curve[-1] > 0
