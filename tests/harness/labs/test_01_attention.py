"""What lab 01 shows: every number that it asserts, and its small modules against torch or by hand."""

import math

import numpy as np
import pytest
import torch
from torch.nn import functional

from assignment.framework import TensorBackend, tensor
from handouts.labs import (
    dot_products,
    film_classifier,
    hiding,
    kv_cache,
    lookup,
    model_classes,
    reading_costs,
    rnn,
    watching,
)
from handouts.labs.counting import matmul_flops, operations
from solution import transformer

WIDTH, HEADS = 16, 2
ROUNDING = 1e-14


def attention(*, causal, width=WIDTH, heads=HEADS):
    return transformer.MultiHeadAttention(width, heads, causal, p_dropout=0.0, backend=TensorBackend(seed=1))


def layers(*, causal, count=2):
    return [
        transformer.TransformerLayer(WIDTH, HEADS, p_dropout=0.0, causal=causal, backend=TensorBackend(seed=seed))
        for seed in range(count)
    ]


@pytest.fixture
def words():
    """Five random vectors: (1, 5, D)."""
    return 3 * np.random.default_rng(0).standard_normal((1, 5, WIDTH))


# 1. A soft look-up


def test_the_keys_are_at_right_angles_and_of_length_one():
    np.testing.assert_array_equal(lookup.KEYS @ lookup.KEYS.T, np.eye(4))


@pytest.mark.parametrize("factor", [1, 4, 16, 64])
def test_a_look_up_is_the_mean_weighted_by_a_softmax(factor):
    powers = [math.exp(factor * fit) for fit in (0.4, 0.9, 0.5, 0.1)]
    expected = sum(power * value for power, value in zip(powers, (10, 20, 30, 40), strict=True)) / sum(powers)
    found = lookup.look_up(lookup.QUERY, lookup.KEYS, lookup.VALUES, factor)
    assert found.value == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(found.weights, np.array(powers) / sum(powers), rtol=1e-12)


def test_the_output_moves_from_a_blend_to_the_value_of_the_best_key():
    values = [lookup.look_up(lookup.QUERY, lookup.KEYS, lookup.VALUES, factor).value for factor in (1, 4, 16, 64)]
    assert [f"{value:.3f}" for value in values] == ["23.530", "21.075", "20.013", "20.000"]


def test_the_slope_of_a_look_up_is_torchs():
    query = torch.tensor(lookup.QUERY, requires_grad=True)
    weights = torch.softmax(4 * query @ torch.tensor(lookup.KEYS).T, dim=1)
    (weights @ torch.tensor(lookup.VALUES)).sum().backward()
    found = lookup.look_up(lookup.QUERY, lookup.KEYS, lookup.VALUES, 4)
    assert found.slope == pytest.approx(float(query.grad.norm()), rel=1e-12)


# 2. Why the scores are divided by sqrt(d)


@pytest.mark.parametrize("size", [4, 64, 256])
def test_dot_products_have_standard_deviation_root_d_and_one_when_divided_by_it(size):
    generator = np.random.default_rng(0)
    assert dot_products.read(size, scaled=False, generator=generator).spread == pytest.approx(size**0.5, rel=0.05)
    assert dot_products.read(size, scaled=True, generator=generator).spread == pytest.approx(1, rel=0.05)


def test_large_scores_saturate_the_softmax_and_divided_ones_do_not():
    raw, scaled = (
        [dot_products.read(size, divided, np.random.default_rng(0)) for size in (16, 256)] for divided in (False, True)
    )
    assert raw[1].largest > 0.85 > raw[0].largest
    assert raw[1].gradient < raw[0].gradient / 10
    assert scaled[1].largest == pytest.approx(scaled[0].largest, rel=0.1)
    assert scaled[1].gradient == pytest.approx(scaled[0].gradient, rel=0.1)


