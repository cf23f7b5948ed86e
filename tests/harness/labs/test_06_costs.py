"""Lab 06: the numbers of lecture 6, section 8, and the small modules that find them."""

import itertools

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from assignment.framework import Module, Parameter, TensorBackend, ones, tensor, tensor_from_numpy
from handouts.labs import activations, decoder_only, parameters, stopwatch
from handouts.labs.counting import matmul_flops, operations
from handouts.labs.course import transformer
from handouts.labs.decoder_only import GPT2_SMALL, Decoder
from handouts.labs.kept_by_framework import kept_numbers
from handouts.labs.saved_tensors import saved_numbers
from handouts.labs.torch_decoder import Block, TorchDecoder

SMALL = Decoder(vocab=11, dim=8, layers=2, positions=6)


@pytest.fixture
def backend():
    return TensorBackend(seed=0)


def shares(part: str) -> float:
    flops = decoder_only.flops_by_part(GPT2_SMALL, 1024)
    return 100 * flops[part] / sum(flops.values())


# Parameters


def test_a_layer_of_width_1024_has_12596224_parameters_two_thirds_in_the_feed_forward_part():
    assert parameters.block(1024, 4096) == 12_596_224
    assert parameters.feed_forward(1024, 4096) / 12_596_224 == pytest.approx(0.666, abs=5e-4)


@pytest.mark.parametrize(
    ("dim", "layers", "published"),
    [(768, 12, 124_439_808), (1024, 24, 354_823_168), (1280, 36, 774_030_080), (1600, 48, 1_557_611_200)],
)
def test_the_four_gpt2_have_their_published_numbers_of_parameters(dim, layers, published):
    model = Decoder(vocab=50_257, dim=dim, layers=layers, positions=1024)
    assert sum(decoder_only.parameters_by_part(model).values()) == published


def test_gpt2_small_is_the_first_of_them():
    assert Decoder(50_257, 768, 12, 1024) == GPT2_SMALL


def test_the_formula_counts_our_model_without_its_output_layer(backend):
    model = transformer.DecoderLM(11, 8, 2, 6, backend=backend, n_layer=2)
    formula = sum(decoder_only.parameters_by_part(SMALL).values())
    assert parameters.counted(model, without="lm_head") == formula
    assert parameters.counted(model) == formula + 11 * 8 + 11


# FLOPs


def test_gpt2_small_takes_284_8_mflops_a_token():
    flops = decoder_only.flops_by_part(GPT2_SMALL, 1024)
    assert sum(flops.values()) / 1e6 == pytest.approx(284.8, abs=0.05)
    assert shares("feed-forward") == pytest.approx(39.8, abs=0.05)
    assert shares("output layer") == pytest.approx(27.1, abs=0.05)
    assert shares("q, k, v projections") == pytest.approx(14.9, abs=0.05)
    assert shares("attention core") == pytest.approx(13.3, abs=0.05)


def test_twice_the_parameters_is_248_9_million():
    assert 2 * sum(decoder_only.parameters_by_part(GPT2_SMALL).values()) / 1e6 == pytest.approx(248.9, abs=0.05)


@pytest.mark.parametrize(("model", "heads", "length"), [(GPT2_SMALL, 12, 1024), (SMALL, 2, 5)])
def test_the_formula_is_pytorchs_count(model, heads, length):
    with torch.device("meta"):
        twin, ids = TorchDecoder(model, heads), torch.zeros(1, length, dtype=torch.long)
    with FlopCounterMode(display=False) as counter:
        twin(ids)
    assert length * sum(decoder_only.flops_by_part(model, length).values()) == counter.get_total_flops()


def test_without_the_values_product_the_formula_is_not_pytorchs_count(monkeypatch):
    monkeypatch.setattr(decoder_only, "attention_flops", lambda dim, length: 2 * length * dim)
    assert shares("attention core") != pytest.approx(13.3, abs=0.05)
    assert decoder_only.crossing(768) != 4608
    assert decoder_only.attention_share(4096, 2048) != pytest.approx(0.077, abs=5e-4)


def test_the_formula_is_what_our_framework_multiplies(backend):
    model = transformer.DecoderLM(11, 8, 2, 6, p_dropout=0.0, backend=backend, n_layer=2)
    done = operations(lambda: model(tensor(np.zeros((1, 5)), backend)))
    assert matmul_flops(done) == 5 * sum(decoder_only.flops_by_part(SMALL, 5).values())
    assert sum(one.kind == "matmul" for one in done) == 2 * 8 + 1


def test_attention_takes_half_of_the_flops_at_six_times_the_width():
    assert [decoder_only.crossing(dim) for dim in (768, 4096)] == [4608, 24_576]
    assert decoder_only.attention_share(768, 4608) == 0.5


@pytest.mark.parametrize(("length", "share"), [(2048, 7.7), (32_768, 57.1), (131_072, 84.2)])
def test_attentions_share_in_llama_7b(length, share):
    assert 100 * decoder_only.attention_share(4096, length) == pytest.approx(share, abs=0.05)


# Activations


