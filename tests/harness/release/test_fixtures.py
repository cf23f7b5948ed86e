"""The arrays of the public tests: made by the twins, the same bytes each time, and `--check` sees every change."""

from __future__ import annotations

import json

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


@pytest.fixture(scope="module")
def right_files():
    return [dict(np.load(path)) for path in sorted(fixtures.FOLDER.glob("*.npz"))]


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


def lookalikes(content, array):
    """Names of mistakes -> what they give in the place of an array."""
    stacks = [key for key in content if key.startswith(f"names.{array}/")]
    rows = [zip(content[key], content[key.replace("names", "wrong")], strict=True) for key in stacks]
    return {names.decode(): wrong for pairs in rows for names, wrong in pairs}


def test_what_a_mistake_gives_stands_beside_the_right_values():
    linear = fixtures.arrays("linear")
    x, weights, bias = linear["input.x"], linear["parameter.weights"], linear["parameter.bias"]
    assert lookalikes(linear, "out").keys() == {"linear.bias_unused"}
    np.testing.assert_allclose(lookalikes(linear, "out")["linear.bias_unused"], x @ weights, rtol=1e-12)
    assert lookalikes(linear, "gradient.x").keys() == {"linear.gradient_cut"}
    assert not lookalikes(linear, "gradient.x")["linear.gradient_cut"].any()
    assert not lookalikes(linear, "parameter_gradient.bias")["linear.bias_unused"].any()
    assert bias.all()


def test_wrong_arrays_of_another_shape_and_infinite_ones_are_kept():
    dropped = lookalikes(fixtures.arrays("logsumexp_dim_0"), "out")["lse.dim_dropped"]
    right = fixtures.arrays("logsumexp_dim_0")["out"]
    np.testing.assert_allclose(dropped, right[0], rtol=1e-12)
    overflow = lookalikes(fixtures.arrays("logsumexp_of_large_numbers"), "out")["lse.no_shift"]
    assert overflow.tolist() == [[np.inf], [-np.inf]]


def test_mistakes_that_give_the_same_share_one_array_and_variants_one_name():
    found = lookalikes(fixtures.arrays("softmax_loss_1_example"), "gradient.logits")
    assert "loss.target_gradient_cut lse.max_carries_gradient" in {" ".join(sorted(names.split())) for names in found}
    assert "layernorm.wrong_axis" in lookalikes(fixtures.arrays("layer_norm_4"), "out")


def test_no_wrong_array_is_right_or_stands_twice(right_files):
    for content in right_files:
        for array in content:
            wrong = list(lookalikes(content, array).values())
            for number, first in enumerate(wrong):
                for other in (content[array], *wrong[:number]):
                    assert first.shape != other.shape or not np.allclose(first, other, rtol=0, atol=1e-9)


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


def test_another_rounding_of_what_is_0_but_for_rounding_is_the_same():
    noise = np.array([2e-16, -1e-16])  # as of the key bias, whose gradient is 0
    assert fixtures.is_same(noise, np.array([-1e-16, 3e-16]))
    assert not fixtures.is_same(noise, np.array([2e-16, 1e-11]))
    assert not fixtures.is_same(noise, noise[:1])


def test_a_changed_lookalike_is_stale(folder):
    change(folder / "linear.npz", "wrong.out/0", 1e-9)
    assert fixtures.main(["--check"]) == 1


def test_an_edited_hint_is_stale_and_written_again(folder, capsys):
    path = folder / "hints.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["en"]["rungs"]["linear.bias_unused"][0] = "Add the bias."
    path.write_text(json.dumps(content), encoding="utf-8")
    assert fixtures.main(["--check"]) == 1
    assert capsys.readouterr().err.startswith("tests/fixtures/hints.json ")
    fixtures.main([])
    assert fixtures.main(["--check"]) == 0


def test_all_arrays_and_hints_are_less_than_a_megabyte():
    assert sum(path.stat().st_size for path in fixtures.FOLDER.iterdir()) < 10**6


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
    assert sorted(path.name for path in folder.iterdir()) == ["hints.json", "linear.npz", "logsumexp_dim_0.npz"]


def test_the_heads_bias_is_0_because_a_head_without_one_is_right_too():
    assert not fixtures.arrays("decoder_lm_1_layer")["parameter.lm_head.bias"].any()
