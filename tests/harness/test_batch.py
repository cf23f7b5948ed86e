"""A batch: no submission stops another, and whatever ends it leaves only whole files."""

import dataclasses
import errno
import stat
import threading

import pytest

from grader import batch
from grader.batch import Plan, grade_all, sole_use
from grader.errors import RefusedToStartError
from grader.graded import Graded
from grader.ledger import read
from grader.report.yaml import load_report
from grader.verdict import Status

RUN = {"seed": "s", "rubric": "r"}


@pytest.fixture
def plan(tmp_path):
    return Plan(out=tmp_path, run=RUN)


@pytest.fixture
def submissions(make_submission):
    return [make_submission(f"s{i}") for i in (2, 0, 1)]


@pytest.fixture
def grade(make_report):
    """Grades any submission, and keeps count."""

    class Grade:
        def __init__(self):
            self.seen = []

        def __call__(self, submission):
            self.seen.append(submission.id)
            return Graded(make_report(submission.id), {"p1.lse.value": 0.25})

    return Grade()


def test_each_submission_gets_its_files_and_a_line(plan, submissions, grade):
    done = grade_all(submissions, grade, plan)
    assert [entry.submission.id for entry in done] == ["s0", "s1", "s2"]
    assert sorted(grade.seen) == ["s0", "s1", "s2"]
    for name in ("s0", "s1", "s2"):
        assert load_report((plan.out / name / "report.yaml").read_bytes()).submission.id == name
        assert (plan.out / name / "feedback.md").read_text().startswith(f"# Feedback for {name}\n")
        assert "p1.lse.value: 0.25" in (plan.out / name / "timings.yaml").read_text()
    assert list(read(plan.out / "ledger.jsonl")) == ["s0", "s1", "s2"]


@pytest.mark.parametrize("error", [ValueError("bad\x1b[2J"), MemoryError(), OSError(errno.EMFILE, "too many files")])
def test_a_fault_of_the_grader_is_tried_again_and_stops_nobody_else(plan, submissions, grade, error):
    tries = []

    def faulty(submission):
        if submission.id == "s1":
            tries.append(1)
            raise error
        return grade(submission)

    done = grade_all(submissions, faulty, plan)
    assert [bool(entry.fault) for entry in done] == [False, True, False]
    assert done[1].report is None
    assert len(tries) == 2
    assert not (plan.out / "s1").exists()
    trace = plan.out / "staff" / "errors" / "s1.txt"
    assert "Traceback" in trace.read_text()
    assert stat.S_IMODE(trace.stat().st_mode) == 0o600


def test_a_fault_that_does_not_come_again_costs_nothing(plan, submissions, grade):
    first = {"s1"}

    def faulty(submission):
        if submission.id in first:
            first.remove(submission.id)
            raise ConnectionResetError
        return grade(submission)

    assert [entry.fault for entry in grade_all(submissions, faulty, plan)] == ["", "", ""]


def test_an_infrastructure_error_in_a_report_is_one(plan, submissions, make_report):
    def lost(submission):
        return Graded(make_report(submission.id, status=Status.INFRASTRUCTURE_ERROR, message="no sandbox"))

    assert {entry.fault for entry in grade_all(submissions, lost, plan)} == {"no sandbox"}


def test_a_fault_of_the_grader_leaves_the_older_report_as_it_is(plan, submissions, grade):
    grade_all(submissions, grade, plan)
    before = (plan.out / "s1" / "report.yaml").read_bytes()

    def broken(submission):
        raise RuntimeError(submission.id)

    grade_all(submissions, broken, plan)
    assert (plan.out / "s1" / "report.yaml").read_bytes() == before


def test_a_full_disk_is_an_infrastructure_error_of_that_submission(plan, submissions, grade, monkeypatch):
    write = batch.write_submission

    def full(out, graded, *rest):
        if graded.report.submission.id == "s1":
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(out, graded, *rest)

    monkeypatch.setattr(batch, "write_submission", full)
    done = grade_all(submissions, grade, plan)
    assert [entry.fault for entry in done] == ["", "OSError: [Errno 28] No space left on device", ""]


def test_jobs_work_side_by_side_and_a_slow_submission_holds_up_nobody(plan, submissions, grade):
    others = threading.Semaphore(0)

    def slow(submission):
        if submission.id == "s0":
            assert others.acquire(timeout=30)
            assert others.acquire(timeout=30)
        else:
            others.release()
        return grade(submission)

    finished = []
    grade_all(submissions, slow, dataclasses.replace(plan, jobs=2), lambda done: finished.append(done.submission.id))
    assert finished[-1] == "s0"


def test_the_files_do_not_depend_on_jobs(tmp_path, submissions, grade):
    for jobs in (1, 2):
        out = tmp_path / str(jobs)
        out.mkdir()
        grade_all(submissions, grade, Plan(out=out, run=RUN, jobs=jobs))
    one, two = (
        {p.relative_to(out): p.read_bytes() for p in out.glob("*/[rf]*")} for out in (tmp_path / "1", tmp_path / "2")
    )
    assert one == two
    assert len(one) == 9


def test_resume_grades_only_the_rest(plan, submissions, grade):
    grade_all(submissions[:2], grade, plan)
    grade.seen.clear()
    done = grade_all(submissions, grade, dataclasses.replace(plan, resume=True))
    assert grade.seen == ["s1"]
    assert [(entry.submission.id, entry.kept) for entry in done] == [("s0", True), ("s1", False), ("s2", True)]
    assert all(entry.report for entry in done)


def test_resume_after_another_seed_grades_all(plan, submissions, grade):
    grade_all(submissions, grade, plan)
    grade.seen.clear()
    grade_all(submissions, grade, dataclasses.replace(plan, resume=True, run=RUN | {"seed": "t"}))
    assert len(grade.seen) == 3


def test_a_fresh_run_grades_all(plan, submissions, grade):
    grade_all(submissions, grade, plan)
    grade_all(submissions, grade, plan)
    assert len(grade.seen) == 6


def test_one_submission_can_be_graded_again_alone(plan, submissions, grade):
    grade_all(submissions[:2], grade, plan)
    grade.seen.clear()
    done = grade_all(submissions, grade, dataclasses.replace(plan, only="s2"))
    assert grade.seen == ["s2"]
    assert [bool(entry.report) for entry in done] == [True, False, True]
    assert len(read(plan.out / "ledger.jsonl")) == 2


def test_ctrl_c_stops_taking_new_ones_and_keeps_what_is_finished(plan, make_submission, grade):
    def interrupt(_done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grade_all([make_submission(f"s{i}") for i in range(50)], grade, plan, interrupt)
    written = {path.parent.name for path in plan.out.glob("*/report.yaml")}
    assert written == set(read(plan.out / "ledger.jsonl"))
    assert written == {"s0"}
    assert not list(plan.out.rglob("*.tmp"))


@pytest.mark.parametrize("name", ["staff", "summary.yaml", "ledger.jsonl", ".lock", "index.html"])
def test_no_submission_can_take_the_place_of_the_graders_own_files(plan, make_submission, grade, name):
    grade_all([make_submission(name)], grade, plan)
    assert (plan.out / f"{name}~" / "report.yaml").exists()


def test_a_second_grader_on_the_same_folder_is_refused(tmp_path):
    with sole_use(tmp_path), pytest.raises(RefusedToStartError, match="another grader"), sole_use(tmp_path):
        pass
    with sole_use(tmp_path):
        pass
