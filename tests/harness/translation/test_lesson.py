"""A text made ready: what is kept of it, how it is cut, numbered and put into batches; the same for the same seed."""

import msgspec
import numpy as np
import pytest
from harness.translation.toy import TESTS, TINY

from grader.checks import shapes
from grader.errors import UsageError
from grader.translation import Lesson, prepare
from grader.translation.lesson import TARGET


def text_of(lesson, ids):
    return lesson.material.pieces.decode([int(lesson.old_ids[piece]) for piece in ids])


@pytest.fixture
def lesson(make_course):
    return make_course().lesson


def test_the_first_test_pairs_that_pass_the_filter_are_scored(toy_folder):
    most = 16
    found = prepare(str(toy_folder), msgspec.structs.replace(TINY, max_words=most), 4)
    lines = [(toy_folder / f"test.{language}").read_text("utf-8").splitlines() for language in ("de", "en")]
    short = [en for de, en in zip(*lines, strict=True) if len(de.split()) + len(en.split()) < most]
    assert found.references == short[:4]
    assert found.name == "small-language"


def test_a_batch_is_its_pairs_shifted_by_one_and_weighed_on_the_target(lesson, toy_folder):
    (ids, labels, weights) = lesson.batch(np.array([0, 7]))
    assert ids.shape == labels.shape == weights.shape
    np.testing.assert_array_equal(ids[:, 1:], labels[:, :-1])
    lines = {language: (toy_folder / f"train.{language}").read_text("utf-8").splitlines() for language in ("de", "en")}
    for row, number in enumerate((0, 7)):
        assert text_of(lesson, labels[row][weights[row] == 1]) == lines["en"][number]
        source = ids[row][: list(ids[row]).index(1)]
        assert text_of(lesson, source) == lines["de"][number]
        assert labels[row][weights[row] == 1][-1] == 2  # <eos_en>


def test_a_pair_is_cut_to_what_the_model_reads(toy_folder):
    short = prepare(str(toy_folder), msgspec.structs.replace(TINY, model_max_length=9), TESTS)
    assert max(len(tokens.ids) for tokens in short.train) == 10  # the input is all but the last
    assert min(tokens.targets for tokens in short.train) >= 1


def test_an_epoch_has_each_pair_once_and_another_order_than_the_next(make_course):
    lesson = make_course(recipe={"samples": 0}).lesson
    epochs = [np.concatenate(lesson.order(epoch)) for epoch in (0, 1)]
    assert [sorted(epoch) for epoch in epochs] == [list(range(300))] * 2
    assert not np.array_equal(*epochs)
    assert lesson.steps == 2 * -(-300 // 16)


def test_everything_random_follows_from_the_seed(toy, lesson):
    same, other = Lesson(toy, TINY, lesson.secret), Lesson(toy, TINY, b"another secret")
    for found, is_same in ((same, True), (other, False)):
        assert (found.named(toy.prompts) == lesson.named(toy.prompts)) == is_same
        assert all(map(np.array_equal, found.order(1), lesson.order(1))) == is_same
        start = [each.start()["model.lm_head.weights"] for each in (found, lesson)]
        assert np.array_equal(*start) == is_same


def test_the_special_tokens_keep_their_numbers_and_every_other_has_one_of_its_own(lesson):
    assert list(lesson.new_ids[:3]) == [0, 1, 2]
    assert sorted(lesson.new_ids) == list(range(len(lesson.words)))
    assert lesson.words[:3] == ["<pad>", "<eos_de>", "<eos_en>"]


def test_the_model_begins_as_the_assignment_asks_with_scaled_embeddings(lesson):
    start = lesson.start()
    sizes = {name: value for name, value in lesson.arguments.items() if name != "p_dropout"}
    assert {name: array.shape for name, array in start.items()} == shapes.of(TARGET, sizes)
    assert {array.dtype for array in start.values()} == {np.dtype(np.float32)}
    assert abs(start["model.token_embeddings.weights"].std() - TINY.embedding_scale) < 0.01


def test_a_decoy_is_no_reference(lesson, toy):
    right = {lesson.named([toy.pieces(text)["input_ids"]])[0] for text in toy.references}
    said = [decoy.removesuffix(" <eos_en>") for decoy in lesson.decoys(TESTS)]
    assert len(said) == TESTS
    assert right.isdisjoint(said)


@pytest.mark.parametrize(
    ("names", "says"),
    [((), "is no folder"), (("train",), "has no valid pairs"), (("train", "valid"), "has no test pairs")],
)
def test_a_text_that_is_not_whole_is_refused_in_one_line(names, says, toy_folder, tmp_path):
    folder = tmp_path / "some"
    for name in names:
        folder.mkdir(exist_ok=True)
        for language in ("de", "en"):
            (folder / f"{name}.{language}").write_bytes((toy_folder / f"{name}.{language}").read_bytes())
    with pytest.raises(UsageError, match=says) as refusal:
        prepare(str(folder), TINY, TESTS)
    assert "\n" not in str(refusal.value)


def test_a_text_of_which_the_filter_leaves_nothing_is_refused(toy_folder):
    with pytest.raises(UsageError, match="0 train"):
        prepare(str(toy_folder), msgspec.structs.replace(TINY, max_words=2), TESTS)
