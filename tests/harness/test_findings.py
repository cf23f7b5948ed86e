"""What the report keeps of a fault, so that feedback can say it in words: exception, shapes, relation, who paid."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from grader import checks, twins
from grader.case import Answer, CallOutcome, Status, Trouble
from grader.evidence import gather
from grader.follow import carried_forward
from grader.judge import judge
from grader.rubric import load
from grader.verdict import Diagnosis, Mismatch, Outcome, Raised, Verdict

RUBRIC = load()
TROUBLE = Trouble("ValueError", "no", "nn.py", 12, "    x = head + 1\n")


def found(check, answer_of):
    """What the judge finds where each case is answered by `answer_of(case)`."""
    trials = checks.trials(check, checks.Draw(np.random.default_rng(3)))
    line = next(line for line in RUBRIC.checks if line.id == check)
    return judge(gather(trials, [answer_of(t.case) for t in trials], RUBRIC.tolerance(line), RUBRIC.single))


def right(case, change=lambda array: array):
    """The right answer, with every output changed."""
    arrays = twins.run(case, Answer(Status.OK), twins.RIGHT)
    changed = {name: change(array) if name.endswith("out") else array for name, array in arrays.items()}
    return Answer(Status.OK, tuple(CallOutcome(Status.OK) for _ in case.calls), changed)


@pytest.mark.parametrize("status", [Status.RAISED, Status.MEMORY, Status.BAD_VALUE])
def test_an_exception_is_kept_with_its_place(status):
    expected = Raised(kind="ValueError", text="no", file="nn.py", line=12, source="x = head + 1")
    assert found("p1.lse.value", lambda _: Answer(status, trouble=TROUBLE)).raised == expected
    in_call = Answer(Status.OK, (CallOutcome(status, TROUBLE),))
    assert found("p1.lse.value", lambda _: in_call).raised == expected


@pytest.mark.parametrize("status", [Status.UNWRITTEN, Status.MISSING])
def test_a_stub_and_a_missing_name_are_no_exceptions(status):
    finding = found("p1.lse.value", lambda _: Answer(status, trouble=TROUBLE))
    assert finding.raised is None
    assert finding.unwritten == (status is Status.UNWRITTEN)


def test_both_shapes_are_kept():
    error = found("p1.lse.value", lambda case: right(case, np.ravel)).error
    assert (error.kind, error.got, error.wanted) == ("shape", [5], [1, 5])


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (np.negative, ("sign", None)),
        (lambda a: 3 * a, ("batch_times", None)),
        (lambda a: 0.7 * a, ("factor", 0.7)),
        (lambda a: a + 0.25, ("offset", 0.25)),
        (lambda a: a**2, (None, None)),
    ],
)
def test_the_relation_to_the_right_numbers_is_kept(change, expected):
    error = found("p1.lse.value", lambda case: right(case, change)).error  # the first batch is of size 3
    assert (error.kind, error.relation, error.factor) == ("value", *expected)


def test_a_transposed_output_is_a_wrong_shape_with_a_relation():
    error = found("p1.lse.value", lambda case: right(case, np.transpose)).error
    assert (error.kind, error.relation) == ("shape", "transposed")


WIDE = Answer(Status.OK, arrays={"param.weights": np.zeros((5, 2))}, reshaped=("weights",))


def test_a_missing_parameter_is_missing_and_a_wrong_one_has_its_shape():
    narrow = found("p2.linear.forward", lambda _: WIDE).error
    assert (narrow.what, narrow.kind, narrow.got) == ("param.weights", "shape", [5, 2])
    absent = found("p2.linear.forward", lambda _: Answer(Status.OK, absent=("bias",))).error
    assert (absent.what, absent.kind, absent.got) == ("param.bias", "missing", None)


@dataclass(frozen=True)
class Cause:
    name: str
    blames: str


def test_what_is_carried_forward_names_the_checks_that_paid():
    failed = Outcome(verdict=Verdict.FAILED)
    low, other, high = "p3.mha.scale", "p3.ffn", "p3.layer"
    causes = {low: (Cause("a", low),), other: (Cause("b", other),), high: (Cause("a", low), Cause("b", other))}
    outcomes = carried_forward(dict.fromkeys((low, other, high), failed), causes)
    assert outcomes[high].carried == Fraction(1)
    assert outcomes[high].carried_from == (low, other)
    assert outcomes[low].carried_from == ()


def test_the_names_of_a_pair_are_told_apart():
    assert Diagnosis(misconception="a.b + c.d", match="exact", hint="").names == ("a.b", "c.d")
    assert Diagnosis(misconception="a.b", match="exact", hint="").names == ("a.b",)


def test_a_report_may_leave_out_what_it_has_not():
    assert Mismatch(what="0.out", kind="value").relation is None
