"""A toy course: a few hundred pairs of a small language, a tiny model, and a run of a few seconds."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from grader import pipeline, rubric
from grader.case import Limits
from grader.given import grammar
from grader.recipe import Recipe
from grader.student import Student
from grader.submission import Submission
from grader.translation import Course, Lesson, Trainee, prepare
from grader.translation.material import Material
from grader.verdict import CheckReport

TINY = Recipe(
    vocabulary=420,
    n_embd=32,
    n_head=4,
    n_layer=1,
    dropout=0.1,
    embedding_scale=0.1,
    model_max_length=48,
    max_words=0,
    batch=16,
    epochs=2,
    samples=192,
    lr=0.02,
    schedule="linear",
    warmup=2,
    valid_sentences=20,
    steps=4,
)
TESTS = 12


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
        tiny = msgspec.structs.replace(TINY, **(recipe or {}))
        usual = {
            "lesson": Lesson(toy, tiny, bench.secret),
            "device": "cpu",
            "scale": rubric.load().translation.scale,
            "is_relative": False,
            "limits": Limits(wall_s=120.0, cpu_s=60, memory_mib=2048),
            "minutes": 10.0,
            "environment": bench.environment,
            "place": lambda identifier: tmp_path / "staff" / identifier,
        }
        return Course(**{**usual, **fields})

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
