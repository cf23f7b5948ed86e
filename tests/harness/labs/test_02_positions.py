"""Lab 02: the numbers of lecture 6, section 4, and the small modules that find them."""

import math

import numpy as np
import pytest
import torch

from assignment.framework import TensorBackend, tensor
from handouts.labs import angles, encoder_decoder, parameters, sinusoidal
from handouts.labs.course import transformer
from handouts.labs.encoder_decoder import BASE, BIG, Original

POSITIONS = np.arange(2048)


@pytest.fixture(scope="module")
def codes():
    return sinusoidal.encode(POSITIONS, 512)


def test_an_encoding_is_the_formula_of_the_paper():
    found = sinusoidal.encode([0, 3, 70], 6)
    for row, t in zip(found, (0, 3, 70), strict=True):
        angles = [t / 10_000 ** (2 * i / 6) for i in range(3)]
        expected = [wave(angle) for angle in angles for wave in (math.sin, math.cos)]
        assert row == pytest.approx(expected, abs=1e-12)


def test_wavelengths_go_from_6_28_to_60611_positions():
    wavelengths = sinusoidal.wavelengths(512)
    assert len(wavelengths) == 256
    assert wavelengths[0] == pytest.approx(6.28, abs=0.005)
    assert wavelengths[-1] == pytest.approx(60_611, abs=0.5)


def test_another_base_has_other_wavelengths(monkeypatch):
    monkeypatch.setattr(sinusoidal, "BASE", 9_990.0)
    assert sinusoidal.wavelengths(512)[-1] != pytest.approx(60_611, abs=0.5)


def test_an_odd_size_is_refused():
    with pytest.raises(ValueError, match="7 features cannot be split into pairs; choose an even number"):
        sinusoidal.encode([0], 7)


def test_distances_are_those_of_torch():
    vectors = np.random.default_rng(0).normal(size=(5, 6))
    expected = torch.cdist(torch.tensor(vectors), torch.tensor(vectors)).numpy()
    assert sinusoidal.distance_matrix(vectors) == pytest.approx(expected, abs=1e-7)


def test_the_two_closest_of_2048_are_3_714_apart_and_neighbours(codes):
    distances = sinusoidal.distance_matrix(codes) + np.diag(np.full(len(codes), np.inf))
    assert distances.min() == pytest.approx(3.714, abs=5e-4)
    assert set(np.abs(distances.argmin(axis=1) - POSITIONS)) == {1}


@pytest.mark.parametrize("k", [1, 7, 300])
def test_a_shift_is_a_rotation(codes, k):
    turned = sinusoidal.rotate(codes[:100], k)
    assert np.abs(turned - codes[k : 100 + k]).max() < 1e-12


def test_a_rotation_the_other_way_is_not_the_shift(codes):
    assert np.abs(sinusoidal.rotate(codes[:100], -7) - codes[7:107]).max() > 0.1


@pytest.mark.parametrize("k", [0, 1, 10, 100, 1000])
def test_a_dot_product_depends_on_the_distance_only(codes, k):
    products = (codes[:100] * codes[k : 100 + k]).sum(axis=1)
    assert products.std() < 1e-12
    by_hand = sum(math.cos(k / 10_000 ** (2 * i / 512)) for i in range(256))
    assert sinusoidal.dot_product([k], 512) == pytest.approx([by_hand], abs=1e-11)
    assert products == pytest.approx(by_hand, abs=1e-11)


def test_every_encoding_has_the_norm_16(codes):
    assert np.linalg.norm(codes, axis=1) == pytest.approx(16, abs=1e-12)


def test_a_table_of_8_positions_refuses_9():
    backend = TensorBackend(seed=0)
    model = transformer.DecoderLM(20, 8, 2, 8, backend=backend, n_layer=1)
    assert model(tensor([[3] * 8], backend)).shape == (1, 8, 20)
    with pytest.raises(ValueError, match=r"9 tokens.*n_positions=8"):
        model(tensor([[3] * 9], backend))


def test_a_cosine_is_that_of_torch():
    a, b = np.random.default_rng(1).normal(size=(2, 4, 6))
    expected = torch.cosine_similarity(torch.tensor(a), torch.tensor(b)).mean().item()
    assert angles.mean_cosine(a, b) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize(("scale", "lecture", "formula"), [(1, 0.064, 257**-0.5), (512**0.5, 0.816, (2 / 3) ** 0.5)])
def test_a_token_drowns_unless_it_is_scaled(codes, scale, lecture, formula):
    tokens = np.random.default_rng(512).normal(size=(2048, 512)) * 512**-0.5 * scale
    assert angles.mean_cosine(tokens, tokens + codes) == pytest.approx(lecture, abs=0.01)
    assert angles.expected_cosine(scale, 16) == pytest.approx(formula, abs=1e-12)


@pytest.mark.parametrize(("model", "heads"), [(BASE, 8), (BIG, 16)])
def test_the_original_has_as_many_parameters_as_torch_counts(model, heads):
    layer = {"d_model": model.dim, "nhead": heads, "dim_feedforward": model.middle, "device": "meta"}
    layers = torch.nn.TransformerEncoderLayer(**layer), torch.nn.TransformerDecoderLayer(**layer)
    each = sum(parameter.numel() for module in layers for parameter in module.parameters())
    assert encoder_decoder.total(model) == 6 * each + 37_000 * model.dim
    assert encoder_decoder.total(model, shared=False) == 6 * each + 3 * 37_000 * model.dim


def test_base_has_63_million_of_which_sharing_saves_37_5_percent():
    assert encoder_decoder.total(BASE) == 63_082_496
    assert encoder_decoder.saving(BASE) == pytest.approx(0.375, abs=5e-4)


def test_big_has_the_papers_213_million_to_one_percent():
    assert encoder_decoder.total(BIG) == pytest.approx(213e6, rel=0.01)


def test_a_decoder_without_cross_attention_would_not_fit(monkeypatch):
    whole = encoder_decoder.parts
    monkeypatch.setattr(
        encoder_decoder,
        "parts",
        lambda model, *, shared=True: [part for part in whole(model, shared=shared) if part.name != "cross-attention"],
    )
    assert encoder_decoder.total(BASE) != 63_082_496
    assert encoder_decoder.saving(BASE) != pytest.approx(0.375, abs=5e-4)


@pytest.mark.parametrize("dim", [8, 24])
def test_the_formula_of_each_part_counts_its_module(dim):
    backend = TensorBackend(seed=0)
    assert parameters.counted(transformer.MultiHeadAttention(dim, 2, backend=backend)) == parameters.attention(dim)
    assert parameters.counted(transformer.FeedForward(dim, 10, backend=backend)) == parameters.feed_forward(dim, 10)
    assert parameters.counted(transformer.TransformerLayer(dim, 2, backend=backend)) == parameters.block(dim, 4 * dim)


def test_a_tiny_original_counted_by_hand():
    attention, feed_forward, norm = 4 * (4 + 2), (6 + 3) + (6 + 2), 4
    encoder, decoder = attention + feed_forward + 2 * norm, 2 * attention + feed_forward + 3 * norm
    assert encoder_decoder.total(Original(vocab=5, dim=2, middle=3, layers=1)) == encoder + decoder + 10
