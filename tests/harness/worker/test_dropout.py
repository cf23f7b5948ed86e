"""What is recorded of a submission's Dropout."""

import numpy as np
import pytest

from grader.case import Call, Case, Input, Mode, Status

SOURCE = {
    "modules_basic": """
from assignment.framework import Module, rand
class Dropout(Module):
    def __init__(self, p_dropout):
        super().__init__()
        self.p = p_dropout
    def forward(self, x):
        if not self.training or self.p == 0:
            return x
        return x * (rand(x.shape, backend=x.backend) > self.p) / (1 - self.p)
""",
    "transformer": """
from assignment.framework import Module
from .modules_basic import Dropout
class Block(Module):
    def __init__(self, p=0.5, backend=None):
        super().__init__()
        self.dropout = Dropout(p)
        self.inner = Inner(p)
    def forward(self, x):
        return self.dropout(self.inner(self.dropout.forward(x)))
class Inner(Module):
    def __init__(self, p):
        super().__init__()
        self.drop = Dropout(p)
    def forward(self, x):
        return Dropout(0.5)(self.drop(x))
""",
}
X = np.arange(1.0, 41.0).reshape(4, 10)
PATHS = ("dropout.0", "inner.drop.0", "outside.0", "dropout.1")


@pytest.fixture(scope="module")
def run(run_all):
    def run_one(case: Case):
        (answer,) = run_all(SOURCE, case)
        assert [call.status for call in answer.calls] == [Status.OK] * len(case.calls), answer.calls
        return answer.arrays

    return run_one


def test_every_use_is_recorded_by_path_and_number_and_the_factors_explain_the_output(run):
    arrays = run(Case("transformer.Block", (Call({"x": Input(X)}, Mode.TRAIN),), masks=True))
    masks = {name: array for name, array in arrays.items() if "mask" in name}
    assert set(masks) == {f"0.mask.{path}" for path in PATHS}
    explained = X.copy()
    for path in PATHS:
        explained = explained * masks[f"0.mask.{path}"]
    np.testing.assert_allclose(arrays["0.out"], explained, rtol=1e-15)
    first = masks["0.mask.dropout.0"]
    assert set(np.unique(first)) == {0.0, 2.0}  # 1/(1-p)


def test_a_factor_is_one_where_its_input_was_zero(run):
    arrays = run(
        Case("modules_basic.Dropout", (Call({"x": Input(np.zeros(8))}, Mode.TRAIN),), {"p_dropout": 0.5}, masks=True)
    )
    assert arrays["0.mask..0"].tolist() == [1.0] * 8


def test_nothing_is_recorded_in_evaluation_but_of_a_dropout_made_on_the_spot_which_trains(run):
    call = Call({"x": Input(X)}, Mode.EVAL)
    assert set(run(Case("transformer.Block", (call,), masks=True))) == {"0.out", "0.mask.outside.0"}


def test_nothing_is_recorded_when_not_asked_for(run):
    call = Call({"x": Input(X)}, Mode.TRAIN)
    assert set(run(Case("transformer.Block", (call,)))) == {"0.out"}


def test_numbers_begin_again_with_each_call(run):
    call = Call({"x": Input(X)}, Mode.TRAIN)
    arrays = run(Case("transformer.Block", (call, call), masks=True))
    assert {name for name in arrays if name.startswith("1.mask")} == {f"1.mask.{path}" for path in PATHS}
    assert (arrays["0.mask.dropout.0"] != arrays["1.mask.dropout.0"]).any()


def test_a_module_without_p_records_ones(run):
    arrays = run(Case("modules_basic.Dropout", (Call({"x": Input(X)}, Mode.TRAIN),), {"p_dropout": 0}, masks=True))
    np.testing.assert_array_equal(arrays["0.mask..0"], np.ones_like(X))
