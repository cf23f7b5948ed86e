"""The public tests tell wrong from right: each check of theirs catches a mistake, and unusual right ways pass."""

from __future__ import annotations

import pytest

OTHER_FILES = {
    "nn": """
def logsumexp(input, dim):
    return input.exp().sum(dim).log()
""",
    "modules_basic": """
class Linear(Linear):
    def forward(self, x):
        return x @ self.weights.value

class Embedding(Embedding):
    def forward(self, ids):
        return super().forward(ids * 0)

class Dropout(Dropout):
    def forward(self, x):
        return x * 2

class LayerNorm1d(LayerNorm1d):
    def forward(self, x):
        return super().forward(x) * self.weights.value
""",
    "translation": """
def loss_fn(batch, model, right=loss_fn):
    ones = batch["label_token_weights"] * 0 + 1
    return right({**batch, "label_token_weights": ones}, model)

def generate(model, examples, src_key, *rest, right=generate, **more):
    texts = right(model, examples, src_key, *rest, **more)
    return [f"{example[src_key]} {text}" for example, text in zip(examples, texts)]
""",
}

TRANSFORMER = {
    "the scores are not scaled": (
        """
class MultiHeadAttention(MultiHeadAttention):
    def project_to_query_key_value(self, x):
        q, kT, v = super().project_to_query_key_value(x)
        return q * q.shape[-1] ** 0.5, kT, v
""",
        {"p3.mha.heads", "p3.mha.scale", "p3.mha.causal", "p3.layer", "p3.lm.forward"},
    ),
    "there is no causal mask": (
        """
class MultiHeadAttention(MultiHeadAttention):
    def create_causal_mask(self, seq_len):
        return super().create_causal_mask(seq_len) * 0
""",
        {"p3.mha.heads", "p3.mha.scale", "p3.mha.causal", "p3.layer", "p3.lm.forward"},
    ),
    "the feed-forward network has no GELU": (
        """
class FeedForward(FeedForward):
    def forward(self, x):
        return self.linear_out(self.linear_in(x))
""",
        {"p3.ffn", "p3.layer", "p3.lm.forward"},
    ),
    "the layer normalises after the sum": (
        """
class TransformerLayer(TransformerLayer):
    def forward(self, x, pad_mask=None):
        x = self.ln_1(x + self.attention(x, pad_mask))
        return self.ln_2(x + self.ff(x))
""",
        {"p3.layer", "p3.lm.forward"},
    ),
    "the model has no positions, and no limit": (
        """
class DecoderLM(DecoderLM):
    def forward(self, idx):
        x = self.token_embeddings(idx)
        for module in self.modules():
            if isinstance(module, TransformerLayer):
                x = module(x)
        return self.lm_head(self.ln(x))
""",
        {"p3.lm.forward", "p3.lm.limit"},
    ),
}

UNUSUAL = {
    "nn": """
def logsumexp(input, dim):
    largest = input.max(dim)
    return (input - largest).exp().sum(dim).log() + largest

def softmax_loss(logits, target):
    return -(logsoftmax(logits, 1) * one_hot(target, logits.shape[1])).sum(1).view(logits.shape[0])
""",
    "modules_basic": """
class Linear(Linear):
    def forward(self, x):
        *rows, width = x.shape
        flat = x.contiguous().view(x.size // width, width)
        y = (flat.view(*flat.shape, 1) * self.weights.value).sum(1).view(flat.shape[0], self.weights.value.shape[1])
        return (y if self.bias is None else y + self.bias.value).view(*rows, y.shape[1])
""",
    "transformer": """
import warnings

import numpy as np

warnings.warn("a right solution may warn", stacklevel=1)

class MultiHeadAttention(MultiHeadAttention):
    def create_causal_mask(self, seq_len):
        mask = np.triu(np.full((1, self.n_head, seq_len, seq_len), -np.inf), 1)
        return tensor(mask, backend=self.backend)

class FeedForward(FeedForward):
    def __init__(self, n_embd, middle_dim=None, p_dropout=0.1, bias=True, backend=None):
        super().__init__(n_embd, middle_dim or 16 * n_embd, p_dropout, bias, backend)

class DecoderLM(DecoderLM):
    def __init__(self, n_vocab, n_embd, *rest, backend=None, **more):
        super().__init__(n_vocab, n_embd, *rest, backend=backend, **more)
        self.lm_head = Linear(n_embd, n_vocab, bias=False, backend=backend)
        self.extra = 3

    def forward(self, idx):
        assert idx.shape[1] <= self.n_positions
        return super().forward(idx)
""",
    "translation": """
def loss_fn(batch, model):
    logits = model(batch["input_ids"])
    rows = logits.shape[0] * logits.shape[1]
    losses = softmax_loss(logits.view(rows, logits.shape[2]), batch["labels"].view(rows))
    weights = batch["label_token_weights"].view(rows)
    return (losses * weights).sum() / (weights.sum() + 1e-8)

def generate(model, examples, src_key, tgt_key, tokenizer, model_max_length, backend, desc, right=generate):
    return right(model, examples, src_key, tgt_key, tokenizer, model_max_length - 1, backend, desc)
""",
}