def test_a_stack_of_scores_is_4_gib_where_a_row_matrix_is_64_mib():
    assert activations.bytes_of_scores(8192, heads=32, width=2) == 4 * 2**30
    assert activations.bytes_of_rows(8192, dim=4096, width=2) == 64 * 2**20


def test_a_layer_saves_16_row_matrices_and_one_stack_of_scores():
    lengths = [32, 64, 128, 256]
    block = Block(64, heads=4)
    saved = [saved_numbers(block, torch.zeros(1, length, 64, requires_grad=True)) for length in lengths]
    fit = activations.fit(lengths, saved, dim=64, heads=4)
    assert fit.rows == pytest.approx(16, abs=0.5)
    assert fit.scores == pytest.approx(1, abs=0.02)
    assert fit.crossing(64, 4) == pytest.approx(257, abs=8)


def test_a_layer_that_keeps_its_scores_as_well_as_softmaxs_result_does_not_fit(monkeypatch):
    def core(_, q, k, v):
        heads = (q @ k.mT).square().softmax(-1) @ v  # the square saves the scores: (B, h, S, S)
        return heads.transpose(1, 2).flatten(2)  # (B, h, S, Dh) -> (B, S, h, Dh) -> (B, S, D)

    monkeypatch.setattr(Block, "core", core)
    lengths = [32, 64, 128]
    block = Block(64, heads=4)
    saved = [saved_numbers(block, torch.zeros(1, length, 64, requires_grad=True)) for length in lengths]
    assert activations.fit(lengths, saved, dim=64, heads=4).scores == pytest.approx(2, abs=0.02)


@pytest.mark.parametrize(
    ("layer", "expected"),
    [
        (nn.Linear(3, 5), 4 * 3),  # its input; its weights are there anyway
        (nn.Softmax(-1), 4 * 3),  # its result
        (nn.Sequential(nn.Softmax(-1), nn.Linear(3, 5)), 4 * 3),  # … which is the input of the next, too: once
        (nn.Sequential(nn.Linear(3, 5), nn.GELU()), 4 * 3 + 4 * 5),
    ],
)
def test_what_pytorch_saves_is_counted_once_and_without_parameters(layer, expected):
    assert saved_numbers(layer, torch.zeros(4, 3, requires_grad=True)) == expected


def test_what_our_framework_saves_is_counted_once_and_without_parameters(backend):
    class Square(Module):
        def __init__(self):
            super().__init__()
            self.weights = Parameter(ones((3, 5), backend=backend))

        def forward(self, x):
            y = x.view(4, 3) @ self.weights.value  # keeps x, through a view
            return y.exp().sum(dim=1) + x.view(4, 3).exp().sum(dim=1)  # keep their results: (4, 5), (4, 3)

    module, x = Square(), tensor_from_numpy(np.ones((2, 2, 3)), backend, requires_grad=True)
    assert kept_numbers(module(x), module) == 4 * 3 + 4 * 5 + 4 * 3


def test_a_fit_finds_what_was_put_in():
    lengths = [10, 20, 40]
    saved = [7 * n * 8 + 3 * 2 * n * n for n in lengths]
    fit = activations.fit(lengths, saved, dim=8, heads=2)
    assert (fit.rows, fit.scores) == pytest.approx((7, 3), abs=1e-9)
    assert fit.crossing(8, 2) == pytest.approx(7 * 8 / (3 * 2), abs=1e-9)


def test_the_layer_in_pytorch_is_ours(backend):
    ours = transformer.TransformerLayer(8, 2, p_dropout=0.0, backend=backend)
    twin = Block(8, heads=2).double()
    names = {
        "q": ours.attention.q_projection,
        "k": ours.attention.k_projection,
        "v": ours.attention.v_projection,
        "out": ours.attention.out_projection,
        "linear_in": ours.ff.linear_in,
        "linear_out": ours.ff.linear_out,
    }
    for name, module in names.items():
        weight, bias = torch.tensor(module.weights.value.to_numpy()), torch.tensor(module.bias.value.to_numpy())
        getattr(twin, name).load_state_dict({"weight": weight.T, "bias": bias})  # (in, out) -> (out, in)
    x = np.random.default_rng(0).normal(size=(2, 5, 8))
    expected = twin(torch.tensor(x)).detach().numpy()
    assert ours(tensor_from_numpy(x, backend)).to_numpy() == pytest.approx(expected, abs=1e-12)


# Time


def test_the_shortest_of_many_rounds_counts_and_the_first_does_not(monkeypatch):
    runs = itertools.count()
    clock = 0.0

    def task():
        nonlocal clock
        clock += [0.01, 3.0, 2.0, 4.0, 2.5, 6.0][next(runs)]

    monkeypatch.setattr(stopwatch.time, "process_time", lambda: clock)
    assert stopwatch.shortest(task, lambda: None) == [2.0, 0.0]
    assert next(runs) == 6


def test_quick_tasks_are_timed_for_half_a_second(monkeypatch):
    clock = 0.0

    def task():
        nonlocal clock
        clock += 0.0625

    monkeypatch.setattr(stopwatch.time, "process_time", lambda: clock)
    assert stopwatch.shortest(task) == [0.0625]
    assert clock == 0.0625 * (1 + 8)
