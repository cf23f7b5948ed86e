"""The workflows, step by step, on this machine."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest
import yaml
from harness.ci.actions import job, run, writes

from grader import options

ROOT = Path(__file__).resolve().parents[3]
GRADE = ROOT / ".github" / "workflows" / "grade.yml"
CI = ROOT / "handouts" / "ci"
TESTS = ROOT / "handouts" / "release" / ".github" / "workflows" / "tests.yml"
SEED = "a secret that nobody guesses"
INPUTS = {"grader-repository": "course/grader", "grader-ref": "v1", "submission-repository": "", "submission-ref": ""}
DEFAULTS = {"only": "", "feedback": "full", "lang": "en"}
GITHUB = {"repository": "course/hw3-zoe", "sha": "c0ffee", "token": "read-only", "ref": "refs/heads/main"}


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "workspace").mkdir()
    return tmp_path / "workspace"


def contexts(**inputs):
    return {"inputs": {**INPUTS, **DEFAULTS, **inputs}, "github": GITHUB, "secrets": {"GRADER_SEED": SEED}}


def test_a_push_is_graded_and_its_feedback_stands_in_the_log_the_summary_and_the_artifact(
    workspace, tools, uses, repository
):
    stand_ins, asked = uses
    done = run(job(GRADE, "grade")["steps"], workspace, contexts(only="p1.loss.*"), stand_ins, tools)
    assert done.failed == [], done.log
    assert [(given["repository"], given["ref"], given["token"]) for given in asked] == [
        ("course/grader", "v1", "read-only"),
        ("course/hw3-zoe", "c0ffee", "read-only"),
    ]
    source = (repository / "assignment" / "nn.py").read_text().splitlines()
    line = source.index("def softmax_loss(logits: Tensor, target: Tensor) -> Tensor:") + 1
    errors = re.findall(
        r"^::error file=assignment/nn.py,line=(\d+),title=(softmax_loss returns[^:]*)::(.*)$", done.log, re.MULTILINE
    )
    assert [int(number) for number, _, _ in errors] == [line]
    assert "%0A" in errors[0][2]
    assert re.search(r"^::notice title=hw3-zoe::\d+ of 100, 91 points not assessed yet$", done.log, re.MULTILINE)
    assert done.summary.startswith("# Feedback for hw3-zoe\n")
    artifact = done.uploads["feedback"]
    assert sorted(path.name for path in artifact.rglob("*")) == ["feedback.html", "feedback.md", "junit.xml"]
    assert (artifact / "feedback.md").read_text() == done.summary
    assert not any(SEED in path.read_text("utf-8", "replace") for path in artifact.iterdir())
    assert SEED not in done.log


def test_without_the_seed_nothing_is_fetched_or_graded_and_a_line_says_why(workspace, tools, uses):
    stand_ins, asked = uses
    known = contexts() | {"secrets": {}}
    done = run(job(GRADE, "grade")["steps"], workspace, known, stand_ins, tools)
    assert (done.failed, done.steps, asked, done.uploads) == ([], ["Look for the seed"], [], {})
    assert done.log.startswith("::notice title=Not graded::Not graded: this run has no GRADER_SEED")
    assert done.summary.startswith("Not graded: this run has no GRADER_SEED")


def test_when_the_grader_refuses_the_job_fails_and_nothing_of_it_is_kept(workspace, tools, uses):
    stand_ins, _ = uses
    writes(tools / "hw3-grade", "#!/bin/bash\nmkdir -p reports/staff && touch reports/staff/feedback.md && exit 3\n")
    done = run(job(GRADE, "grade")["steps"], workspace, contexts(), stand_ins, tools)
    assert done.failed == ["Grade"]
    assert list(done.uploads["feedback"].iterdir()) == []


@pytest.mark.parametrize("repository_name", ["course/-x", "course/a;touch owned", "course/$(touch owned)"])
def test_names_that_others_choose_are_never_run(workspace, tools, uses, repository_name):
    stand_ins, _ = uses
    writes(tools / "hw3-grade", "#!/bin/bash\nprintf '%s\\n' \"$@\"\n")
    known = contexts(**{"submission-repository": repository_name, "only": "$(touch owned)", "lang": "`touch owned`"})
    done = run(job(GRADE, "grade")["steps"], workspace, known, stand_ins, tools)
    assert done.failed == []
    name = repository_name.partition("/")[2]
    expected = [f"class/{name}", "--out", "reports", "--format", "github,junit", "--feedback", "full"]
    assert done.log.splitlines() == [*expected, "--lang", "`touch owned`", "--only", "$(touch owned)"]
    assert list(workspace.rglob("owned")) == []


def test_only_the_steps_that_need_the_seed_get_it_and_the_job_may_only_read():
    workflow = yaml.safe_load(GRADE.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    steps = workflow["jobs"]["grade"]["steps"]
    assert [s["name"] for s in steps if "secrets.GRADER_SEED" in str(s)] == ["Look for the seed", "Grade"]
    assert "timeout-minutes" in workflow["jobs"]["grade"]


@pytest.mark.parametrize("name", ["github-caller.yml", "github-staff.yml"])
def test_a_caller_gives_what_the_workflow_takes_and_no_more(name):
    taken = yaml.safe_load(GRADE.read_text())[True]["workflow_call"]  # YAML 1.1 reads `on` as true
    caller = yaml.safe_load((CI / name).read_text())
    assert caller["permissions"] == {"contents": "read"}
    called = caller["jobs"]["grade"]
    assert re.fullmatch(r"YOUR-COURSE/hw3-grader/\.github/workflows/grade\.yml@v1", called["uses"])
    required = {key for key, given in taken["inputs"].items() if given.get("required")}
    assert required <= called["with"].keys() <= taken["inputs"].keys()
    assert called["secrets"].keys() <= taken["secrets"].keys()


def test_the_students_workflow_runs_the_tests_and_shows_the_points(students_folder, tools):
    some = (
        f'exec "{sys.executable}" "${{@/%tests\\//tests/test_nn.py}}" -p no:cacheprovider'  # of all tests, Problem 1's
    )
    writes(tools / "python", f'#!/bin/bash\nif [ "$2" != pip ]; then {some}; fi\n')
    stand_ins = dict.fromkeys(("actions/checkout", "actions/setup-python"), lambda *_: None)
    done = run(job(TESTS, "tests")["steps"], students_folder, {}, stand_ins, tools)
    assert done.failed == ["Run the tests"]
    assert "| Problem 1: Softmax loss | 0 / 27 | 0 / 18 |  |" in done.summary
    assert "secrets" not in TESTS.read_text()


def test_nothing_is_taken_from_a_cache_that_jobs_with_students_code_can_fill():
    actions = [step for step in job(GRADE, "grade")["steps"] if "uses" in step]
    assert [step["name"] for step in actions if "cache" in step["uses"] or "cache" in step["with"]] == []


VARIABLES = {"GRADER_SEED": SEED, "GRADER_REPOSITORY": "https://token@gitlab/grader.git", "GRADER_REF": "v1"}


@pytest.fixture
def gitlab(workspace, tools, repository, monkeypatch):
    """Runs a job of the GitLab file in a student's project; what a network would give is stood in for."""
    (tools / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tools / "tmp"))
    project = workspace / "project"
    repository.rename(project)
    writes(tools / "git", '#!/bin/bash\nmkdir "${@: -1}"\n')

    def run_job(name, variables):
        taken = yaml.safe_load((CI / "gitlab-ci.yml").read_text())[name]
        step = {"name": name, "run": "\n".join(taken["script"])}
        return run([step | {"env": {"CI_PROJECT_DIR": str(project), **variables}}], project, {}, {}, tools)

    return run_job


