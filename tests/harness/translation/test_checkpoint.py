"""A checkpoint is there whole or not at all, and nothing in a damaged or foreign one is trusted."""

import numpy as np
import pytest

from grader.translation import checkpoint
from grader.translation.checkpoint import Checkpoint, Epoch, Place
from grader.translation.state import State

PLACE = Place(
    key="k",
    epoch=1,
    step=2,
    losses=(3.0, 0.1 + 0.2),
    curve=(Epoch(number=1, train_loss=3.0, valid_loss=2.0, score=1 / 3),),
)
STATE = State({"a.b": np.ones((2, 3), np.float32)}, {"mean.a.b": np.zeros((2, 3), np.float32), "counts": np.array([1])})


def test_what_is_saved_is_loaded(tmp_path):
    checkpoint.save(tmp_path / "new", Checkpoint(PLACE, STATE, {"a.b": STATE.parameters["a.b"] * 2}))
    found = checkpoint.load(tmp_path / "new", "k")
    assert found.place == PLACE
    for ours, theirs in ((found.state.parameters, STATE.parameters), (found.state.moments, STATE.moments)):
        assert ours.keys() == theirs.keys()
        assert all(np.array_equal(ours[name], theirs[name]) and ours[name].dtype == theirs[name].dtype for name in ours)
    assert (found.best["a.b"] == 2).all()
    assert [path.name for path in (tmp_path / "new").iterdir()] == [checkpoint.FILE]
    assert (tmp_path / "new" / checkpoint.FILE).stat().st_mode & 0o077 == 0


def test_a_finished_run_keeps_its_translations_and_no_parameters(tmp_path):
    done = Place(key="k", epoch=2, own=("the dog",), given=("a dog",))
    checkpoint.save(tmp_path, Checkpoint(done, STATE, STATE.parameters))
    found = checkpoint.load(tmp_path, "k")
    assert (found.place, dict(found.state.parameters), dict(found.best)) == (done, {}, {})


def test_one_of_something_else_is_none(tmp_path):
    checkpoint.save(tmp_path, Checkpoint(PLACE, STATE))
    assert checkpoint.load(tmp_path, "another") is None
    assert checkpoint.load(tmp_path / "nowhere", "k") is None


@pytest.mark.parametrize("length", [0, 1, 100, 500])
def test_half_of_one_is_none(length, tmp_path):
    checkpoint.save(tmp_path, Checkpoint(PLACE, STATE))
    whole = (tmp_path / checkpoint.FILE).read_bytes()
    (tmp_path / checkpoint.FILE).write_bytes(whole[:length])
    assert checkpoint.load(tmp_path, "k") is None


def test_pickled_things_in_one_are_not_looked_at(tmp_path):
    with (tmp_path / checkpoint.FILE).open("wb") as file:
        np.savez(file, where=np.array([{"key": "k"}], dtype=object))
    assert checkpoint.load(tmp_path, "k") is None


def test_discarding_what_is_not_there_is_nothing(tmp_path):
    checkpoint.discard(tmp_path)
    checkpoint.save(tmp_path, Checkpoint(PLACE, STATE))
    checkpoint.discard(tmp_path)
    assert checkpoint.load(tmp_path, "k") is None
