"""What the guard of the student release finds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader.leaks import leaks, names_of_answers, telling_lines

ROOT = Path(__file__).resolve().parents[3]

SOLUTION = {
    "nn.py": """\
def double(x):
    total = given_to_everyone(x)
    # BEGIN SOLUTION: Problem 1: double
    total = given_to_everyone(x)
    scores = x * 2 + offset_of(x)
    return scores
    # END SOLUTION
"""
}
HIDDEN = frozenset({"p2.linear.init"})


LAB, PAGE = "handouts/labs/06_costs.en.ipynb", "handouts/labs/01_attention.en.html"
COLOURED = "\x1b[32m----> 1\x1b[0m scores \x1b[1m=\x1b[0m x \x1b[1m*\x1b[0m 2 + offset_of(x)"


def book(*cells):
    """A notebook, in bytes."""
    return json.dumps({"nbformat": 4, "cells": cells}).encode()


def code(source, *outputs):
    return {"cell_type": "code", "source": source, "outputs": list(outputs)}


def text(source):
    return {"cell_type": "markdown", "source": source}


def found(path, content):
    return list(leaks({path: content}, SOLUTION, HIDDEN))


def test_a_pdf_with_its_text_beside_it_is_no_leak():
    files = {"handouts/hw3.zh.pdf": b"%PDF \xff", "handouts/hw3.zh.md": b"text"}
    assert list(leaks(files, SOLUTION, HIDDEN)) == []


def test_only_lines_between_the_markers_that_stand_nowhere_else_and_are_not_short_tell_something():
    assert telling_lines(SOLUTION, given="") == {"scores = x * 2 + offset_of(x)": "solution/nn.py:5"}
    assert telling_lines(SOLUTION, given="scores = x * 2 + offset_of(x)") == {}


def test_what_belongs_into_a_release_is_no_leak(contents):
    solution = {path.name: path.read_text() for path in (ROOT / "solution").glob("*.py")}
    assert list(leaks(contents, solution, HIDDEN)) == []


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("tests/test_nn.py", b"import numpy as np\nfrom assignment.framework import tensor\n"),
        ("README.md", b"PyTorch computed the numbers; the grader has other ones."),
        ("assignment/nn.py", b"def double(x):\n    total = given_to_everyone(x)\n"),
        ("tests/fixtures/hints.json", b'{"mha.pad_ignored": "Your padding is seen."}'),
        ("tests/fixtures/linear.npz", b"\xff\x00 scores = x * 2 + offset_of(x)"),
        (LAB, book(code("import torch\n%matplotlib inline\nprint(torch.ones(2))"))),
        (LAB, book(code("x", {"output_type": "display_data", "data": {"image/png": "c2NvcmVz"}, "metadata": {}}))),
        ("handouts/labs/01_attention.en.html", b"<p>torch.softmax does the same</p>"),
        ("handouts/labs/course.py", b"from solution import nn\n"),
        ("hw3.ipynb", book(code("raise NotImplementedError"))),
    ],
)
def test_harmless_files_pass(path, content):
    assert found(path, content) == []


@pytest.mark.parametrize(
    ("path", "content", "word"),
    [
        ("tests/test_nn.py", b"scores = x * 2 + offset_of(x)\n", "solution/nn.py:5"),
        ("assignment/nn.py", b"if True:\n        scores =  x * 2 + offset_of(x)\n", "solution/nn.py:5"),
        ("assignment/training/loop.py", b"scores = x * 2 + offset_of(x)\n", "solution/nn.py:5"),
        ("assignment/reversal.py", b"from solution.transformer import MultiHeadAttention\n", "solution"),
        ("README.md", b"Write `scores = x * 2 + offset_of(x)` there.", "solution/nn.py:5"),
        ("tests/conftest.py", b"import torch.nn as nn\n", "torch"),
        ("tests/conftest.py", b"from grader.twins import run\n", "grader"),
        ("tests/conftest.py", b"torch = pytest.importorskip('torch')\n", "torch"),
        ("tests/conftest.py", b"import yaml\n", "yaml"),
        ("tests/conftest.py", b"from solution import nn\n", "solution"),
        ("README.md", b"The weights are tested by p2.linear.init.", "p2.linear.init"),
        ("README.md", b"Run python -m grader.selfcheck.", "grader.s"),
        ("solution/nn.py", b"", "solution/nn.py"),
        ("tests/harness/test_compare.py", b"", "tests/harness"),
        ("tests/fixtures/hints.json", b'{"p2.linear.init": "Look at it."}', "p2.linear.init"),
        ("tests/fixtures/hints.json", b'["scores = x * 2 + offset_of(x)"]', "solution/nn.py:5"),
        ("tests/fixtures/answers.json", b"{}", "answers.json"),
        ("tests/fixtures/secret.npy", b"", "secret.npy"),
        ("assignment/secret/answers.py", b"", "answers.py"),
        ("assignment/framework/../../grader/case.py", b"", "grader/case.py"),
        (LAB, book(code("if True:\n    scores = x * 2 + offset_of(x)\n")), "solution/nn.py:5"),
        (LAB, book(text(["Write `scores = x * 2 ", "+ offset_of(x)`."])), "solution/nn.py:5"),
        (LAB, book(code("f()", {"output_type": "stream", "text": ["scores = x * 2", " + offset_of(x)"]})), "nn.py:5"),
        (LAB, book(code("f()", {"output_type": "error", "traceback": [COLOURED]})), "solution/nn.py:5"),
        (
            LAB,
            book(code("f()", {"output_type": "x", "data": {"text/html": ["scores = x * 2 + offset_of(x)"]}})),
            "nn.py:5",
        ),
        (LAB, book(code("from grader.twins import run")), "grader"),
        (LAB, book(code("import pandas")), "pandas"),
        (LAB, book(code("from solution import nn")), "solution"),
        (LAB, b"{}", "could not be looked through"),
        (LAB, b"no notebook", "could not be looked through"),
        ("hw3.ipynb", book(code("import torch")), "torch"),
        ("handouts/labs/torch_twins.py", b"import torch\n", "torch"),
        ("handouts/labs/lookup.py", b"from solution import nn\n", "solution"),
        (PAGE, b"<pre><b>scores</b> <i>=</i> x * 2 + offset_of(x)</pre>", "solution/nn.py:5"),
        (PAGE, b"<p>scores &#61; x &#42; 2 + offset_of&#40;x)</p>", "solution/nn.py:5"),
        (PAGE, b"<!-- scores = x * 2 + offset_of(x) --><p title='p2.linear.init'>", "solution/nn.py:5"),
        (PAGE, b"<img alt='scores = x * 2 + offset_of(x)'>", "solution/nn.py:5"),
        (PAGE, b"<script>p2.linear.init</script>", "p2.linear.init"),
        ("handouts/hw3.en.md", b"A hidden check, p2.linear.init, looks at it.", "p2.linear.init"),
        ("handouts/hw3.en.pdf", b"%PDF", "has no .md beside it"),
        ("handouts/exercises/answers.en.md", b"", "answers.en.md"),
        ("handouts/answers.en.md", b"", "answers.en.md"),
        ("handouts/labs/built/01_attention.en.ipynb", b"{}", "built"),
        (".github/workflows/grade.yml", b"", "grade.yml"),
    ],
)
def test_a_leak_is_found_and_its_file_named(path, content, word):
    sentences = found(path, content)
    assert len(sentences) >= 1
    assert all(sentence.startswith(path) for sentence in sentences)
    assert any(word in sentence for sentence in sentences)


GREEDY = b"""
def grow(model, rows, tokenizer, most, backend):
    mode, stop = model.training, tokenizer.vocab["<eos_en>"]
    model.eval()
    prompts = [tokenizer(row + "<eos_de>")["input_ids"] for row in rows]
    done = []
    for ids in prompts:
        while len(ids) <= most:
            best = model(tensor_from_numpy(np.array([ids]), backend=backend))[:, -1].to_numpy().argmax(axis=1)
            if best[0] == stop:
                break
            ids = ids + best.tolist()
        done.append(tokenizer.decode(ids))
    if mode:
        model.train()
    return done
