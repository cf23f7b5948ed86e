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


def script(job_of_gitlab, part):
    return [line for line in job_of_gitlab[part] if "git clone" not in line]


def test_the_gitlab_job_grades_and_keeps_what_the_student_may_see(workspace, tools, repository):
    jobs = yaml.safe_load((CI / "gitlab-ci.yml").read_text())
    asked = options.parser().parse_args(shlex.split(jobs["grade"]["script"][-1])[1:])
    assert (str(asked.submissions), "junit" in asked.format) == (".", True)
    body = "mkdir -p ../reports/zoe ../reports/staff; touch ../reports/staff/feedback.md ../reports/junit.xml"
    writes(tools / "hw3-grade", f"#!/bin/bash\n{body}; echo hello > ../reports/zoe/feedback.md\n")
    step = {"name": "grade", "run": "\n".join([*script(jobs["grade"], "script"), *jobs["grade"]["after_script"]])}
    project = workspace / "project"
    repository.rename(project)
    (workspace / "grader").mkdir()
    done = run([step], project, {}, {}, tools)
    assert done.failed == [], done.log
    kept = {path.name: path.read_text() for path in (project / jobs["grade"]["artifacts"]["paths"][0]).iterdir()}
    assert kept == {"feedback.md": "hello\n", "junit.xml": ""}
    assert jobs["grade"]["artifacts"]["reports"]["junit"] == "feedback/junit.xml"
    assert jobs["grade"]["rules"] == [{"if": "$GRADER_SEED && $GRADER_REPOSITORY && $GRADER_REF"}]
