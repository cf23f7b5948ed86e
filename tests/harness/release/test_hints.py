"""A student without torch or twins is told which common mistake gives what their code gives, as far as they ask."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from grader import fixtures, rubric
from grader.messages import LANGUAGES, texts
from grader.messages.hints import ladders
from grader.misconceptions import known
from grader.selfcheck import patches
from grader.verdict import Visibility

ROOT = Path(__file__).resolve().parents[3]
MUTANTS = patches.read(ROOT / "tests" / "harness" / "mutants", patches.Mutant)
REFERENCE = patches.solution(ROOT / "solution")
TOGETHER = (
    ("lse.no_shift", "dropout.in_evaluation", "mha.no_scale", "lm.no_limit", "generate.keeps_source"),
    ("loss.sign", "embedding.gradient_cut", "mha.gradient_cut_k", "lm.positions_from_one", "generate.in_training"),
    ("linear.gradient_cut", "mha.heads_viewed", "ffn.gelu_erf", "translation.loss_weights_inverted"),
    ("lse.last_dim", "layernorm.eps_outside", "mha.mask_strict/added", "generate.keeps_end"),
    ("loss.target_gradient_cut", "embedding.last_one_counts", "layer.gradient_doubled", "lm.layers_reversed"),
)
"""Mutants that show in different tests, so that one run names them all."""
HIDDEN_ONLY = {
    "linear.weights_bound",
    "linear.bias_bound_out_size",
    "linear.bias_zero",
    "embedding.uniform",
    "embedding.small",
    "dropout.not_rescaled",
    "dropout.scaled_by_keep",
    "dropout.inverted",
    "dropout.other_gradient",
    "dropout.same_mask",
    "mha.pad_ignored",
    "mha.pad_inverted",
    "mha.pad_hides_queries",
    "mha.no_dropout",
    "lm.embedding_gradient_cut",
    "lm.dropout_before_head",
    "lm.no_dropout",
}
"""Mistakes that no public test sees."""


@pytest.fixture
def student_with(student):
    """Fills a student's folder with the reference, changed by these mutants."""

    def make(*identifiers):
        all_of_them = patches.Patch(id="all", about="", after=list(identifiers))
        student.fill()
        for name, text in patches.applied(all_of_them, MUTANTS, REFERENCE).files.items():
            student.write(name.removesuffix(".py"), text.decode())
        return student

    return make


def named(screen, language):
    """The names of the mistakes that a screen gives away."""
    titles = {ladder.name: name for name, ladder in ladders(language).items()}
    line = re.escape(texts(language)("ladder_3", name="NAME")).replace("NAME", "(.+?)")
    return {titles[title] for title in re.findall(line, screen)}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("mutants", TOGETHER, ids=" + ".join)
def test_the_third_hint_names_the_mistake_and_explains_it_once(mutants, language, student_with, bare_python):
    found = student_with(*mutants).run("tests/", "--hint", "3", "--lang", language, python=bare_python)
    names = {mutant.partition("/")[0] for mutant in mutants}
    assert names <= named(found.screen, language) <= names | {"lse.max_carries_gradient"}  # with 1 example the same
    for name in names:
        ladder = ladders(language)[name]
        assert {found.screen.count(rung) for rung in (ladder.rung1, ladder.rung2, ladder.rung3)} <= {1, 2}


@pytest.mark.parametrize("rungs", [1, 2])
def test_no_more_is_told_than_was_asked_for(rungs, student_with, bare_python):
    found = student_with("mha.no_scale").run("tests/test_transformer.py", "--hint", str(rungs), python=bare_python)
    ladder = ladders("en")["mha.no_scale"]
    assert [found.screen.count(rung) for rung in (ladder.rung1, ladder.rung2, ladder.rung3)] == [1, rungs - 1, 0]
    assert ladder.name not in found.screen
    again = [message for message in found.messages("failure") if "that is explained above gives exactly" in message]
    assert len(again) > 1


def test_without_the_option_a_failure_is_said_to_be_a_common_mistake_in_one_line(student_with, bare_python):
    found = student_with("linear.bias_unused").run("tests/test_modules_basic.py", python=bare_python)
    for message in found.messages("failure"):
        first, *more = message.splitlines()
        assert " arrived" in first
        assert more == ["A common mistake gives exactly this: run again with --hint 1"]
    assert named(found.screen, "en") == set()


def test_mistakes_that_cannot_be_told_apart_are_all_said_to_be_possible(student_with, bare_python):
    found = student_with("loss.mean").run("tests/test_translation.py", "--hint", "3", python=bare_python)
    assert "One of these common mistakes gives exactly this." in found.screen
    assert named(found.screen, "en") == {"loss.mean", "translation.loss_counts_source"}


def test_a_mistake_below_is_named_by_the_tests_above(student_with, bare_python):
    found = student_with("layernorm.unbiased").run("tests/test_transformer.py", "--hint", "3", python=bare_python)
    assert named(found.screen, "en") == {"layernorm.unbiased"}


def test_nothing_is_said_where_the_mistake_is_none_of_the_known_ones(student_with, bare_python):
    unknown = ("loss.one_less", "layernorm.variance_cut", "layer.parallel", "translation.loss_mean_of_means")
    found = student_with(*unknown).run("tests/", "--hint", "3", python=bare_python)
    assert {check[:2] for check in found.checks("failure")} == {"p1", "p3", "p4"}
    assert "common mistake" not in found.screen
    assert named(found.screen, "en") == set()


def test_the_hints_are_the_ladders_of_what_public_tests_can_see():
    content = json.loads((fixtures.FOLDER / fixtures.HINTS).read_text(encoding="utf-8"))
    assert content.keys() == {*LANGUAGES, "texts"}
    for language in LANGUAGES:
        rungs = content[language]["rungs"]
        assert rungs.keys() == {m.name for m in known()} - HIDDEN_ONLY
        for name, (first, second, third) in rungs.items():
            ladder = ladders(language)[name]
            assert first.endswith(ladder.rung1)
            assert second.endswith(ladder.rung2)
            assert third.endswith(ladder.rung3)
            assert ladder.name in third


def test_the_release_holds_no_id_of_a_hidden_check_and_no_seed(contents):
    hidden = [line.id for line in rubric.load().checks if line.visibility is Visibility.HIDDEN]
    assert len(hidden) > 10
    for path, content in contents.items():
        for word in (*hidden, str(fixtures.PUBLIC_SEED)):
            assert word.encode() not in content, path
