"""Nothing of a hidden check reaches a student: its arrays, numbers, texts and exceptions are planted and sought."""

from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import cycle
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest

from grader import pipeline, rebind
from grader.case import Answer, CallOutcome, Status, Trouble
from grader.fingerprint import ROOT
from grader.graded import Graded
from grader.messages import LANGUAGES
from grader.report import github
from grader.report.feedback import Detail, Style, feedback, feedback_html
from grader.report.folder import REPORT, write_submission
from grader.report.gradebook import Row
from grader.report.junit import dump_junit
from grader.rubric import load
from grader.submission import CANONICAL
from grader.verdict import Diagnosis, Mismatch, Raised, Verdict, Visibility

STYLES = [Style(language, detail) for language in LANGUAGES for detail in Detail]
CANARIES = ("CANARY", "canary", "4243", "9.7e", "6.3e", "7.8e")
TROUBLE = Trouble("CanaryError", "CANARY saw {}", "canary.py", 4243, "CANARY = canary(4243)")


@dataclass
class Caged:
    """A submission that answers with canaries: exceptions with the inputs in them, odd shapes, odd numbers."""

    session: object
    spending: object = None

    def run(self, cases, _limits):
        kinds = cycle([self.raises, self.is_large, self.is_long, self.returns_text])
        return tuple(next(kinds)(case) for case in cases)

    def raises(self, case):
        first = next(iter(case.calls[0].inputs.values())).value
        text = TROUBLE.text.format(np.asarray(first).ravel()[:3] if first is not None else "")
        return Answer(Status.RAISED, trouble=replace(TROUBLE, text=text))

    def is_large(self, case):
        return self._with(case, lambda shape: np.full(shape, 7.8e7))

    def is_long(self, case):
        return self._with(case, lambda _: np.zeros(4243))

    def returns_text(self, case):
        outcomes = tuple(CallOutcome(Status.BAD_VALUE, TROUBLE) for _ in case.calls)
        return Answer(Status.OK, outcomes)

    def _with(self, case, make):
        arrays = {}
        for number, call in enumerate(case.calls):
            shape = np.shape(next(iter(call.inputs.values())).value)
            arrays[f"{number}.out"] = make(shape)
        own = {f"param.{name}": value for name, value in (case.parameters or {}).items()}
        return Answer(Status.OK, tuple(CallOutcome(Status.OK) for _ in case.calls), {**arrays, **own})


class Cage:
    """Stands for the sandbox."""

    def open(self, _files):
        return nullcontext(SimpleNamespace())


@pytest.fixture
def all_hidden():
    rubric = load()
    for problem in rubric.problems:
        for number, line in enumerate(problem.checks):
            problem.checks[number] = msgspec.structs.replace(line, visibility=Visibility.HIDDEN)
    return rubric


@pytest.mark.parametrize("only", ["p1.*", "p2.*", "p3.mha.heads"])
def test_no_canary_of_hidden_checks_gets_out_of_a_graded_submission(
    all_hidden, make_submission, make_report, monkeypatch, tmp_path, only
):
    for module in (pipeline, rebind):
        monkeypatch.setattr(module, "Student", Caged)
    reference = {name: (ROOT / "solution" / name).read_bytes() for name in CANONICAL}
    bench = pipeline.Bench(all_hidden, Cage(), {}, b"secret", make_report().environment, reference, only=(only,))
    graded = pipeline.grade(make_submission(), bench)
    checks = [check for problem in graded.report.problems for check in problem.checks]
    assert {check.visibility for check in checks} == {Visibility.HIDDEN}
    assert any(check.verdict in {Verdict.ERROR, Verdict.FAILED} for check in checks)
    for number, style in enumerate(STYLES):
        write_submission(tmp_path / str(number), graded, 0.0, style)
    seen_by_students = [path for path in tmp_path.rglob("feedback.*") if path.is_file()]
    assert len(seen_by_students) == 2 * len(STYLES)
    for path in seen_by_students:
        text = path.read_text(encoding="utf-8").split("</style>")[-1]
        assert [canary for canary in CANARIES if canary in text] == [], path
    assert "CANARY" in next(tmp_path.rglob(REPORT)).read_text(encoding="utf-8")  # the staff's report has them


def planted(visibility):
    """The fields of a failed check in which a canary can stand."""
    return {
        "visibility": visibility,
        "error": Mismatch(
            what="0.CANARY", kind="value", max_abs=9.7e13, max_rel=6.3e-7, at=[4243], tolerance=7.8e-9, got=[4243],
            wanted=[4243], relation="factor", factor=9.7e13,
        ),
        "message": "canary printed by the student: 9.7e13",
        "raised": Raised(kind="CanaryError", text="CANARY", file="canary.py", line=4243, source="CANARY"),
        "remarks": ["canary"],
    }  # fmt: skip


@pytest.mark.parametrize("style", STYLES, ids=lambda style: f"{style.language}-{style.detail.value}")
@pytest.mark.parametrize("verdict", [Verdict.FAILED, Verdict.ERROR, Verdict.TIMEOUT, Verdict.MEMORY, Verdict.PASSED])
def test_what_a_student_reads_does_not_depend_on_what_a_hidden_check_saw(
    make_report, make_check, make_submission, style, verdict
):
    diagnosis = Diagnosis(misconception="mha.no_scale", match="exact", hint="for staff: canary")
    bare = make_report(checks=[make_check(verdict, visibility=Visibility.HIDDEN, diagnosis=diagnosis)])
    full = make_report(checks=[make_check(verdict, diagnosis=diagnosis, **planted(Visibility.HIDDEN))])
    assert feedback(full, style) == feedback(bare, style)
    assert feedback_html(full, style) == feedback_html(bare, style)
    submission = make_submission(files={"canary.py": b"", "nn.py": b""})
    one, other = ([Row(submission, report)] for report in (full, bare))
    assert dump_junit(one, style) == dump_junit(other, style)
    assert list(github.commands(one, style, lambda _, name: name)) == list(
        github.commands(other, style, lambda _, name: name)
    )


def test_the_same_canaries_of_a_public_check_are_found(make_report, make_check):
    check = make_check(Verdict.FAILED, **planted(Visibility.PUBLIC))
    text = feedback(make_report(checks=[check]), Style()).decode()
    assert [canary for canary in CANARIES if canary not in text] == []


def test_what_staff_read_is_in_no_file_of_a_student(make_report, make_check, tmp_path):
    diagnosis = Diagnosis(misconception="mha.no_scale", match="exact", hint="canary for staff")
    graded = Graded(make_report(checks=[make_check(diagnosis=diagnosis)]))
    write_submission(tmp_path, graded, 0.0, Style())
    holding = [path.name for path in tmp_path.rglob("*") if path.is_file() and b"canary" in path.read_bytes()]
    assert holding == [REPORT]
