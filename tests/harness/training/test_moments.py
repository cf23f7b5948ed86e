"""Training can end in one process and go on in another: parameters and Adam's moments travel as arrays."""

import numpy as np
import pytest

from assignment.framework import TensorBackend, tensor
from assignment.training import Translator, grammar, translator
from solution import transformer, translation

SIZES = {"n_embd": 16, "n_head": 4, "n_positions": grammar.LENGTH, "n_layer": 1}


@pytest.fixture(autouse=True)
def _reference(monkeypatch):
    monkeypatch.setattr(translator, "DecoderLM", transformer.DecoderLM)
    monkeypatch.setattr(translator, "loss_fn", translation.loss_fn)


@pytest.fixture(scope="module")
def lesson():
    return grammar.draw(np.random.default_rng(0), 6, 8, 4)


def made(lesson, seed, dtype="float32"):
    return Translator(len(lesson.words), **SIZES, backend=TensorBackend(dtype=dtype, seed=seed))


def taught(model, batches):
    return model.learn(tensor(batches, backend=model.backend), 1e-2).to_numpy()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_another_model_takes_over_goes_on_to_the_last_bit(lesson, dtype):
    whole, first, second = made(lesson, 0, dtype), made(lesson, 0, dtype), made(lesson, 1, dtype)
    losses = taught(whole, lesson.batches)
    before = taught(first, lesson.batches[:2])
    state = first.learned()
    second.load_state({n.removeprefix("parameter."): a for n, a in state.items() if n.startswith("parameter.")})
    assert second.go_on(state).to_numpy().tolist() == [2.0]
    np.testing.assert_array_equal(np.concatenate([before, taught(second, lesson.batches[2:])]), losses)
    ends = whole.learned(), second.learned()
    assert ends[0].keys() == ends[1].keys()
    for name in ends[0]:
        np.testing.assert_array_equal(ends[0][name], ends[1][name])


def test_before_the_first_step_the_moments_are_zero(lesson):
    state = made(lesson, 0).learned()
    assert (state["counts"] == 0).all()
    assert not any(array.any() for name, array in state.items() if name.startswith(("mean.", "square.")))
    assert made(lesson, 0).go_on(state).to_numpy().tolist() == [0.0]


def test_a_state_is_a_copy(lesson):
    model = made(lesson, 0)
    taught(model, lesson.batches[:1])
    state = model.learned()
    kept = {name: array.copy() for name, array in state.items()}
    taught(model, lesson.batches[1:])
    for name, array in state.items():
        np.testing.assert_array_equal(array, kept[name])


def test_counts_of_another_model_are_refused(lesson):
    model = made(lesson, 0)
    state = model.learned()
    with pytest.raises(ValueError, match="3 counts arrived for"):
        model.go_on({**state, "counts": np.zeros(3, int)})


def test_measuring_is_the_loss_in_evaluation_mode_and_teaches_nothing(lesson):
    model = made(lesson, 0)
    batch = tensor(lesson.batches[0], backend=model.backend)
    parts = dict(zip(("input_ids", "labels", "label_token_weights"), (batch[0], batch[1], batch[2]), strict=True))
    expected = translation.loss_fn(parts, model.model).item()
    before = model.learned()
    assert model.measure(batch).to_numpy().tolist() == [pytest.approx(expected)]
    assert all(np.array_equal(array, before[name]) for name, array in model.learned().items())
