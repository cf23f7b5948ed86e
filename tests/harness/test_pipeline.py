"""One submission, top to bottom, in a real sandbox: mistakes with and without a name, float32, unclear errors."""

from dataclasses import replace

import pytest

from grader import pipeline
from grader.verdict import Verdict

FFN = ("transformer.py", "GELU(self.linear_in(x))")
ATTEND = ("transformer.py", "heads = weights @ v ")


def grade(submission, bench, *only):
    report = pipeline.grade(submission, replace(bench, only=only)).report
    checks = {c.id: c for p in report.problems for c in p.checks if c.verdict is not Verdict.PENDING}
    return report, checks


def lost(checks):
    """Points not earned, by check."""
    points = {i: c.points.available - c.points.earned - c.points.carried_forward for i, c in checks.items()}
    return {i: p for i, p in points.items() if p}


def test_a_module_that_is_wrong_without_a_name_costs_its_own_points_and_nothing_above(bench, solution_with):
    _, checks = grade(solution_with((*FFN, "self.linear_in(x).tanh()")), bench, "p3.ffn", "p3.l*")
    assert lost(checks) == {"p3.ffn": 3}
    assert "what is wrong in FeedForward (p3.ffn)" in checks["p3.layer"].message


def test_two_modules_wrong_without_a_name_are_carried_together(bench, solution_with):
    both = solution_with((*FFN, "self.linear_in(x).tanh()"), (*ATTEND, "heads = (weights * weights) @ v "))
    _, checks = grade(both, bench, "p3.layer", "p3.mha.grad")
    assert lost(checks) == {"p3.ffn": 3, "p3.mha.heads": 4}


def test_a_mistake_above_a_broken_module_is_still_charged(bench, solution_with):
    both = solution_with(
        (*FFN, "self.linear_in(x).tanh()"),
        ("transformer.py", "self.ff(self.ln_2(x))", "self.ff(self.ln_2(x)) * 0.5"),
    )
    _, checks = grade(both, bench, "p3.layer")
    assert lost(checks) == {"p3.ffn": 3, "p3.layer": 4}


def test_three_mistakes_in_three_modules_cost_those_three(bench, solution_with):
    three = solution_with(
        ("nn.py", "(logsumexp(logits, dim=1) - chosen)", "(chosen - logsumexp(logits, dim=1))"),
        (
            "modules_basic.py",
            "normal = centred * (x.var(dim=last) + self.eps) ** -0.5",
            "normal = centred * (x.var(dim=last)) ** -0.5",
        ),
        ("transformer.py", " * head_size**-0.5", ""),
    )
    _, checks = grade(three, bench, "p1.*", "p2.*", "p3.mha*", "p3.ffn", "p3.l*", "p4.loss")
    assert lost(checks) == {"p1.loss.value": 4, "p2.layernorm.eps": 1, "p3.mha.scale": 3}


def test_the_right_gradient_of_a_wrong_forward_pass_earns_its_points(bench, solution_with):
    _, checks = grade(solution_with((*ATTEND, "heads = (weights * weights) @ v ")), bench, "p3.mha.grad")
    assert checks["p3.mha.heads"].verdict is Verdict.FAILED
    assert checks["p3.mha.grad"].verdict is Verdict.PASSED


def test_the_wrong_gradient_of_a_wrong_forward_pass_does_not(bench, solution_with):
    wrong = "heads = (weights * weights).detach() @ v "
    _, checks = grade(solution_with((*ATTEND, wrong)), bench, "p3.mha.grad")
    assert checks["p3.mha.grad"].verdict is Verdict.FAILED


def test_the_gradient_of_something_else_than_the_forward_pass_that_was_right_does_not(bench, solution_with):
    right = "    return (input - largest).exp().sum(dim).log() + largest\n"
    two_faces = """
    right, other = (input - largest).exp().sum(dim).log() + largest, input.sum(dim)
    if input.shape == (64, 6):
        math.seen = True
        return right
    return other if hasattr(math, "seen") else other + (right - other).detach()
"""
    two_faced = solution_with(("nn.py", right, two_faces))
    _, checks = grade(two_faced, bench, "p1.lse.*")
    assert lost(checks) == {"p1.lse.grad": 3}


@pytest.mark.parametrize(("below", "costs"), [("x.detach()", {"p2.linear.forward": 3}), ("x", {})])
def test_modules_without_gradients_do_not_hide_behind_one_below_that_lets_none_through(
    below, costs, bench, solution_with
):
    without = solution_with(
        ("modules_basic.py", "y = x @ self.weights.value", f"y = {below} @ self.weights.value"),
        ("transformer.py", "self.project_to_query_key_value(x)\n", "self.project_to_query_key_value(x.detach())\n"),
        ("transformer.py", "GELU(self.linear_in(x))", "GELU(self.linear_in(x)).detach()"),
    )
    _, checks = grade(without, bench, "p2.linear.forward", "p3.mha.grad", "p3.ffn")
    assert lost(checks) == costs | {"p3.mha.grad": 3, "p3.ffn": 3}


