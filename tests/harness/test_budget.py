"""What all checks of a submission may take together: right and slow code is far from it, and nothing gets past it."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from grader import pipeline, rubric
from grader.case import Budget, Fault, FaultKind, Limits
from grader.errors import InfrastructureError, UsageError
from grader.student import Spending, Student
from grader.verdict import Verdict

LIMITS = Limits()
P1 = ("p1.*",)
ONE_BY_ONE = "limit of 2 requests for all checks together, met before this one"
LATE = "time limit 0.001 s for all checks together, met before this one"
FIRST_LINE = ("transformer.py", "        q, kT, v = self.project_to_query_key_value(x)\n")


class Asked:
    """Stands in for a session: counts what it is asked, and fails where it is told to."""

    def __init__(self, error: Exception | None = None) -> None:
        self.requests, self._error = 0, error

    def exchange(self, _request: bytes, _limits: Limits) -> Fault:
        self.requests += 1
        if self._error:
            raise self._error
        return Fault(FaultKind.DIED, "it ended")


def bench_of(bench, budget: Budget, *only: str):
    shipped = rubric.load()
    shipped.budget = budget
    return replace(bench, rubric=shipped, only=only)


def graded(submission, bench):
    report = pipeline.grade(submission, bench).report
    return {c.id: c for p in report.problems for c in p.checks if c.verdict is not Verdict.PENDING}


def test_all_sandboxes_of_a_submission_take_of_one_budget():
    session, other = Asked(), Asked()
    spending = Spending(Budget(requests=3))
    students = [Student(session, spending), Student(other, spending)]
    found = [student.run([], LIMITS) for student in (*students, *students)]
    assert [fault.text for fault in found[:3]] == ["it ended"] * 3
    assert found[3] == Fault(FaultKind.TIMEOUT, "limit of 3 requests for all checks together, met before this one")
    assert (session.requests, other.requests) == (2, 1)


def test_the_clock_runs_while_a_request_is_made_and_not_between():
    times = itertools.accumulate([0.0, 4.0, 100.0, 6.0, 100.0, 1.0])  # asked and answered, three times
    session = Asked()
    student = Student(session, Spending(Budget(seconds=10), lambda: next(times)))
    found = [student.run([], LIMITS) for _ in range(3)]
    assert [fault.text for fault in found[:2]] == ["it ended"] * 2
    assert found[2] == Fault(FaultKind.TIMEOUT, "time limit 10 s for all checks together, met before this one")
    assert session.requests == 2


def test_what_the_machine_lost_costs_nothing():
    spending = Spending(Budget(requests=1))
    with pytest.raises(InfrastructureError):
        Student(Asked(InfrastructureError("lost")), spending).run([], LIMITS)
    assert spending.refusal is None


@pytest.mark.parametrize(("budget", "words"), [(Budget(2, 600), ONE_BY_ONE), (Budget(150, 1e-3), LATE)])
def test_what_is_not_run_any_more_is_a_timeout_that_names_the_budget(budget, words, bench, solution_with):
    found = graded(solution_with(), bench_of(bench, budget, "p1.lse.*", "p2.linear.forward"))
    assert found["p1.lse.value"].verdict is Verdict.PASSED
    late = found["p2.linear.forward"]
    assert (late.verdict, late.message, late.points.earned) == (Verdict.TIMEOUT, words, 0)


def test_wrong_answers_that_call_for_more_requests_end_at_the_budget(bench, solution_with, monkeypatch):
    made = []

    class Recorded(Student):
        def run(self, cases, limits):
            found = super().run(cases, limits)
            made.append(not isinstance(found, Fault))
            return found

    monkeypatch.setattr(pipeline, "Student", Recorded)
    wrong = solution_with(("transformer.py", "heads = weights @ v ", "heads = (weights * weights) @ v "))
    whole = graded(wrong, replace(bench, only=("p3.mha.grad",)))
    assert sum(made) > len(whole)  # more than one request for some
    made.clear()
    graded(wrong, bench_of(bench, Budget(requests=2), "p3.mha.grad"))
    assert sum(made) == 2


def test_right_and_slow_code_passes_within_its_limits(bench, solution_with):
    """About five times the reference's processor time, by work that is counted, in all that goes through attention."""
    name, first = FIRST_LINE
    slow = solution_with((name, first, f"{first}        assert sum(range(40_000)) > 0\n"))
    found = graded(slow, replace(bench, only=("p3.mha.*", "p3.layer", "p3.lm.*", "p3.reversal.follow")))
    assert {check.verdict for check in found.values()} == {Verdict.PASSED}


def test_code_that_hangs_in_one_place_loses_only_what_goes_there(bench, solution_with):
    name, first = FIRST_LINE
    hangs = solution_with((name, first, f"{first}        while pad_mask is not None:\n            pass\n"))
    quick = rubric.load()
    quick.limits = replace(quick.limits, cpu_s=1, wall_s=8.0)
    found = graded(hangs, replace(bench, rubric=quick, only=("p1.lse.value", "p3.mha.*", "p3.ffn")))
    assert {name: check.verdict for name, check in found.items() if check.verdict is not Verdict.PASSED} == {
        "p3.mha.pad": Verdict.TIMEOUT
    }


@pytest.mark.parametrize(
    ("budget", "why"),
    [
        ("{requests: 0}", "budget has 0 requests for 1 checks; expected one for each, or more"),
        ("{seconds: 19}", "budget has 19 seconds; expected 20, the longest wall_s of a check, to 86400"),
        ("{seconds: .nan}", "budget has nan seconds"),
        ("{minutes: 1}", "unknown field `minutes`"),
    ],
)
def test_a_budget_that_no_submission_could_keep_is_refused(budget, why):
    text = f"""
schema: hw3-rubric/1
max_score: 5
limits: {{wall_s: 20, cpu_s: 10, memory_mib: 1024}}
budget: {budget}
problems: [{{id: p1, title: T, checks: [{{id: a, points: 5, visibility: public}}]}}]
"""
    tolerance = "{outputs: 1, gradients: 1, wrong: 1}"
    tolerances = f"schema: hw3-tolerances/1\nclasses: {{float64: {tolerance}, float32: {tolerance}}}\n"
    with pytest.raises(UsageError, match=why):
        rubric.Rubric(text, tolerances)
