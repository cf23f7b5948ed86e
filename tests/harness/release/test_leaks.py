"""What the guard of the student release finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.leaks import leaks, telling_lines

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


def found(path, content):
    return list(leaks({path: content}, SOLUTION, HIDDEN))


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
    ],
)
def test_a_leak_is_found_and_its_file_named(path, content, word):
    sentences = found(path, content)
    assert len(sentences) >= 1
    assert all(sentence.startswith(path) for sentence in sentences)
    assert any(word in sentence for sentence in sentences)
