"""What a right module holds: names and shapes, and the liberties that the assignment leaves."""

import pytest

from grader.checks import shapes

LM = {"n_vocab": 11, "n_embd": 8, "n_head": 2, "n_positions": 7, "n_layer": 1}


def test_a_decoder_has_the_parameters_of_the_assignment():
    held = shapes.of("transformer.DecoderLM", LM)
    assert held["t_layer_1.attention.k_projection.weights"] == (8, 8)
    assert held["t_layer_1.ff.linear_in.weights"] == (8, 32)
    assert held["lm_head.weights"] == (8, 11)
    assert len(held) == 2 + 4 + 8 + 4 + 2 + 2  # embeddings, two norms, four projections, FFN, final norm, head


def test_gpt2_small_has_as_many_parameters_as_published():
    sizes = {"n_vocab": 50257, "n_embd": 768, "n_positions": 1024, "n_layer": 12}
    held = shapes.of("transformer.DecoderLM", sizes)
    count = sum(a * (b or [1])[0] for a, *b in held.values())
    head = 768 * 50257 + 50257  # GPT-2 shares it with the embedding, and has no bias there
    assert count - head == 124_439_808


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({}, None),
        ({"lm_head.bias": None}, None),
        ({"extra": (3,)}, None),
        (
            {
                "t_layer_1.ff.linear_in.weights": (8, 5),
                "t_layer_1.ff.linear_in.bias": (5,),
                "t_layer_1.ff.linear_out.weights": (5, 8),
            },
            None,
        ),
        ({"t_layer_1.ff.linear_in.weights": (8, 5)}, "t_layer_1.ff.linear_in.bias"),
        ({"t_layer_1.ff.linear_in.weights": ()}, "t_layer_1.ff.linear_in.weights"),
        (
            {
                "t_layer_1.ff.linear_in.weights": (8, 5, 2),
                "t_layer_1.ff.linear_in.bias": (5, 2),
                "t_layer_1.ff.linear_out.weights": (5, 2, 8),
            },
            "t_layer_1.ff.linear_in.weights",
        ),
        (
            {
                "t_layer_1.ff.linear_in.weights": (8,),
                "t_layer_1.ff.linear_in.bias": (),
                "t_layer_1.ff.linear_out.weights": (8,),
            },
            "t_layer_1.ff.linear_in.weights",
        ),
        ({"ln.weights": (1, 8)}, "ln.weights"),
        ({"t_layer_1.attention.q_projection.bias": None}, "t_layer_1.attention.q_projection.bias"),
    ],
)
def test_what_is_free_is_accepted_and_the_rest_is_named(change, wrong):
    held = {k: v for k, v in (shapes.of("transformer.DecoderLM", LM) | change).items() if v is not None}
    found = shapes.misfit("transformer.DecoderLM", LM, held)
    assert (found and found[0]) == wrong


def test_an_asked_for_middle_width_is_binding():
    arguments = {"n_embd": 8, "middle_dim": 12}
    held = shapes.of("transformer.FeedForward", arguments)
    assert shapes.misfit("transformer.FeedForward", arguments, held) is None
    assert (
        shapes.misfit("transformer.FeedForward", arguments, shapes.of("transformer.FeedForward", {"n_embd": 8}))
        is not None
    )


def test_masks_have_the_shapes_of_what_they_multiply():
    found = shapes.masks("transformer.DecoderLM", LM, batch=3, length=5)
    assert found == {
        "dropout": (3, 5, 8),
        "t_layer_1.attention.dropout": (3, 2, 5, 5),
        "t_layer_1.ff.dropout": (3, 5, 8),
    }
