"""`python -m assignment.reversal`: what it shows on the reference, and what it says where something is missing."""

import io
import os
import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from assignment import reversal
from assignment.framework import Module, TensorBackend, tensor
from assignment.training import attention, sentences
from assignment.training.bag_of_words import BagOfWords
from grader.fingerprint import ROOT
from solution.transformer import TransformerLayer

NOT_YET = "{} is not written yet: write it in assignment/{}.py, then run this again\n"
SPREAD = re.compile(r"(\d+)% of the attention is on the last word")


def run(folder, *options, before="", encoding="utf-8"):
    """Run the command as a student does, on one thread."""
    start = f"{before}\nimport runpy; runpy.run_module('assignment.reversal', run_name='__main__', alter_sys=True)"
    return subprocess.run(
        [sys.executable, "-c", start, "--device", "cpu", *options],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONIOENCODING": encoding},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )


@pytest.fixture(scope="module")
def shown(reference_folder):
    """What it shows where NumPy is all there is."""
    alone = "import sys; sys.modules.update(dict.fromkeys(('torch', 'grader', 'solution', 'rich', 'matplotlib')))"
    return run(reference_folder, "--seed", "1", before=alone)


def test_only_positions_tell_turned_sentences_apart(shown):
    assert shown.returncode == 0, shown.stderr
    rows = {line.split()[0]: line.split()[1:] for line in shown.stdout.splitlines() if line.endswith("%")}
    assert rows == {
        "plain": ["50%", "100%", "100%"],
        "negated": ["50%", "100%", "100%"],
        "turned": ["50%", "50%", "100%"],
    }


def test_it_says_how_far_apart_a_turned_pair_is(shown):
    without, with_positions = (
        float(line.split()[2]) for line in shown.stdout.splitlines() if re.match(r" +with(out)? positions +\d", line)
    )
    assert without < 1e-14
    assert with_positions > 0.1


def test_it_draws_where_each_word_looks(shown):
    lines = shown.stdout.splitlines()
    one, other = (line.split() for line in lines if line.startswith("    the ") and " but " in line)
    assert sorted(one) == sorted(other)
    assert one != other
    head = next(
        number
        for number, line in enumerate(lines)
        if line.split() == one and number > lines.index(" " * 4 + " ".join(other))
    )
    assert [line.split()[0] for line in lines[head + 1 : head + 11]] == [*one, "all"]
    assert "█" in shown.stdout
    assert SPREAD.search(shown.stdout)


def test_where_nobody_watches_there_is_no_progress(shown):
    assert shown.stderr == ""


def test_a_terminal_without_blocks_gets_other_shades(reference_folder):
    done = run(reference_folder, "--steps", "1", encoding="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "###" in done.stdout


def test_what_is_not_written_yet_is_one_line():
    done = run(ROOT, "--steps", "1")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == NOT_YET.format("Problem 2: Embedding.__init__", "modules_basic")


def test_a_layer_without_attention_names_the_attention(reference_folder, tmp_path):
    (tmp_path / "assignment").mkdir()
    for path in (reference_folder / "assignment").iterdir():
        (tmp_path / "assignment" / path.name).symlink_to(path)
    part, first = "Problem 3: MultiHeadAttention.__init__", "        self.n_head = n_head\n"
    source = (ROOT / "solution" / "transformer.py").read_text(encoding="utf-8")
    assert first in source
    (tmp_path / "assignment" / "transformer.py").unlink()
    (tmp_path / "assignment" / "transformer.py").write_text(
        source.replace(first, f"        raise NotImplementedError('{part} is not written yet')\n"), encoding="utf-8"
    )
    done = run(tmp_path, "--steps", "1")
    assert done.returncode == 1
    assert done.stderr == NOT_YET.format(part, "transformer")


@pytest.mark.parametrize(
    ("option", "value"), [("--steps", "0"), ("--seed", "-1"), ("--steps", "many"), ("--device", "tpu")]
)
def test_options_that_make_no_sense_are_refused(option, value, capsys):
    with pytest.raises(SystemExit) as stopped:
        reversal.main([f"{option}={value}"])
    assert stopped.value.code == 2
    assert value in capsys.readouterr().err


def test_a_device_that_is_not_there_is_one_line(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert reversal.main(["--device", "cuda"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "CuPy" in line


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_shows_a_bar_that_goes_away_when_it_is_full():
    screen = Terminal()
    reversal.bar("with positions", 10, 20, screen)
    assert "###############               ] 10/20" in screen.getvalue()
    reversal.bar("with positions", 20, 20, screen)
    assert screen.getvalue().endswith(" \r")
    assert "20/20" not in screen.getvalue()


class Looking(Module):
    """Stands for a classifier: its words look where a table says."""

    def __init__(self, layer):
        super().__init__()
        self.t_layer_1 = layer

    def embed(self, idx):
        return idx


def test_the_weights_are_those_of_the_softmax_averaged_over_the_heads():
    layer = TransformerLayer(6, 2, p_dropout=0.0, backend=TensorBackend(seed=0), causal=False)
    x = tensor(np.random.default_rng(0).normal(size=(1, 3, 6)))
    found = attention.attention_weights(Looking(layer), x)
    q, keys, _ = layer.attention.project_to_query_key_value(layer.ln_1(x))
    values = tensor(np.eye(3)[None, None].repeat(2, axis=1))  # (1, h, 3, 3): they let the weights through
    through = layer.attention.self_attention(q, keys, values).to_numpy()  # (1, 3, 2 * 3)
    assert found.shape == (1, 3, 3)
    np.testing.assert_allclose(found[0], through.reshape(3, 2, 3).mean(axis=1), rtol=1e-12)


@pytest.mark.parametrize("given", [None, (1, 2), "heads folded into the batch", "kT not turned"])
def test_attention_that_is_written_otherwise_is_told_in_a_line(given):
    x = tensor(np.ones((2, 3, 4)))
    heads, folded = tensor(np.ones((2, 2, 3, 2))), tensor(np.ones((4, 3, 2)))
    parts = {"heads folded into the batch": (folded, folded, folded), "kT not turned": (heads, heads, heads)}
    layer = SimpleNamespace(
        ln_1=lambda x: x, attention=SimpleNamespace(project_to_query_key_value=lambda _: parts.get(given, given))
    )
    with pytest.raises(attention.UnknownLayoutError, match="project_to_query_key_value gave"):
        attention.attention_weights(Looking(layer), x)


def test_the_picture_is_as_dark_as_the_weights_are_large():
    weights = np.array([[0.0, 1.0], [0.5, 0.5]])
    assert attention.picture(["not", "good"], weights).splitlines() == [
        "     not good",
        " not     ████",
        "good ▒▒▒ ▒▒▒▒",
        " all ░░░ ▓▓▓▓",
    ]


def test_a_bag_of_words_learns_what_single_words_tell():
    ids = np.array([[0, 2, 3], [1, 2, 3], [3, 0, 2], [2, 3, 1]])
    bag = BagOfWords(4)
    bag.learn(ids, np.array([0, 1, 0, 1]))
    assert bag(np.array([[2, 0, 2], [1, 3, 3]])).tolist() == [0, 1]


def test_a_bag_of_words_finds_nothing_in_the_sentences():
    data = sentences.draw(np.random.default_rng(0), 20, 24)
    bag = BagOfWords(len(data.words))
    bag.learn(data.ids.reshape(-1, sentences.LENGTH), data.labels.reshape(-1))
    np.testing.assert_allclose(bag.weights, 0, atol=1e-9)