def test_the_gitlab_job_grades_and_keeps_what_the_student_may_see(gitlab, workspace, tools):
    body = "mkdir -p reports/zoe reports/staff; touch reports/staff/feedback.md reports/junit.xml"
    writes(tools / "hw3-grade", f'#!/bin/bash\necho "$@"\n{body}; echo hello > reports/zoe/feedback.md\n')
    feedback = workspace / "project" / "feedback"
    feedback.mkdir()
    (feedback / "junit.xml").symlink_to("/etc/hostname")
    (feedback / "forged.md").write_text("100 of 100")
    done = gitlab("grade", VARIABLES)
    assert done.failed == [], done.log
    assert {path.name: path.read_text() for path in feedback.iterdir()} == {"feedback.md": "hello\n", "junit.xml": ""}
    asked = options.parser().parse_args(shlex.split(done.log))
    assert (asked.submissions, "junit" in asked.format) == (workspace / "project", True)
    taken = yaml.safe_load((CI / "gitlab-ci.yml").read_text())["grade"]["artifacts"]
    assert (taken["paths"], taken["reports"]) == (["feedback/"], {"junit": "feedback/junit.xml"})


def test_the_gitlab_job_fails_with_the_grader_and_then_keeps_nothing(gitlab, workspace, tools):
    writes(tools / "hw3-grade", "#!/bin/bash\nmkdir reports\nexit 3\n")
    (workspace / "project" / "feedback").mkdir()
    (workspace / "project" / "feedback" / "junit.xml").write_text("forged")
    assert gitlab("grade", VARIABLES).failed == ["grade"]
    assert list((workspace / "project" / "feedback").iterdir()) == []


def test_the_gitlab_job_runs_nothing_that_lies_in_the_students_folder(gitlab, workspace, tools):
    """`python -m venv` imports from the current folder first: a student's `venv.py` would see the variables."""
    writes(tools / "hw3-grade", "#!/bin/bash\nmkdir reports\n")
    places = tools / "places"
    for tool in ("python", "pip", "hw3-grade", "git"):
        whole = (tools / tool).read_text()
        writes(tools / tool, whole.replace("\n", f'\npwd >> "{places}"\n', 1))
    assert gitlab("grade", VARIABLES).failed == []
    project = workspace / "project"
    ran_in = {Path(line) for line in places.read_text().splitlines()}
    assert len(places.read_text().splitlines()) == 4
    assert not any(place.is_relative_to(project) or project.is_relative_to(place) for place in ran_in)
    assert not any(place.is_relative_to(project.parent) for place in ran_in)  # a runner keeps what lies beside it


def test_without_the_seed_the_gitlab_job_grades_nothing_and_succeeds(gitlab):
    done = gitlab("grade", {})
    assert (done.failed, done.log) == ([], "Not graded: this project has no GRADER_SEED, as is so for forks.\n")


@pytest.mark.parametrize("name", ["GRADER_SEED", "GRADER_REPOSITORY"])
def test_gitlabs_job_that_runs_students_code_refuses_to_see_the_secrets(gitlab, tools, name):
    done = gitlab("tests", {name: VARIABLES[name]})
    assert done.failed == ["tests"]
    assert "environment scope" in done.log
    assert not (tools / "python-ran").exists()
    assert gitlab("tests", {}).failed == []
    assert len((tools / "python-ran").read_text().splitlines()) == 2


def test_only_the_job_that_grades_has_the_environment_whose_variables_are_secret():
    jobs = yaml.safe_load((CI / "gitlab-ci.yml").read_text())
    assert jobs["grade"]["environment"] == {"name": "grading", "action": "access"}
    assert "environment" not in jobs["tests"]
    assert "GRADER" not in str(jobs["grade"]["rules"]), "GitLab's rules do not know variables that have a scope"
