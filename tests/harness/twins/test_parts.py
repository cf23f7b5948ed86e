"""A wrong twin in the set of parts is inside everything that is built of it."""

from __future__ import annotations

import dataclasses
from dataclasses import replace

import numpy as np
import pytest
import torch

from grader.case import Answer, Call, Case, Input, Role, Status
from grader.twins import RIGHT, run
from grader.twins.attention import MultiHeadAttention
from grader.twins.functions import LogSumExp
from grader.twins.layers import Dropout, Embedding, LayerNorm1d, Linear
from grader.twins.model import DecoderLM, FeedForward, TransformerLayer
from grader.twins.run import TARGETS, make

NOBODY = Answer(Status.OK)
LM = {"n_vocab": 5, "n_embd": 4, "n_head": 2, "n_positions": 6, "p_dropout": 0.0, "n_layer": 1}


class Unscaled(MultiHeadAttention):
    def scale(self, head_size):
        del head_size
        return 1.0


class Unshifted(LogSumExp):
    def shift(self, z, dim):
        return torch.zeros_like(z.detach().amax(dim, keepdim=True))


class Doubled(Linear):
    def forward(self, x):
        return 2 * super().forward(x)


class Shrunk(Embedding):
    def forward(self, ids):
        return super().forward(ids) / 3


class Biasless(LayerNorm1d):
    def affine(self, normal):
        return normal * self.weights


class Straight(FeedForward):
    def activation(self, x):
        return x


class NoResidual(TransformerLayer):
    def feed(self, x):
        return self.ff(self.ln_2(x))


class Halved(Dropout):
    def forward(self, x):
        return x / 2


def lm_case():
    values = {}
    case = Case("transformer.DecoderLM", arguments=LM)
    for number, (name, parameter) in enumerate(make(case, RIGHT).named_parameters()):
        values[name] = np.random.default_rng(number).normal(size=tuple(parameter.shape))
    idx = Input(np.array([[0.0, 3, 1, 4]]), Role.CONSTANT)
    return replace(case, parameters=values, calls=(Call({"idx": idx}, cotangent=np.ones((1, 4, 5))),))


@pytest.mark.parametrize(
    ("part", "wrong"),
    [
        ("linear", Doubled),
        ("embedding", Shrunk),
        ("dropout", Halved),
        ("layer_norm", Biasless),
        ("attention", Unscaled),
        ("feed_forward", Straight),
        ("layer", NoResidual),
    ],
)
def test_a_wrong_part_changes_the_language_model(part, wrong):
    right, other = run(lm_case(), NOBODY), run(lm_case(), NOBODY, replace(RIGHT, **{part: wrong}))
    assert right.keys() >= other.keys()  # a bias that is not used has no gradient
    assert abs(right["0.out"] - other["0.out"]).max() > 1e-3


def test_an_unshifted_logsumexp_is_inside_the_loss_and_the_translation_loss():
    parts = replace(RIGHT, logsumexp=Unshifted)
    logits = np.array([[1000.0, 0.0]])
    loss = Case("nn.softmax_loss", (Call({"logits": Input(logits), "target": Input(np.zeros(1), Role.CONSTANT)}),))
    assert run(loss, NOBODY)["0.out"] == 0
    assert np.isinf(run(loss, NOBODY, parts)["0.out"]).all()
    batch = Input(np.stack([np.zeros((1, 1)), np.zeros((1, 1)), np.ones((1, 1))]), Role.BATCH)
    table = Input(np.array([[1000.0, 0.0], [0.0, 0.0]]), Role.TABLE_MODEL)
    total = Case("translation.loss_fn", (Call({"batch": batch, "model": table}),))
    assert run(total, NOBODY)["0.out"] == 0
    assert np.isinf(run(total, NOBODY, parts)["0.out"]).all()


def test_every_part_is_the_twin_of_one_target():
    assert sorted(TARGETS.values()) == sorted(field.name for field in dataclasses.fields(RIGHT))


def test_the_right_parts_have_the_classes_of_the_assignment():
    assert RIGHT.lm is DecoderLM
    assert RIGHT.attention is MultiHeadAttention
