"""Nonsense does not resemble what was asked for, what is nearly right does, and every class is told the same."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn import functional

from grader import pipeline, resemblance, twins
from grader.case import Answer, CallOutcome, Case, Status
from grader.checks import Draw
from grader.verdict import Verdict

LSE, LOSS = "nn.logsumexp", "nn.softmax_loss"
NORM, ATTENTION, LM = "modules_basic.LayerNorm1d", "transformer.MultiHeadAttention", "transformer.DecoderLM"
RANDOM = torch.Generator().manual_seed(0)


def answered(array: np.ndarray) -> Answer:
    return Answer(Status.OK, (CallOutcome(Status.OK),), {"0.out": array})


def similar(target: str, wrong) -> bool:
    """Whether a function of the case's inputs and parameters, in torch, resembles the target."""
    case = resemblance.case_of(target)
    inputs = [torch.tensor(given.value) for given in case.calls[0].inputs.values()]
    parameters = {name: torch.tensor(value) for name, value in (case.parameters or {}).items()}
    return resemblance.resembles(case, answered(wrong(*inputs, **parameters).numpy()))


def chosen(z, y):
    return z.gather(1, y.long()[:, None])[:, 0]  # (N, C) -> (N,)


def attention(x, pattern, **p):
    """Attention of two heads, with `pattern` in the place of the softmax: scores and mask (B, h, S, S) -> weights."""
    q, k, v = (
        (x @ p[f"{n}_projection.weights"] + p[f"{n}_projection.bias"]).unflatten(-1, (2, -1)).transpose(1, 2)
        for n in "qkv"
    )  # (B, S, D) -> (B, S, h, Dh) -> (B, h, S, Dh)
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])  # (B, h, S, Dh) @ (B, h, Dh, S) -> (B, h, S, S)
    seen = torch.ones(scores.shape[-2:]).tril()
    heads = (pattern(scores, seen) @ v).transpose(1, 2).flatten(2)  # (B, h, S, Dh) -> (B, S, h, Dh) -> (B, S, D)
    return heads @ p["out_projection.weights"] + p["out_projection.bias"]


def softmax(scores, seen):
    return scores.masked_fill(seen == 0, -math.inf).softmax(-1)


def mean_of_seen(scores, seen):
    return (seen / seen.sum(-1, keepdim=True)).expand_as(scores).to(scores.dtype)


def skipped(idx, layers=0.0, **p):
    """A model without its layers, or with a little of them: its logits from the embeddings."""
    x = p["token_embeddings.weights"][idx.long()] + p["position_embeddings.weights"][: idx.shape[1]]  # (B, S, D)
    x = x + layers * sum(x @ p[f"t_layer_{n}.attention.v_projection.weights"] for n in (1, 2))
    x = functional.layer_norm(x, x.shape[-1:], p["ln.weights"], p["ln.bias"])
    return x @ p["lm_head.weights"] + p["lm_head.bias"]


NONSENSE = {
    "a sum for logsumexp": (LSE, lambda x, _: x.sum(1, keepdim=True)),
    "a mean for logsumexp": (LSE, lambda x, _: x.mean(1, keepdim=True)),
    "a constant and a little": (LSE, lambda x, _: 4 + 0.1 * x.mean(1, keepdim=True)),
    "the size of the entries": (LSE, lambda x, _: x.norm(dim=1, keepdim=True)),
    "the first entry": (LSE, lambda x, _: x[:, :1] + 2),
    "a constant and a little for the loss": (LOSS, lambda z, _: 2 + 0.1 * z.sum(1)),
    "logsumexp alone": (LOSS, lambda z, _: z.logsumexp(1)),
    "the right logit alone": (LOSS, lambda z, y: 2 - chosen(z, y)),
    "a mean for logsumexp in the loss": (LOSS, lambda z, y: z.mean(1) - chosen(z, y)),
    "squares": (LOSS, lambda z, y: (z - functional.one_hot(y.long(), z.shape[1])).square().sum(1)),
    "no normalisation": (NORM, lambda x, weights, bias: x * weights + bias),
    "no centring": (NORM, lambda x, weights, bias: x / x.std(-1, keepdim=True) * weights + bias),
    "tanh": (NORM, lambda x, weights, bias: x.tanh() * weights + bias),
    "a linear map": (NORM, lambda x, weights, bias: x @ random(12) * weights + bias),
    "a linear map for attention": (ATTENTION, lambda x, **_: x @ random(8)),
    "values of the position itself": (
        ATTENTION,
        lambda x, **p: attention(x, lambda s, _: torch.eye(s.shape[-1], dtype=s.dtype).expand_as(s), **p),
    ),
    "the mean of the values": (ATTENTION, lambda x, **p: attention(x, mean_of_seen, **p)),
    "the mean and a little attention": (
        ATTENTION,
        lambda x, **p: attention(x, lambda s, m: 0.95 * mean_of_seen(s, m) + 0.05 * softmax(s, m), **p),
    ),
    "scores for weights": (ATTENTION, lambda x, **p: attention(x, lambda s, m: s * m / 5, **p)),
    "no layers": (LM, skipped),
    "hardly any layers": (LM, lambda idx, **p: skipped(idx, 0.1, **p)),
    "a linear map of the ids": (LM, lambda idx, **_: torch.eye(11, dtype=torch.float64)[idx.long()] @ random(11)),
}
NEARLY = {
    "the maximum": (LSE, lambda x, _: x.amax(1, keepdim=True)),
    "another base": (LSE, lambda x, _: x.logsumexp(1, keepdim=True) / math.log(2)),
    "the maximum in the loss": (LOSS, lambda z, y: z.amax(1) - chosen(z, y)),
    "smoothing": (LOSS, lambda z, y: functional.cross_entropy(z, y.long(), reduction="none", label_smoothing=0.1)),
    "the mean deviation": (
        NORM,
        lambda x, weights, bias: (
            (x - x.mean(-1, keepdim=True)) / (x - x.mean(-1, keepdim=True)).abs().mean(-1, keepdim=True) * weights
            + bias
        ),
    ),
    "squared weights": (ATTENTION, lambda x, **p: attention(x, lambda s, m: softmax(s, m) ** 2, **p)),
    "half the scores": (ATTENTION, lambda x, **p: attention(x, lambda s, m: softmax(s / 2, m), **p)),
}


