"""No batch starts unless the reference scores full marks and blank stubs nothing."""

import pytest

from grader import preflight
from grader.errors import InfrastructureError, RefusedToStartError
from grader.graded import Graded
from grader.submission import CANONICAL
from grader.verdict import Points, Verdict


@pytest.fixture
def root(tmp_path):
    for folder in ("solution", "assignment"):
        (tmp_path / folder).mkdir()
        for name in CANONICAL:
            (tmp_path / folder / name).write_text(f"# {folder}\n")
    return tmp_path


@pytest.fixture
def grader(make_report, make_check):
    """Makes a grader that gives the reference and the stubs these checks, and counts what it grades."""

    def make(reference=None, blank=None):
        checks = {
            b"# solution\n": reference or [make_check(Verdict.PASSED), make_check(Verdict.PENDING)],
            b"# assignment\n": blank or [make_check(Verdict.ERROR, unwritten=True)],
        }

        def grade_one(submission):
            grade_one.count += 1
            return Graded(make_report(submission.id, checks[submission.files["nn.py"]]))

        grade_one.count = 0
        return grade_one

    return make


def test_what_passed_is_not_graded_again_until_something_changes(root, grader, tmp_path):
    grade_one = grader()
    for facts, count in (({"rubric": "a"}, 2), ({"rubric": "a"}, 2), ({"rubric": "b"}, 4)):
        preflight.check(grade_one, facts, tmp_path / "cache", root)
        assert grade_one.count == count


def test_a_reference_without_full_marks_is_refused_each_time(root, grader, make_check, tmp_path):
    for _ in range(2):
        with pytest.raises(RefusedToStartError, match=r"reference scores 4\.0 .*p1\.lse\.value failed"):
            preflight.check(grader([make_check(Verdict.PASSED), make_check()]), {}, tmp_path / "cache", root)


def test_full_marks_need_every_verdict(root, grader, make_check, tmp_path):
    generous = make_check(Verdict.FAILED, points=Points(earned=4.0, available=4.0))
    with pytest.raises(RefusedToStartError, match="reference"):
        preflight.check(grader([generous]), {}, tmp_path / "cache", root)


def test_stubs_that_earn_points_are_refused(root, grader, make_check, tmp_path):
    paid = make_check(points=Points(earned=0.5, available=4.0))
    with pytest.raises(RefusedToStartError, match=r"blank stubs score 0\.5, expected 0 \(p1\.lse\.value\)"):
        preflight.check(grader(blank=[paid]), {}, tmp_path / "cache", root)


def test_without_a_solution_nothing_is_graded(root, grader, tmp_path):
    (root / "solution" / "nn.py").unlink()
    with pytest.raises(RefusedToStartError, match=r"no nn\.py.*student release has no solution"):
        preflight.check(grader(), {}, tmp_path / "cache", root)


def test_a_failing_sandbox_is_refused(root, tmp_path):
    def broken(_submission):
        raise InfrastructureError("no memory")

    with pytest.raises(RefusedToStartError, match="no memory"):
        preflight.check(broken, {}, tmp_path / "cache", root)


def test_a_cache_that_cannot_be_written_does_no_harm(root, grader, tmp_path):
    (tmp_path / "file").write_text("")
    preflight.check(grader(), {}, tmp_path / "file" / "cache", root)


def test_the_cache_lies_where_the_user_keeps_caches():
    assert str(preflight.cache_folder({"XDG_CACHE_HOME": "/c"})) == "/c/hw3-grader/preflight"
    assert preflight.cache_folder({"XDG_CACHE_HOME": "relative"}).parts[-3:] == (".cache", "hw3-grader", "preflight")
    assert preflight.cache_folder({}).is_absolute()
