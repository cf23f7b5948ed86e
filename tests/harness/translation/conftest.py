"""A toy course: a few hundred pairs of a small language, a tiny model, and a run of a few seconds."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from harness.translation.toy import TESTS, TINY, course_on

from grader import pipeline
from grader.given import grammar
from grader.student import Student
from grader.submission import Submission
from grader.translation import Course, Trainee, prepare
from grader.translation.material import Material
from grader.verdict import CheckReport


@pytest.fixture(scope="session")
def toy_folder(tmp_path_factory) -> Path:
    """A folder of plain text: 300 pairs to learn from, 20 each to choose by and to score on."""
    folder = tmp_path_factory.mktemp("toy") / "small-language"
    folder.mkdir()
    pairs = grammar.pairs(np.random.default_rng(0), 340)
    for name, part in (("train", pairs[:300]), ("valid", pairs[300:320]), ("test", pairs[320:])):
        for language in ("de", "en"):
            (folder / f"{name}.{language}").write_text("".join(f"{pair[language]}\n" for pair in part), "utf-8")
    return folder


@pytest.fixture(scope="session")
def toy(toy_folder) -> Material:
    return prepare(str(toy_folder), TINY, TESTS)


@pytest.fixture
def make_course(toy, bench, tmp_path) -> Callable[..., Course]:
    """Makes a course on the toy text; keywords replace its fields, `recipe` those of the recipe."""

    def make(recipe: dict | None = None, **fields: object) -> Course:
        return course_on(toy, bench, recipe=recipe, **{"place": lambda name: tmp_path / "staff" / name, **fields})

    return make


@pytest.fixture
def trainee(bench) -> Iterator[Callable[..., Trainee]]:
    """A submission on a course, in a sandbox of its own."""
    with contextlib.ExitStack() as opened:

        def start(submission: Submission, course: Course) -> Trainee:
            session = opened.enter_context(bench.sandbox.open({**bench.stubs, **submission.files}))
            return course.train(submission, Student(session))

        yield start


@pytest.fixture
def graded(bench) -> Callable[..., dict[str, CheckReport]]:
    """Grades a submission on a course, from the checks that these need to the report: its checks by id."""

    def grade(submission: Submission, course: Course | None) -> dict[str, CheckReport]:
        report = pipeline.grade(submission, replace(bench, course=course, only=("p4.iwslt.*",))).report
        return {check.id: check for problem in report.problems for check in problem.checks}

    return grade