@pytest.mark.parametrize("above", [(), (("transformer.py", " * head_size**-0.5", ""),)])
def test_one_that_lets_no_gradient_through_costs_its_own_points_and_nothing_above(above, bench, solution_with):
    cut = ("modules_basic.py", "y = x @ self.weights.value", "y = x.detach() @ self.weights.value")
    _, checks = grade(solution_with(cut, *above), bench, "p2.linear.forward", "p3.mha.*", "p3.ffn", "p3.l*")
    assert lost(checks) == {"p2.linear.forward": 3} | ({"p3.mha.scale": 3} if above else {})


def test_a_module_that_returns_zeros_earns_nothing_for_its_gradients(bench, solution_with):
    _, checks = grade(solution_with((*ATTEND, "heads = (weights * 0) @ v ")), bench, "p3.mha.*")
    assert sum(c.points.earned + c.points.carried_forward for c in checks.values()) == 0


def test_float32_is_compared_at_its_own_tolerance_with_a_remark(bench, solution_with):
    new = "return tensor_from_numpy(y.to_numpy(), backend=TensorBackend(dtype='float32'))"
    single = solution_with(
        (
            "transformer.py",
            "y: Tensor = self.out_projection(self.self_attention(q, kT, v, pad_mask))\n        return y",
            "y = self.out_projection(self.self_attention(q, kT, v, pad_mask))\n        " + new,
        ),
        (
            "transformer.py",
            "from assignment.framework import Module,",
            "from assignment.framework import tensor_from_numpy, Module,",
        ),
    )
    _, checks = grade(single, bench, "p3.mha.scale")
    assert {c.verdict for c in checks.values()} == {Verdict.PASSED}
    assert checks["p3.mha.scale"].remarks == [pipeline.IN_SINGLE]


def test_an_error_between_the_tolerance_and_a_clear_mistake_is_held_back_for_a_person(bench, solution_with):
    report, checks = grade(solution_with((*FFN, "GELU(self.linear_in(x) * (1 + 3e-8))")), bench, "p3.ffn")
    assert (checks["p3.ffn"].verdict, report.needs_review) == (Verdict.FAILED, True)


def test_a_clear_mistake_is_not_held_back(bench, solution_with):
    report, _ = grade(solution_with((*FFN, "GELU(self.linear_in(x) * (1 + 3e-4))")), bench, "p3.ffn")
    assert not report.needs_review


@pytest.mark.parametrize("write", ["given.array[...] = 7.0", "given.to_numpy()[0] = 7.0"])
def test_a_call_that_writes_into_its_input_is_told(write, bench, solution_with):
    old = "        x = x + self.attention(self.ln_1(x), pad_mask)\n"
    new = f"        given, x = x, x + self.attention(self.ln_1(x), pad_mask)\n        {write}\n"
    _, checks = grade(solution_with(("transformer.py", old, new)), bench, "p3.layer")
    assert "writes into its input x" in checks["p3.layer"].message


@pytest.mark.parametrize(
    "change",
    [
        ("rand((out_size,), backend=backend)", "rand((1,), backend=backend)"),
        ("x @ self.weights.value", "x @ self.weights.value * 2"),
    ],
    ids=["a bias of one element", "a factor"],
)
def test_a_linear_map_that_is_wrong_costs_its_own_points_and_nothing_above(change, bench, solution_with):
    _, checks = grade(solution_with(("modules_basic.py", *change)), bench, "p2.linear.*", "p3.mha.*", "p3.ffn", "p3.l*")
    assert lost(checks).keys() <= {"p2.linear.forward", "p2.linear.init"}


DEAD = ("modules_basic.py", "y = x @ self.weights.value ", "y = x @ self.weights.value * 0 ")
NO_ATTENTION = (
    "transformer.py",
    "self.out_projection(self.self_attention(q, kT, v, pad_mask))",
    "self.out_projection(x)",
)


OF_LINEAR = {"p2.linear.forward": 3, "p2.linear.init": 2}
OF_ATTENTION = {f"p3.mha.{name}": points for name, points in zip(
    ("heads", "scale", "causal", "flag", "pad", "grad", "dropout"), (4, 3, 4, 2, 2, 3, 1), strict=True
)}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "expected"),
    [((DEAD,), OF_LINEAR), ((NO_ATTENTION,), OF_ATTENTION), ((DEAD, NO_ATTENTION), OF_LINEAR | OF_ATTENTION)],
    ids=["dead linear maps", "no attention", "both"],
)
def test_a_module_that_computes_nothing_costs_its_own_points_and_is_nobodys_excuse(
    changes, expected, bench, solution_with
):
    _, checks = grade(solution_with(*changes), bench, "p2.linear.*", "p3.mha*", "p3.ffn", "p3.l*")
    assert lost(checks) == expected


def test_returning_the_input_earns_nothing_for_its_gradient(bench, solution_with):
    old = "return (input - largest).exp().sum(dim).log() + largest"
    _, checks = grade(solution_with(("nn.py", old, "return input")), bench, "p1.lse.*")
    assert sum(c.points.earned + c.points.carried_forward for c in checks.values()) == 0
