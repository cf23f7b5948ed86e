"""What several tests of the harness share."""

import os
import shutil
from collections.abc import Callable

import pytest
from hypothesis import settings

from grader import grading, pipeline, preflight, rubric, sandbox
from grader.case import Limits
from grader.fingerprint import ROOT
from grader.rubric import Rubric
from grader.stubs import release_stubs
from grader.submission import CANONICAL, Submission
from grader.verdict import (
    SCHEMA,
    CheckReport,
    Environment,
    Points,
    ProblemReport,
    Report,
    Status,
    SubmissionReport,
    Verdict,
    Visibility,
)

settings.register_profile("nightly", max_examples=5_000, deadline=None)
if wanted := os.environ.get("HYPOTHESIS_PROFILE"):  # pytest's own option comes too early for a profile made here
    settings.load_profile(wanted)

_HEAD = "schema: hw3-rubric/1\nmax_score: 5\nlimits: {wall_s: 20, cpu_s: 10, memory_mib: 1024}\n"
ENVIRONMENT = Environment(
    grader="0.1.0", python="3.11.7", numpy="2.4.6", torch="2.13.0", sandbox="test", rubric="sha256:ab", seed="sha256:cd"
)
_TOLERANCES = """
schema: hw3-tolerances/1
classes:
  float64: {outputs: 1.0e-9, gradients: 1.0e-9, wrong: 1.0e-6}
  float32: {outputs: 1, gradients: 1, wrong: 1}
"""


@pytest.fixture
def make_rubric() -> Callable[..., Rubric]:
    """Makes a rubric of one problem worth 5 points from check lines in YAML."""

    def make(*lines: str) -> Rubric:
        checks = "".join(f"      - {line}\n" for line in lines)
        return Rubric(f"{_HEAD}problems:\n  - id: p1\n    title: T\n    checks:\n{checks}", _TOLERANCES)

    return make


@pytest.fixture
def make_submission() -> Callable[..., Submission]:
    """Makes a submission of one file; keywords replace its fields."""

    def make(identifier: str = "s001", **fields: object) -> Submission:
        usual = {"members": (identifier,), "source": f"{identifier}.zip", "layout": "plain", "sha256": "sha256:0f"}
        return Submission(**{"id": identifier, "files": {"nn.py": b"x = 1\n"}, **usual, **fields})

    return make


@pytest.fixture
def make_check() -> Callable[..., CheckReport]:
    """Makes a check of 4 points that failed by a value; keywords replace its fields."""

    def make(verdict: Verdict = Verdict.FAILED, **fields: object) -> CheckReport:
        usual = {
            "id": "p1.lse.value",
            "title": "logsumexp over any dimension",
            "visibility": Visibility.PUBLIC,
            "points": Points(earned=4.0 if verdict is Verdict.PASSED else 0.0, available=4.0),
        }
        return CheckReport(verdict=verdict, **{**usual, **fields})

    return make


@pytest.fixture
def make_report(make_check) -> Callable[..., Report]:
    """Makes a report of one problem with the checks given, its sums made to fit; keywords replace its fields."""

    def make(identifier: str = "s001", checks: list[CheckReport] | None = None, **fields: object) -> Report:
        checks = [make_check(Verdict.PASSED)] if checks is None else checks
        score = sum(check.points.earned + check.points.carried_forward for check in checks)
        top = sum(check.points.available for check in checks)
        pending = sum(check.points.available for check in checks if check.verdict is Verdict.PENDING)
        problem = ProblemReport(
            id="p1", title="Softmax loss", score=score, max_score=top, pending=pending, checks=checks
        )
        usual = {
            "schema": SCHEMA,
            "submission": SubmissionReport(
                id=identifier,
                members=[identifier],
                source=f"{identifier}.zip",
                layout="plain",
                sha256="sha256:0f",
                files={"nn.py": "sha256:1e5"},
            ),
            "status": Status.GRADED,
            "score": score,
            "max_score": top,
            "pending": pending,
            "problems": [problem],
            "needs_review": False,
            "message": "",
            "remarks": [],
            "environment": ENVIRONMENT,
        }
        return Report(**{**usual, **fields})

    return make


@pytest.fixture(scope="session")
def bench() -> pipeline.Bench:
    """The shipped rubric and the best sandbox of this machine, with short limits: what hangs need not hang for long."""
    lines = rubric.load()
    lines.limits = Limits(wall_s=8.0, cpu_s=1, memory_mib=1024)
    box, secret = sandbox.probe("auto"), b"a secret of the tests, 32 bytes!"
    reference = preflight.submission_of(ROOT / "solution", preflight.REFERENCE).files
    return pipeline.Bench(lines, box, release_stubs(), secret, grading.environment(lines, box.tier, secret), reference)


@pytest.fixture
def students_folder(tmp_path):
    """What a student has: stubs, public tests and the release's own files, as far as the tests need them."""
    folder = tmp_path / "student"
    ignored = shutil.ignore_patterns("harness", "samples", "benchmarks", "gpu.py", "__pycache__")
    shutil.copytree(ROOT / "tests", folder / "tests", ignore=ignored)
    shutil.copytree(ROOT / "assignment", folder / "assignment", ignore=ignored)
    shutil.copytree(ROOT / "handouts" / "release", folder, dirs_exist_ok=True)
    return folder


@pytest.fixture
def solution_with() -> Callable[..., Submission]:
    """The reference with pieces of text replaced, as a submission: `solution_with(("nn.py", old, new), ...)`."""

    def make(*replacements: tuple[str, str, str]) -> Submission:
        files = {name: (ROOT / "solution" / name).read_text("utf-8") for name in CANONICAL}
        for name, old, new in replacements:
            assert files[name].count(old) == 1, f"{old!r} stands {files[name].count(old)} times in {name}"
            files[name] = files[name].replace(old, new)
        return Submission("s", ("s",), "s", "plain", "", {name: text.encode() for name, text in files.items()})

    return make
