"""A state that comes from a worker is taken only where every part of it fits the model that was sent."""

import numpy as np
import pytest

from grader.case import Answer, Call, CallOutcome, Case, Status
from grader.translation.state import flaw, state_of

W, B = np.ones((2, 3), np.float32), np.zeros(3, np.float32)
CASE = Case("training.Translator", (Call({}), Call({}, method="learned", state=True)), parameters={"w": W, "b": B})
GOOD = {
    **{f"{kind}.{name}": array for kind in ("parameter", "mean", "square") for name, array in (("w", W), ("b", B))},
    "counts": np.array([4, 4]),
}


def answer(arrays, **fields):
    named = {f"1.state.{name}": array for name, array in arrays.items() if array is not None}
    return Answer(Status.OK, (CallOutcome(Status.OK),) * 2, {"0.out": np.ones(1), **named, **fields})


def test_a_whole_state_is_taken_over():
    assert flaw(CASE, answer(GOOD), 1, 4) == ""
    state = state_of(answer(GOOD), 1)
    assert state.parameters.keys() == {"w", "b"}
    assert state.moments.keys() == GOOD.keys() - {"parameter.w", "parameter.b"}


def test_numbers_are_kept_in_single_precision():
    double = {name: array.astype(np.float64) if array.dtype.kind == "f" else array for name, array in GOOD.items()}
    assert flaw(CASE, answer(double), 1, 4) == ""
    assert {a.dtype for a in state_of(answer(double), 1).parameters.values()} == {np.dtype(np.float32)}


def test_a_parameter_more_or_of_another_width_is_the_submissions_own_from_the_start():
    own = {"param.b": np.zeros(5), "param.more": np.zeros(1)}
    arrays = {**GOOD, "parameter.b": np.zeros(5), "mean.b": np.zeros(5), "square.b": np.zeros(5)}
    assert flaw(CASE, answer({**arrays, "parameter.more": np.zeros(1)}, **own), 1, 4) == ""
    assert "other parameters" in flaw(CASE, answer(arrays, **own), 1, 4)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"parameter.w": None}, "other parameters"),
        ({"parameter.w": W.T}, "other parameters"),
        ({"parameter.c": B}, "other parameters"),
        ({"mean.w": None}, "moments of other shapes"),
        ({"mean.w": W.T, "square.w": W.T}, "moments of other shapes"),
        ({"mean.c": B, "square.c": B}, "moments of other shapes"),
        ({f"{kind}.{name}": None for kind in ("mean", "square") for name in "wb"}, "moments of other shapes"),
        ({"counts": None}, "does not count"),
        ({"counts": np.array([4])}, "does not count"),
        ({"counts": np.array([4, 5])}, "does not count"),
        ({"counts": np.array([4, -1])}, "does not count"),
        ({"counts": np.array([4.0, 4.0])}, "does not count"),
        ({"more": B}, "no part of one"),
        ({"parameter.w": W * np.nan}, "a NaN"),
        ({"square.b": B + np.inf}, "an infinity"),
        ({"square.b": np.full(3, 1e300)}, "an infinity"),  # it is one in float32
        ({"mean.b": np.zeros(3, bool)}, "no number"),
        ({"mean.b": np.zeros(3, int)}, "no number"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow")
def test_a_state_with_one_wrong_part_is_refused(change, says):
    assert says in flaw(CASE, answer({**GOOD, **change}), 1, 4)


def test_no_state_at_all_is_refused():
    assert flaw(CASE, answer({}), 1, 4)
