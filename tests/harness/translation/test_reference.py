"""The yardstick: the reference is trained once for a text, a recipe and a grader, and its score is remembered."""

import pytest

from grader.errors import RefusedToStartError
from grader.translation import Lesson, measured


class NoSandbox:
    """Says that nothing may be trained any more."""

    def open(self, files):
        raise AssertionError(f"a session was opened for {sorted(files)}")


@pytest.fixture
def files(bench, solution_with):
    return {**bench.stubs, **solution_with().files}


def test_it_is_trained_once_and_serves_every_class(make_course, bench, files, toy, tmp_path):
    told = []
    course = make_course(is_relative=True)
    first = measured(course, bench.sandbox, files, tmp_path / "cache", told.append)
    assert first.reference > 0
    assert "training the reference on small-language" in told[0]
    other_class = make_course(lesson=Lesson(toy, course.lesson.recipe, b"another secret"), minutes=3.0)
    again = measured(other_class, NoSandbox(), files, tmp_path / "cache", told.append)
    assert again.reference == first.reference
    assert f"the reference: BLEU {float(first.reference):.2f}" in told[-1]


def test_another_recipe_or_grader_needs_it_trained_again(make_course):
    usual = make_course()
    longer = make_course(recipe={"epochs": 3})
    changed = make_course(environment=type(usual.environment)(**{**vars_of(usual.environment), "grader": "0.2"}))
    other_seed = make_course(environment=type(usual.environment)(**{**vars_of(usual.environment), "seed": "sha256:0"}))
    assert len({usual.seedless_key, longer.seedless_key, changed.seedless_key}) == 3
    assert other_seed.seedless_key == usual.seedless_key
    assert other_seed.key != usual.key


def vars_of(environment):
    return {name: getattr(environment, name) for name in environment.__struct_fields__}


def test_one_that_runs_out_of_time_is_no_yardstick_and_goes_on_the_next_time(make_course, bench, files, tmp_path):
    with pytest.raises(RefusedToStartError, match=r"its time was up.*--translation-minutes"):
        measured(make_course(minutes=1e-12), bench.sandbox, files, tmp_path / "cache")
    assert list((tmp_path / "cache").glob("*.json")) == []
    assert measured(make_course(), bench.sandbox, files, tmp_path / "cache").reference > 0


def test_a_reference_without_any_score_is_no_yardstick(make_course, bench, solution_with, tmp_path):
    copying = solution_with(("translation.py", "tokenizer.decode(ids[prompt_length:])", "example[src_key]"))
    with pytest.raises(RefusedToStartError, match="BLEU 0 on small-language"):
        measured(make_course(), bench.sandbox, {**bench.stubs, **copying.files}, tmp_path / "cache")