def test_mistakes_in_problems_1_2_and_4_fail_their_checks_and_no_others(student):
    for name, mistake in OTHER_FILES.items():
        student.fill(name, extra=mistake)
    found = student.run("tests/test_nn.py", "tests/test_modules_basic.py", "tests/test_translation.py")
    own = {"p2.linear.forward", "p2.embedding.forward", "p2.dropout.eval", "p2.layernorm.forward"}
    assert found.checks("failure") == {"p1.lse.stable", "p4.loss", "p4.generate"} | own


def test_a_loss_that_is_averaged_and_a_gradient_that_is_cut_fail_their_checks(student):
    mistake = """
def logsumexp(input, dim, right=logsumexp):
    return right(input.detach(), dim)

def softmax_loss(logits, target, right=softmax_loss):
    return right(logits, target).mean()
"""
    student.fill("nn", extra=mistake)
    found = student.run("tests/test_nn.py")
    assert found.checks("failure") == {"p1.lse.grad", "p1.loss.value", "p1.loss.grad"}
    assert "p1.lse.stable" in found.checks("passed")


@pytest.mark.parametrize("mistake", TRANSFORMER)
def test_mistakes_in_problem_3_fail_their_checks_and_no_others(student, mistake):
    code, checks = TRANSFORMER[mistake]
    student.fill()
    student.fill("transformer", extra=code)
    found = student.run("tests/test_transformer.py")
    assert found.checks("failure") == checks


def test_heads_that_are_merged_in_the_wrong_order_fail_unless_there_is_one(student):
    student.fill()
    mistake = """
class MultiHeadAttention(MultiHeadAttention):
    def self_attention(self, q, kT, v, pad_mask=None):
        reverse = list(reversed(range(self.n_head)))
        return super().self_attention(q[:, reverse], kT[:, reverse], v[:, reverse], pad_mask)
"""
    student.fill("transformer", extra=mistake)
    found = student.run("tests/test_transformer.py", "-k", "splits_into_heads")
    assert [outcome for _, outcome, _ in found.tests] == ["passed", "failure", "failure"]


def test_unusual_right_ways_pass_everything(student):
    for name, way in UNUSUAL.items():
        student.fill(name, extra=way)
    found = student.run()
    assert found.status == 0, found.screen


def test_a_failure_shows_the_call_the_first_wrong_index_and_both_numbers(student):
    mistake = """
def logsumexp(input, dim, right=logsumexp):
    return right(input, dim) - input.max(dim)
"""
    student.fill("nn", extra=mistake)
    found = student.run("tests/test_nn.py", "-k", "1000_999_998")
    assert "assert_close(hw3.nn.logsumexp(x, 1)" in found.screen
    assert "first at (0, 0): 0.4076059644 arrived, 1000.407606 was expected" in found.screen


def test_a_file_that_cannot_be_imported_fails_its_own_tests_and_shows_the_line(student):
    student.fill()
    student.fill("transformer", extra="def broken(:\n")
    found = student.run()
    assert {check[:3] for check in found.checks("failure")} == {"p3."}
    assert {check[:3] for check in found.checks("passed")} == {"p1.", "p2.", "p4."}
    assert "def broken(:" in found.screen
    assert "frozen importlib" not in found.screen


def test_a_forward_without_return_is_named(student):
    mistake = """
class Linear(Linear):
    def forward(self, x):
        super().forward(x)
"""
    student.fill("modules_basic", extra=mistake)
    found = student.run("tests/test_modules_basic.py", "-k", "linear_computes")
    assert "the output: None arrived; is there a `return`?" in found.screen