def test_largest_weight_and_gradient_are_torchs():
    again = np.random.default_rng(3)
    queries, keys = again.standard_normal((40, 50, 8)), again.standard_normal((40, 32, 8))
    scores = torch.tensor(queries @ keys.transpose(0, 2, 1) / math.sqrt(8), requires_grad=True)
    weights = torch.softmax(scores, dim=2)
    weights.backward(torch.tensor(again.standard_normal((40, 50, 32))))
    found = dot_products.read(8, scaled=True, generator=np.random.default_rng(3))
    assert found.largest == pytest.approx(float(weights.detach().max(dim=2).values.mean()), rel=1e-12)
    assert found.gradient == pytest.approx(float(np.median(scores.grad.norm(dim=2).numpy())), rel=1e-12)


# 3. The causal mask


def test_the_weights_that_are_watched_are_those_of_torch(words):
    module = attention(causal=True)
    found = watching.attention_weights(module, tensor(words))
    state = {name: torch.tensor(value) for name, value in module.state().items()}
    q, k = (
        (torch.tensor(words) @ state[f"{part}_projection.weights"] + state[f"{part}_projection.bias"])
        .view(1, 5, HEADS, WIDTH // HEADS)  # (B, S, D) -> (B, S, h, Dh)
        .transpose(1, 2)  # (B, h, S, Dh)
        for part in "qk"
    )
    scores = q @ k.mT / math.sqrt(WIDTH // HEADS)  # (B, h, S, Dh) @ (B, h, Dh, S)
    future = torch.ones(5, 5, dtype=torch.bool).triu(1)
    expected = torch.softmax(scores.masked_fill(future, -math.inf), dim=3)
    np.testing.assert_allclose(found, expected.numpy(), rtol=0, atol=1e-14)


def test_watching_leaves_the_module_as_it_was(words):
    module = attention(causal=True)
    before = module(tensor(words)).to_numpy()
    watching.attention_weights(module, tensor(words))
    np.testing.assert_array_equal(module(tensor(words)).to_numpy(), before)
    assert not module.dropout._forward_hooks


def test_causal_weights_above_the_diagonal_are_exactly_zero(words):
    weights = watching.attention_weights(attention(causal=True), tensor(words))
    assert (np.triu(weights, 1) == 0.0).all()
    np.testing.assert_allclose(weights.sum(axis=3), 1, rtol=1e-12)


@pytest.mark.parametrize("place", [0, 2, 4])
def test_a_changed_token_changes_nothing_before_it_and_everything_from_there_on(words, place):
    changed = watching.changes(attention(causal=True), words, place, np.ones(WIDTH))
    assert (changed[:place] == 0.0).all()
    assert (changed[place:] > 1e-6).all()


def test_a_mask_that_adds_too_little_lets_the_future_through(monkeypatch, words):
    monkeypatch.setattr(transformer, "HIDDEN", -10.0)
    weights = watching.attention_weights(attention(causal=True), tensor(words))
    assert (np.triu(weights, 1) > 0).any()
    assert watching.changes(attention(causal=True), words, 2, np.ones(WIDTH))[0] > 0


# 4. Three classes of models, and the chain rule


def test_who_sees_whom():
    classes = model_classes.visible(source=2, target=2)
    assert {name: table.astype(int).tolist() for name, table in classes.items()} == {
        "encoder-only": [[1, 1, 1, 1]] * 4,
        "encoder-decoder": [[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]],
        "decoder-only": [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]],
    }


def test_the_tables_are_drawn_side_by_side():
    drawn = model_classes.drawn({"all": np.ones((2, 2), bool), "causal": np.tri(2, dtype=bool)}, source=1)
    assert drawn.splitlines() == [
        "    all      causal",
        "    x1 y1    x1 y1",
        "x1  #  #     #  .",
        "y1  #  #     #  #",
    ]


@pytest.fixture
def lm():
    model = transformer.DecoderLM(3, 8, 2, n_positions=3, backend=TensorBackend(seed=0), n_layer=1)
    model.eval()
    return model


def test_the_probabilities_of_all_texts_sum_to_one_and_do_not_without_a_mask(lm):
    assert model_classes.sequence_probabilities(lm, n_vocab=3, length=3).sum() == pytest.approx(1, abs=1e-12)
    lm.t_layer_1.attention.causal = False
    assert abs(model_classes.sequence_probabilities(lm, n_vocab=3, length=3).sum() - 1) > 1e-4


def test_a_texts_probability_is_the_product_of_what_each_prefix_predicts(lm):
    expected = 1.0
    for prefix, following in (([0], 2), ([0, 2], 0), ([0, 2, 0], 1)):
        logits = torch.tensor(lm(tensor([prefix])).to_numpy()[0, -1])
        expected *= float(torch.softmax(logits, dim=0)[following])
    found = model_classes.sequence_probabilities(lm, n_vocab=3, length=3)
    assert found[2 * 9 + 0 * 3 + 1] == pytest.approx(expected, rel=1e-12)


# 5. The padding mask, and why -1e9


def test_padding_gets_no_weight_and_does_not_matter(words):
    module, pad_mask = attention(causal=False), tensor([[0, 0, 0, 1, 1]])
    weights = watching.attention_weights(module, tensor(words), pad_mask)
    assert (weights[..., 3:] == 0.0).all()
    assert (watching.changes(lambda x: module(x, pad_mask), words, 4, np.ones(WIDTH))[:3] == 0.0).all()
    alone = module(tensor(words[:, :3])).to_numpy()
    np.testing.assert_allclose(module(tensor(words), pad_mask).to_numpy()[:, :3], alone, rtol=0, atol=ROUNDING)


def test_minus_ten_leaks_minus_a_billion_hides_and_minus_infinity_makes_nan():
    leak = math.exp(-7) / (math.exp(1) + math.exp(2) + math.exp(-7))
    assert hiding.hide(-10.0) == hiding.Hidden(leak=pytest.approx(leak, rel=1e-12), finite=True)
    assert hiding.hide(-1e9) == hiding.Hidden(leak=0.0, finite=True)
    assert hiding.hide(-math.inf) == hiding.Hidden(leak=0.0, finite=False)


# 6. The KV cache


def test_cached_steps_give_what_the_whole_pass_gives_under_a_causal_mask():
    x = np.random.default_rng(0).standard_normal((2, 6, WIDTH))
    cache = kv_cache.KVCache(layers(causal=True))
    np.testing.assert_allclose(cache.run(x), kv_cache.at_once(layers(causal=True), x), rtol=0, atol=ROUNDING)
    assert cache.projected == 6


def test_without_a_mask_no_position_is_right_and_with_one_layer_only_the_last():
    x = np.random.default_rng(0).standard_normal((1, 6, WIDTH))
    for count, right in ((2, []), (1, [5])):
        stack = layers(causal=False, count=count)
        apart = np.abs(kv_cache.KVCache(stack).run(x) - kv_cache.at_once(stack, x)).max(axis=(0, 2))
        assert np.flatnonzero(apart < 1e-6).tolist() == right


# 7. Attention does not know the order


def test_shuffled_words_give_shuffled_outputs_without_a_mask_and_not_with_one():
    generator = np.random.default_rng(0)
    nine, order = generator.standard_normal((1, 9, WIDTH)), generator.permutation(9)
    for causal in (False, True):
        module = attention(causal=causal)
        before, after = module(tensor(nine[:, order])).to_numpy(), module(tensor(nine)).to_numpy()[:, order]
        assert (np.abs(before - after).max() < ROUNDING) != causal


def test_only_positions_tell_two_turned_sentences_apart():
    pair = film_classifier.encoded(
        ["the plot was good but the acting was bad", "the acting was bad but the plot was good"]
    )
    apart = {}
    for positions in (False, True):
        one, other = film_classifier.fresh(positions).pool(tensor(pair)).to_numpy()
        apart[positions] = np.abs(one - other).max()
    assert apart[False] < ROUNDING
    assert apart[True] > 0.01


# 8. What attention costs beside a recurrent network


@pytest.fixture
def recurrent():
    """An RNN of width 6, and torch's with the same weights."""
    ours = rnn.RNN(6, gain=2.0, backend=TensorBackend(seed=0))
    theirs = torch.nn.RNN(6, 6, bias=False, batch_first=True, dtype=torch.float64)
    state = {name: torch.tensor(value) for name, value in ours.state().items()}
    theirs.load_state_dict({"weight_ih_l0": state["input_weights"].T, "weight_hh_l0": state["state_weights"].T})
    return ours, theirs


def test_the_recurrent_network_and_its_gradients_are_torchs(recurrent):
    ours, theirs = recurrent
    generator = np.random.default_rng(1)
    x, upstream = generator.standard_normal((9, 6)), generator.standard_normal((1, 6))
    inputs = torch.tensor(x, requires_grad=True)
    outputs, last = theirs(inputs)  # unbatched: (S, D) and (1, D)
    np.testing.assert_allclose(ours(tensor(x)).to_numpy(), last.detach().numpy(), rtol=0, atol=1e-14)
    outputs[-1].backward(torch.tensor(upstream[0]))
    found = rnn.gradients_by_place(ours, x, upstream)
    np.testing.assert_allclose(found, inputs.grad.norm(dim=1).numpy(), rtol=1e-10)


def test_a_recurrent_network_starts_as_torchs_does():
    model = rnn.RNN(64, gain=1.0, backend=TensorBackend(seed=0))
    for weights in model.state().values():
        assert np.abs(weights).max() <= 1 / 8
        assert weights.std() == pytest.approx(1 / 8 / math.sqrt(3), rel=0.05)


def test_distance_kills_the_gradient_of_a_recurrent_network_and_not_that_of_attention():
    generator = np.random.default_rng(0)
    x, upstream = generator.standard_normal((48, 32)), generator.standard_normal((1, 32))
    through_rnn = rnn.gradients_by_place(rnn.RNN(32, backend=TensorBackend(seed=1)), x, upstream)
    reader = attention(causal=True, width=32)
    through_attention = rnn.gradients_by_place(lambda x: reader(x.view(1, 48, 32))[0, 47:], x, upstream)  # (1, S, D)
    assert through_rnn[0] < 1e-9 * through_rnn[-1]
    assert through_attention[0] > 1e-2 * through_attention[-1]


def test_flops_by_hand():
    assert reading_costs.rnn_flops(n=2, d=3) == 2 * 2 * (2 * 3 * 3)
    assert reading_costs.attention_flops(n=2, d=3) == 4 * (2 * 2 * 3 * 3) + 2 * (2 * 2 * 2 * 3)


@pytest.mark.parametrize(("n", "ratio"), [(128, 2.25), (512, 3.0), (2048, 6.0)])
def test_attention_costs_two_plus_n_over_d_times_as_much(n, ratio):
    assert reading_costs.attention_flops(n, 512) / reading_costs.rnn_flops(n, 512) == ratio


def test_the_formula_counts_what_the_framework_computes():
    layer = attention(causal=True, width=32, heads=4)
    done = operations(lambda: layer(tensor(np.ones((1, 10, 32)))))
    assert sum(one.kind == "matmul" for one in done) == 6
    assert matmul_flops(done) == 8 * 10 * 32**2 + 4 * 10**2 * 32


def test_what_is_timed_computes_what_it_claims(recurrent):
    _, theirs = recurrent
    generator = np.random.default_rng(2)
    x, projections = generator.standard_normal((5, 6)), generator.standard_normal((4, 6, 6))
    weights = [parameter.detach().numpy().T for parameter in theirs.parameters()]
    expected = theirs(torch.tensor(x))[1].detach().numpy()[0]  # (1, D) -> (D,)
    np.testing.assert_allclose(reading_costs.run_rnn(x, *weights), expected, rtol=0, atol=1e-14)
    q, k, v = (torch.tensor(x @ part)[None] for part in projections[:3])
    attended = functional.scaled_dot_product_attention(q, k, v)[0].numpy() @ projections[3]
    np.testing.assert_allclose(reading_costs.run_attention(x, projections), attended, rtol=1e-10)
