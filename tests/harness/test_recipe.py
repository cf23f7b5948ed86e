"""The rubric's part on translation is read strictly; learning rates are those of the recipe."""

from importlib import resources

import pytest

from grader import rubric
from grader.errors import UsageError
from grader.given import bpe
from grader.recipe import LEAST_VOCABULARY
from grader.rubric import Rubric

TEXTS = [resources.files("grader").joinpath(name).read_text("utf-8") for name in ("rubric.yaml", "tolerances.yaml")]
RELATIVE = "  relative: {zero: 0.4, full: 0.8}"


def changed(old: str, new: str) -> Rubric:
    assert TEXTS[0].count(old) == 1
    return Rubric(TEXTS[0].replace(old, new), TEXTS[1])


def test_points_may_be_for_bleu_itself():
    line = changed(RELATIVE, "  absolute: {zero: 10, full: 18}").translation
    assert (line.relative, line.scale.zero, line.scale.full) == (None, 10, 18)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (RELATIVE, "", "exactly one of relative and absolute"),
        (RELATIVE, f"{RELATIVE}\n  absolute: {{zero: 10, full: 18}}", "exactly one of relative and absolute"),
        (RELATIVE, "  relative: {zero: 0.8, full: 0.8}", "expected a full above zero"),
        (RELATIVE, "  relative: {zero: 0.4, full: 0.8, bonus: 1}", "unknown field `bonus`"),
        ("  minutes: 240 ", "  minutes: 0 ", "translation.minutes"),
        ("  test_sentences: 100", "  test_sentences: 0", "translation.test_sentences"),
        ("vocabulary: 4000", "vocabulary: 100", "259"),
        ("vocabulary: 4000", "vocabulry: 4000", "vocabulry"),
        ("n_embd: 128, n_head: 8", "n_embd: 100, n_head: 8", "expected a multiple of the heads"),
        ("schedule: linear", "schedule: cosine", "cosine"),
        ("batch: 32", "batch: 0", "cpu.batch"),
        ("reply_mib: 512", "reply_mib: 0", "p4.iwslt.run has reply_mib 0; expected 1 to 1024 MiB"),
        ("{id: p4.loss,", "{id: p4.loss, long: true,", "p4.loss is long"),
    ],
)
def test_a_translation_line_that_makes_no_sense_is_refused_in_one_line(old, new, complaint):
    with pytest.raises(UsageError, match=r"rubric\.yaml") as refusal:
        changed(old, new)
    assert complaint in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_the_least_vocabulary_is_that_of_the_tokenizer():
    assert len(bpe.SPECIALS) + bpe.ALPHABET == LEAST_VOCABULARY


def test_the_shipped_recipes_are_the_courses_and_a_small_one():
    line = rubric.load().translation
    gpu, cpu = line.recipe(gpu=True), line.recipe(gpu=False)
    assert (gpu.model_max_length, gpu.batch, gpu.lr, gpu.samples, gpu.vocabulary) == (40, 128, 0.02, 20_000, 10_000)
    assert (gpu.n_embd, gpu.n_head, gpu.n_layer, gpu.dropout, gpu.epochs) == (256, 8, 4, 0.1, 10)
    assert cpu.n_embd < gpu.n_embd
    assert line.test_sentences == 100


def test_a_rate_rises_then_falls_in_a_line_or_stays():
    recipe = rubric.load().translation.cpu  # 50 steps of warm-up, then to 0
    assert recipe.learning_rate(1, 150) == pytest.approx(recipe.lr / 51)
    assert recipe.learning_rate(51, 150) == pytest.approx(recipe.lr)
    assert recipe.learning_rate(101, 150) == pytest.approx(recipe.lr / 2)
    assert recipe.learning_rate(150, 150) == pytest.approx(recipe.lr / 100)
    constant = rubric.load().translation.gpu
    assert {constant.learning_rate(step, 100) for step in (1, 50, 100)} == {constant.lr}