def random(size: int) -> torch.Tensor:
    return torch.randn(size, size, generator=RANDOM, dtype=torch.float64) / math.sqrt(size)


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_does_not_resemble(name):
    assert not similar(*NONSENSE[name])


@pytest.mark.parametrize("name", NEARLY)
def test_what_is_nearly_right_does(name):
    assert similar(*NEARLY[name])


@pytest.mark.parametrize("target", [LSE, LOSS, NORM, ATTENTION, LM])
def test_the_right_output_does_and_another_shape_length_or_kind_does_not(target):
    case = resemblance.case_of(target)
    right = twins.run(case, answered(np.zeros(0)))["0.out"]
    assert resemblance.resembles(case, answered(right))
    for array in (right[None], right * 3, right / 3, -right, right * np.nan, np.zeros_like(right), right > 0):
        assert not resemblance.resembles(case, answered(array))


def test_what_comes_back_without_an_output_does_not():
    assert not resemblance.resembles(resemblance.case_of(LSE), Answer(Status.RAISED, (), {}))


def test_attention_is_as_torchs_where_its_pattern_is_the_softmax():
    assert similar(ATTENTION, lambda x, **p: attention(x, softmax, **p))
    case = resemblance.case_of(ATTENTION)
    x, p = torch.tensor(case.calls[0].inputs["x"].value), {n: torch.tensor(v) for n, v in case.parameters.items()}
    np.testing.assert_allclose(
        attention(x, softmax, **p).numpy(), twins.run(case, answered(np.zeros(0)))["0.out"], rtol=0, atol=1e-12
    )


def test_nothing_is_paid_for_resembling_where_more_than_gradients_is_asked():
    assert resemblance.case_of("modules_basic.Linear") is None
    assert isinstance(resemblance.case_of(LM), Case)


@pytest.mark.parametrize("secret", [b"one class", b"another"])
@pytest.mark.parametrize(
    ("weights", "verdict"),
    [("weights * weights", Verdict.PASSED), ("weights * 0.05 + (weights * 0 + 0.2)", Verdict.FAILED)],
)
def test_every_class_pays_alike(secret, weights, verdict, bench, solution_with):
    change = ("transformer.py", "heads = weights @ v ", f"heads = ({weights}) @ v ")
    report = pipeline.grade(solution_with(change), replace(bench, secret=secret, only=("p3.mha.grad",))).report
    (found,) = (c for problem in report.problems for c in problem.checks if c.id == "p3.mha.grad")
    assert found.verdict is verdict


def test_who_knows_the_deciding_outputs_by_heart_earns_nothing(bench, solution_with):
    case = resemblance.case_of(LSE)
    known = twins.run(case, answered(np.zeros(0)))["0.out"].tolist()
    change = (
        "nn.py",
        "    return (input - largest).exp().sum(dim).log() + largest\n",
        f"    return framework.tensor({known}) if input.shape == (64, 6) else input.sum(dim)\n",
    )
    report = pipeline.grade(solution_with(change), replace(bench, only=("p1.lse.*",))).report
    checks = {c.id: c.verdict for problem in report.problems for c in problem.checks}
    assert checks["p1.lse.grad"] is Verdict.FAILED


@pytest.mark.parametrize("seed", range(5))
def test_what_is_nearly_right_is_confirmed_in_every_class_and_nonsense_in_none(seed):
    for wrong, nearly in ((NONSENSE, False), (NEARLY, True)):
        for target, computed in wrong.values():
            case = resemblance.case_of(target, Draw(np.random.default_rng(seed)))
            inputs = [torch.tensor(given.value) for given in case.calls[0].inputs.values()]
            parameters = {name: torch.tensor(value) for name, value in (case.parameters or {}).items()}
            answer = answered(computed(*inputs, **parameters).numpy())
            assert resemblance.resembles(case, answer, resemblance.CONFIRMED) is nearly
