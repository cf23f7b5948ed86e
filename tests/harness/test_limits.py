"""Every check runs under its own limits, and a report names the limit that was met, always in the same words."""

from collections.abc import Callable
from dataclasses import replace
from importlib import resources

import pytest

from grader import pipeline, rebind, rubric
from grader.case import Limits
from grader.pipeline import Bench
from grader.student import Student
from grader.verdict import CheckReport, Verdict

TEXTS = [resources.files("grader").joinpath(name).read_text("utf-8") for name in ("rubric.yaml", "tolerances.yaml")]
LSE = ("nn.py", "return (input - largest).exp().sum(dim).log() + largest")


@pytest.fixture
def bench_with(bench: Bench) -> Callable[..., Bench]:
    """The bench, with limits of their own for some checks: `bench_with("{cpu_s: 1}", "p1.lse.value")`."""

    def make(limits: str, *checks: str) -> Bench:
        text = TEXTS[0]
        for check in checks:
            assert text.count(f"{{id: {check},") == 1
            text = text.replace(f"{{id: {check},", f"{{id: {check}, limits: {limits},")
        return replace(bench, rubric=rubric.Rubric(text, TEXTS[1]), only=checks)

    return make


def graded(submission, bench: Bench) -> dict[str, CheckReport]:
    report = pipeline.grade(submission, bench).report
    return {c.id: c for p in report.problems for c in p.checks if c.verdict is not Verdict.PENDING}


def test_the_head_holds_for_what_a_check_does_not_say(bench_with):
    lines = {line.id: line for line in bench_with("{wall_s: 60, cpu_s: 30}", "p1.lse.value").rubric.checks}
    of = bench_with("{wall_s: 60, cpu_s: 30}", "p1.lse.value").rubric.limits_of
    assert of(lines["p1.lse.value"]) == Limits(wall_s=60, cpu_s=30, memory_mib=1024)
    assert of(lines["p1.lse.grad"]) == Limits(wall_s=20, cpu_s=10, memory_mib=1024)


@pytest.mark.parametrize(
    ("limits", "code", "verdict", "words"),
    [
        ("{cpu_s: 1, wall_s: 8}", "while True: pass", Verdict.TIMEOUT, "time limit 1 s (8 s on the clock)"),
        ("{memory_mib: 300}", "raise MemoryError", Verdict.MEMORY, "memory limit 300 MiB"),
        ("{memory_mib: 300}", "import numpy; numpy.ones(2**28)", Verdict.MEMORY, "memory limit 300 MiB"),
        ("{memory_mib: 300}", "import os; os._exit(72)", Verdict.MEMORY, "memory limit 300 MiB"),
    ],
    ids=["a loop", "raised", "asked for", "none left to say so"],
)
def test_a_limit_of_a_checks_own_is_kept_and_named(limits, code, verdict, words, bench_with, solution_with):
    slow = solution_with((*LSE, f"{code}\n    return input"))
    assert_met(graded(slow, bench_with(limits, "p1.lse.value"))["p1.lse.value"], verdict, words)


def assert_met(check: CheckReport, verdict: Verdict, words: str) -> None:
    assert (check.verdict, check.message) == (verdict, words)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import os; kept = [os.dup(1) for _ in range(100)]", "open files limit 64: nn.logsumexp: OSError"),
        (
            "from threading import Event, Thread\n    Thread(target=Event().wait).start()",
            "threads limit 1: nn.logsumexp: RuntimeError: can't start new thread",
        ),
        ("raise OSError(27, 'File too large')", "file size limit 16 MiB: nn.logsumexp: OSError: [Errno 27]"),
        ("raise OSError(2, 'No such file')", "nn.logsumexp: FileNotFoundError: [Errno 2] No such file"),
    ],
)
def test_an_exception_that_comes_of_a_limit_says_which(code, words, bench, solution_with):
    check = graded(solution_with((*LSE, f"{code}\n    return input")), replace(bench, only=("p1.lse.value",)))
    assert check["p1.lse.value"].verdict is Verdict.ERROR
    assert check["p1.lse.value"].message.startswith(words)


@pytest.mark.parametrize(
    ("check", "change"),
    [
        ("p3.layer", ("GELU(self.linear_in(x))", "self.linear_in(x).tanh()")),  # over the reference's FeedForward
        ("p3.mha.grad", ("heads = weights @ v ", "heads = (weights * weights) @ v ")),  # its own forward pass
        ("p3.ffn", ("GELU(self.linear_in(x))", "GELU(self.linear_in(x) * (1 + 3e-8))")),  # and other seeds
    ],
)
def test_every_request_of_a_check_has_its_limits(check, change, bench_with, solution_with, monkeypatch):
    asked = []

    class Recorded(Student):
        def run(self, cases, limits):
            asked.append(limits)
            return super().run(cases, limits)

    monkeypatch.setattr(pipeline, "Student", Recorded)
    monkeypatch.setattr(rebind, "Student", Recorded)
    graded(solution_with(("transformer.py", *change)), bench_with("{wall_s: 33}", check))
    assert asked.count(Limits(wall_s=33.0, cpu_s=10, memory_mib=1024)) >= 2
    assert {limits.wall_s for limits in asked} <= {20.0, 33.0}


def test_what_a_check_used_is_told_apart_from_the_report(bench, solution_with):
    short = replace(bench, only=("p1.lse.value",))
    graded = pipeline.grade(solution_with((*LSE, "while True: pass")), short)
    assert graded.used.keys() == {"p1.lse.value"}
    used = graded.used["p1.lse.value"]
    assert (used.requests, used.cpu_s > 0.5, used.peak_mib > 5) == (1, True, True)
    assert pipeline.grade(solution_with((*LSE, "while True: pass")), short).report == graded.report
