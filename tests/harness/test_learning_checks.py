"""The checks that train: what they ask, what they accept, what they make of a model that has not learned."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch

from grader import checks, pipeline, twins
from grader.case import Answer, CallOutcome, Case, Status
from grader.checks import learning
from grader.twins.learning import adam
from grader.verdict import Verdict

pytestmark = pytest.mark.timeout(300)  # models are trained, on machines that may be busy

OK = CallOutcome(Status.OK)
TARGETS = [[5, 6], [7], [8, 9, 10], [5]] * 5


def drawn(name: str) -> tuple[checks.Trial, ...]:
    return checks.trials(name, checks.Draw(np.random.default_rng(0)))


def graded(submission, bench, *only):
    report = pipeline.grade(submission, replace(bench, only=only)).report
    return {c.id: c for p in report.problems for c in p.checks if c.verdict is not Verdict.PENDING}


def translations(wrong: int) -> np.ndarray:
    """Right translations, padded, but for the first few."""
    rows = np.full((len(TARGETS), 3), -1)
    for row, target in zip(rows, TARGETS, strict=True):
        row[: len(target)] = target
    rows[:wrong, 0] = 11
    return rows


def broken(own: np.ndarray, given: np.ndarray):
    answer = Answer(Status.OK, (OK, OK, OK), {"1.out": own, "2.out": given})
    return learning._translated(TARGETS)(Case("training.Translator"), answer)


def test_the_reference_passes_what_trains(bench, solution_with):
    found = graded(solution_with(), bench, "p3.reversal.*", "p4.grammar.*")
    assert {c.verdict for c in found.values()} == {Verdict.PASSED}
    assert sum(c.points.earned for i, c in found.items() if checks.trains(i)) == 11
    assert [c.remarks for c in found.values() if c.remarks] == []  # in float32, as it was asked to


def test_a_file_of_problem_4_that_does_not_load_costs_nothing_of_problem_3(bench, solution_with):
    first = ("translation.py", "import sys\n", "import sys)\n")
    found = graded(solution_with(first), bench, "p3.reversal.follow", "p4.loss")
    assert found["p3.reversal.follow"].verdict is Verdict.PASSED
    assert found["p4.loss"].verdict is Verdict.ERROR


def test_a_mistake_that_was_paid_for_costs_nothing_in_training(bench, solution_with):
    found = graded(solution_with(("transformer.py", " * head_size**-0.5", "")), bench, "p3.mha.scale", "p3.reversal.*")
    lost = {i for i, c in found.items() if c.points.earned + c.points.carried_forward < c.points.available}
    assert lost == {"p3.mha.scale"}
    assert found["p3.reversal.follow"].points.carried_forward == 2


def test_a_fault_without_a_name_costs_nothing_in_training_either(bench, solution_with):
    change = ("transformer.py", "GELU(self.linear_in(x))", "self.linear_in(x).tanh()")
    found = graded(solution_with(change), bench, "p3.ffn", "p3.reversal.follow")
    assert found["p3.reversal.follow"].points.carried_forward == 2


@pytest.mark.parametrize(
    ("wrong", "earned"), [(0, None), (1, None), (2, Fraction(2, 3)), (3, Fraction(1, 3)), (4, 0), (20, 0)]
)  # of 20: 0.95 and more is all, 0.80 is nothing, in a line between
def test_points_for_exact_translations_lie_on_a_line(wrong, earned):
    found = broken(translations(wrong), translations(0))
    assert (found and found.share) == earned


def test_what_the_model_can_and_generate_cannot_is_blamed_on_generate():
    assert broken(translations(20), translations(0)).excused == ("p4.generate",)
    assert broken(translations(20), translations(20)).excused == ("p4.grammar.follow",)


def test_a_word_that_is_not_in_the_vocabulary_is_not_overlooked():
    rows = np.column_stack([translations(0), np.full(len(TARGETS), -2)])
    assert broken(rows, translations(0)).share == 0


@pytest.mark.parametrize("rows", [np.zeros((3, 2)), np.zeros((0,)), np.zeros((20, 2, 2)), np.full((20, 3), np.nan)])
def test_translations_of_another_form_earn_nothing(rows):
    assert broken(rows, translations(0)).share == 0


def test_a_model_that_says_the_same_of_all_has_learned_nothing():
    *_, with_positions, without = drawn("p3.reversal.order")
    labels = 64
    logits = np.tile([1.0, 0.0], (labels, 1))
    answer = Answer(Status.OK, (OK, OK), {"1.out": logits})
    (holds,) = with_positions.properties
    assert "50% of the turned sentences are right, expected at least 100%" in holds(with_positions.case, answer).text
    (holds,) = without.properties
    assert holds(without.case, answer) is None


def test_adam_is_torchs():
    generator = torch.Generator().manual_seed(0)
    ours = torch.randn(5, generator=generator, dtype=torch.float64)
    theirs = ours.clone().requires_grad_()
    optimizer = torch.optim.Adam([theirs], 0.01)
    mean, square = torch.zeros_like(ours), torch.zeros_like(ours)
    for count in range(1, 6):
        gradient = torch.randn(5, generator=generator, dtype=torch.float64)
        theirs.grad = gradient.clone()
        optimizer.step()
        adam(ours, gradient, mean, square, count, 0.01)
    assert torch.allclose(ours, theirs.detach(), rtol=1e-12, atol=0)


def test_the_twin_starts_afresh_each_time_it_is_asked():
    trial = drawn("p3.reversal.follow")[0]
    answer = Answer(Status.OK, (OK,))
    first = twins.run(trial.case, answer)["0.out"]
    twins.run.__globals__["CACHE"]._results.clear()
    assert np.array_equal(first, twins.run(trial.case, answer)["0.out"])
    assert first[-1] < first[0]  # it learns
