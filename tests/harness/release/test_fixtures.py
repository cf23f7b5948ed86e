"""The arrays of the public tests: made by the twins, the same bytes each time, and `--check` sees every change."""

from __future__ import annotations

import numpy as np
import pytest

from grader import fixtures

FEW = {name: fixtures.FIXTURES[name] for name in ("linear", "logsumexp_dim_0")}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with two files just made."""
    monkeypatch.setattr(fixtures, "FIXTURES", FEW)
    monkeypatch.setattr(fixtures, "FOLDER", tmp_path)
    assert fixtures.main([]) == 0
    return tmp_path


def change(path, name, difference):
    content = dict(np.load(path))
    content[name] = content[name] + difference
    path.write_bytes(fixtures.npz(content))


def test_the_committed_files_are_what_the_generator_makes():
    assert fixtures.main(["--check"]) == 0


def test_the_same_arrays_give_the_same_bytes(folder):
    first = (folder / "linear.npz").read_bytes()
    (folder / "linear.npz").unlink()
    fixtures.main([])
    assert (folder / "linear.npz").read_bytes() == first


def test_a_file_is_the_same_whichever_others_are_made(folder):
    committed, alone = np.load(fixtures.ROOT / "tests" / "fixtures" / "linear.npz"), np.load(folder / "linear.npz")
    assert sorted(committed) == sorted(alone)
    assert (committed["input.x"] == alone["input.x"]).all()


def test_the_expected_values_are_right():
    linear, logsumexp = fixtures.arrays("linear"), fixtures.arrays("logsumexp_dim_0")
    x, weights, dy = linear["input.x"], linear["parameter.weights"], linear["cotangent"]
    np.testing.assert_allclose(linear["out"], x @ weights + linear["parameter.bias"], rtol=1e-12)
    np.testing.assert_allclose(linear["gradient.x"], dy @ weights.T, rtol=1e-12)
    np.testing.assert_allclose(linear["parameter_gradient.weights"], x.T @ dy, rtol=1e-12)
    np.testing.assert_allclose(linear["parameter_gradient.bias"], dy.sum(0), rtol=1e-12)
    exponentials = np.exp(logsumexp["input.x"])
    np.testing.assert_allclose(logsumexp["out"], np.log(exponentials.sum(0, keepdims=True)), rtol=1e-12)


def test_another_value_is_stale_and_named(folder, capsys):
    change(folder / "linear.npz", "out", 1e-9)
    assert fixtures.main(["--check"]) == 1
    assert capsys.readouterr().err.startswith("tests/fixtures/linear.npz ")


def test_another_rounding_is_not_stale_and_is_left_as_it_is(folder):
    change(folder / "linear.npz", "out", 1e-15)
    before = (folder / "linear.npz").read_bytes()
    assert fixtures.main(["--check"]) == 0
    fixtures.main([])
    assert (folder / "linear.npz").read_bytes() == before


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 no archive", None])
def test_a_damaged_or_missing_file_is_stale_and_made_again(folder, damage):
    path = folder / "linear.npz"
    path.unlink() if damage is None else path.write_bytes(damage)
    assert fixtures.main(["--check"]) == 1
    assert fixtures.main([]) == 0
    assert fixtures.main(["--check"]) == 0


def test_a_file_that_no_generator_makes_is_stale_and_removed(folder):
    (folder / "left_over.npz").write_bytes(b"")
    assert fixtures.main(["--check"]) == 1
    assert fixtures.main([]) == 0
    assert sorted(path.name for path in folder.iterdir()) == ["linear.npz", "logsumexp_dim_0.npz"]


def test_the_heads_bias_is_0_because_a_head_without_one_is_right_too():
    assert not fixtures.arrays("decoder_lm_1_layer")["parameter.lm_head.bias"].any()