"""
"""Many sentences' translation, without one line of `generate`'s."""

SMOOTHED = b"""
def smoothed(batch, model, eps):
    scores = model(batch["input_ids"])
    shares = batch["label_token_weights"] * (1 / batch["label_token_weights"].sum().item())
    flat = scores.view(-1, scores.shape[2])
    each = smoothed_losses(flat, batch["labels"].view(-1), eps)
    return (each * shares.view(-1)).sum()
"""
"""A loss that is `loss_fn`'s for eps = 0."""


@pytest.mark.parametrize(("content", "answer"), [(GREEDY, "generate"), (SMOOTHED, "loss_fn")])
def test_what_does_a_stubs_work_in_other_lines_is_found(content, answer):
    solution = {path.name: path.read_text() for path in (ROOT / "solution").glob("*.py")}
    (sentence,) = leaks({"assignment/training/given.py": content}, solution, HIDDEN)
    assert sentence.startswith("assignment/training/given.py uses ")
    assert f"as the answer to Problem 4: {answer} does" in sentence


def test_the_names_of_an_answer_are_its_attributes_calls_and_keys_but_none_of_the_languages_own():
    source = """\
def f(x):
    before(x)
    # BEGIN SOLUTION: Problem 1: f
    rows = list(find(x["key"]).size)
    # END SOLUTION
    after(x)
"""
    assert names_of_answers({"nn.py": source}) == {"Problem 1: f": {"find", "key", "size"}}
