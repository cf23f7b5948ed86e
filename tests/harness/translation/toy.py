"""A toy course: a tiny model on a few hundred pairs, a run of a second or two."""

from collections.abc import Callable
from pathlib import Path

import msgspec

from grader import rubric
from grader.case import Limits
from grader.pipeline import Bench
from grader.recipe import Recipe
from grader.translation import Course, Lesson
from grader.translation.material import Material

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
TESTS = 6


def course_on(
    toy: Material, bench: Bench, place: Callable[[str], Path], recipe: dict | None = None, **fields: object
) -> Course:
    """A course; keywords replace its fields, `recipe` those of the recipe."""
    usual = {
        "lesson": Lesson(toy, msgspec.structs.replace(TINY, **(recipe or {})), bench.secret),
        "device": "cpu",
        "scale": rubric.load().translation.scale,
        "is_relative": False,
        "limits": Limits(wall_s=120.0, cpu_s=60, memory_mib=2048),
        "minutes": 10.0,
        "environment": bench.environment,
        "place": place,
    }
    return Course(**{**usual, **fields})
