"""`tests/gpu.py`, which needs a GPU: on arrays that refuse NumPy's it runs, finds a difference, says what it lacks."""

import importlib.util
import sys

import numpy as np
import pytest

from assignment.framework import TensorBackend
from grader.fingerprint import ROOT


@pytest.fixture(scope="module", autouse=True)
def mode():
    """Once is enough here: the script says itself where its tensors are."""
    return "at once"


@pytest.fixture(scope="module")
def gpu():
    """The script, as a module."""
    spec = importlib.util.spec_from_file_location("gpu", ROOT / "tests" / "gpu.py")
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "gpu", module)  # where dataclasses look for the names in their annotations
        spec.loader.exec_module(module)
        yield module


@pytest.fixture
def pretend(gpu, device_arrays, monkeypatch):
    """Lets the script take those arrays for a GPU's; nothing is trained and nothing timed."""

    def backend_for(device, dtype, seed):
        return TensorBackend(device_arrays if device == "cuda" else np, dtype, seed)

    monkeypatch.setattr(gpu, "backend_for", backend_for)
    monkeypatch.setattr(gpu, "training", lambda _here, _there: ())
    monkeypatch.setattr(gpu, "speed", lambda _backend: "not timed")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_operation_and_module_is_the_same_to_the_last_bit_on_arrays_that_refuse_numpy(gpu, device_arrays, dtype):
    rows = list(gpu.operations(TensorBackend(np, dtype), TensorBackend(device_arrays, dtype)))
    rows += gpu.modules(TensorBackend(np, dtype), TensorBackend(device_arrays, dtype))
    assert {row.what: row.difference for row in rows} == dict.fromkeys([*gpu.OPERATIONS, *gpu.MODULES], 0.0)


def test_training_follows_the_cpu(gpu, device_arrays):
    here, there = TensorBackend(np, "float32", seed=0), TensorBackend(device_arrays, "float32", seed=0)
    losses, translated = gpu.training(here, there, steps=3, batch=2, held_out=2, width=8)
    assert (losses.what, losses.difference) == ("first 5 losses", 0.0)
    assert translated.difference == 1.0  # three steps are not enough
    assert not translated.holds


def test_a_nan_anywhere_is_a_difference(gpu):
    one, nan = np.ones(2), np.array([1.0, np.nan])
    assert np.isnan(gpu.difference({"out": one, "grad of x": one}, {"out": one, "grad of x": nan}))
    assert gpu.difference({"out": one}, {"out": np.ones(1)}) == np.inf


@pytest.mark.usefixtures("pretend")
def test_it_says_that_all_is_the_same(gpu, capsys):
    assert gpu.main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2:] == ["all the same", "not timed"]
    assert len(lines) == 1 + 2 * (len(gpu.OPERATIONS) + len(gpu.MODULES)) + 2


@pytest.mark.usefixtures("pretend")
@pytest.mark.parametrize("wrong", [1.001, np.nan])
def test_a_difference_is_named_and_is_a_failure(gpu, monkeypatch, capsys, wrong):
    monkeypatch.setitem(gpu.OPERATIONS, "exp", lambda x, *_: x.exp() * (1 if x.backend.on_cpu else wrong))
    assert gpu.main() == 1
    out = capsys.readouterr().out
    assert [line.split()[0] for line in out.splitlines() if "DIFFERENT" in line] == ["exp", "exp"]
    assert "2 different" in out


def test_without_cupy_it_says_so_in_one_line_and_compares_nothing(gpu, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert gpu.main() == 3
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("tests.gpu compared nothing: device cuda: CuPy cannot be imported")
