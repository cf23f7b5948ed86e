"""Where the four files are looked for, under which names, and what is said when it is not clear."""

from __future__ import annotations

import pytest

from grader.intake.canonical import target_named
from grader.intake.layouts import plain
from grader.intake.tree import Tree
from grader.submission import CANONICAL

ATTENTION = b"class MultiHeadAttention:\n    pass\n"


def found(files):
    return plain.find(Tree(sources=files))


@pytest.mark.parametrize("place", ["", "assignment/", "hw3/", "hw3/assignment/", "My Homework (2)/", "a/b/c/"])
def test_the_four_files_are_found_in_any_one_folder(four, place):
    result = found({place + name: content for name, content in four.items()})
    assert (result.files, result.remarks, result.layout) == (four, (), "plain")


def test_a_release_as_unpacked_gives_the_students_files_and_helpers_only(four):
    given = ("assignment/framework/tensor.py", "assignment/__init__.py", "tests/test_nn.py", "conftest.py")
    files = {f"hw3/assignment/{name}": content for name, content in four.items()}
    files |= {f"hw3/{name}": b"given" for name in given}
    files |= {
        "hw3/assignment/heads.py": b"mine",
        "hw3/assignment/parts/__init__.py": b"",
        "hw3/assignment/parts/a.py": b"mine too",
    }
    assert found(files).files == {**four, "heads.py": b"mine", "parts/__init__.py": b"", "parts/a.py": b"mine too"}


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("transformer.py", "transformer.py"),
        ("Transformer.PY", "transformer.py"),
        ("transformer (1).py", "transformer.py"),
        ("transformer-1.py", "transformer.py"),
        ("transformer copy.py", "transformer.py"),
        ("transformer - Copy.py", "transformer.py"),
        ("Copy of transformer.py", "transformer.py"),
        ("transformer - 副本.py", "transformer.py"),
        ("modules_transfomer.py", "transformer.py"),
        ("modules_transformer.py", "transformer.py"),
        ("hw3_transformer.py", "transformer.py"),
        ("transformer_zoe.py", "transformer.py"),
        ("modules-basic.py", "modules_basic.py"),
        ("hw3_nn.py", "nn.py"),
        ("my translation.py", "translation.py"),
        ("cnn.py", None),
        ("test_transformer.py", None),
        ("transformers.py", None),
        ("transformer.txt", None),
    ],
)
def test_almost_the_name_is_recognised(name, wanted):
    named = target_named(name)
    assert (named and named[0]) == wanted
    if wanted and name != wanted:
        result = found({name: ATTENTION + b"class Linear:\ndef logsumexp():\ndef loss_fn():\n"})
        assert result.files[wanted]
        assert f"{wanted} was taken from {name}" in result.remarks


def test_a_renamed_file_that_another_imports_by_its_name_stays_under_it_too():
    files = {"modules_transfomer.py": ATTENTION, "translation.py": b"from .modules_transfomer import DecoderLM\n"}
    assert set(found(files).files) == {"transformer.py", "modules_transfomer.py", "translation.py"}
    files["translation.py"] = b"from .transformer import DecoderLM  # was modules_transfomer\n".replace(
        b"  # was modules_transfomer", b""
    )
    assert set(found(files).files) == {"transformer.py", "translation.py"}


def test_the_right_name_wins_over_almost_the_name():
    result = found({"transformer.py": b"right", "transformer (1).py": b"older", "Transformer.py": b"other"})
    assert result.files["transformer.py"] == b"right"


def test_two_that_are_equally_likely_are_a_problem_that_names_both(write, one, tmp_path):
    write(tmp_path / "zoe", {"nn.py": b"", "transformer (1).py": b"a", "transformer (2).py": b"b"})
    assert one(tmp_path / "zoe").problem == (
        "expected one transformer.py, found transformer (1).py and transformer (2).py: "
        "hand in one of them under the name transformer.py"
    )
    write(tmp_path / "zoe", {"transformer (2).py": b"a"})  # the same bytes: no question
    assert one(tmp_path / "zoe").problem == ""


def test_a_helper_named_after_one_of_the_four_is_not_taken_for_it():
    result = found({"transformer.py": ATTENTION, "nn_helpers.py": b"def shape(): ...\n"})
    assert set(result.files) == {"transformer.py", "nn_helpers.py"}
    assert result.remarks == ("not handed in: nn.py, modules_basic.py, translation.py",)


def test_a_file_of_another_name_is_recognised_by_what_it_defines():
    everything = b"def logsumexp(x, dim): ...\nclass Linear: ...\n" + ATTENTION + b"def loss_fn(b, m): ...\n"
    result = found({"zoe.py": everything})
    assert result.files == dict.fromkeys(CANONICAL, everything)
    assert result.remarks == tuple(f"{name} was taken from zoe.py" for name in CANONICAL)


def test_the_folder_with_most_of_the_files_wins_and_the_other_is_named(four):
    old = {f"old/{name}": b"old" for name in ("nn.py", "transformer.py")}
    result = found({f"hw3/{name}": content for name, content in four.items()} | old)
    assert result.files == four
    assert result.remarks == (
        "a second nn.py was not used: old/nn.py",
        "a second transformer.py was not used: old/transformer.py",
    )


def test_files_spread_over_folders_are_brought_together(four):
    places = {"nn.py": "p1/", "modules_basic.py": "p2/", "transformer.py": "p3/", "translation.py": "p3/"}
    result = found({places[name] + name: content for name, content in four.items()})
    assert result.files == four
    assert result.remarks == ("nn.py was taken from p1/nn.py", "modules_basic.py was taken from p2/modules_basic.py")


def test_names_that_cannot_be_imported_are_no_helpers(four):
    assert found({**four, "my try.py": b"", "3.py": b"", "a-b/c.py": b"", "__init__.py": b""}).files == four


def test_of_a_whole_release_only_what_is_the_students_is_taken(tmp_path, write, one, four):
    given = ("reversal.py", "submit.py", "framework/tensor.py", "training/loop.py", "handing_in/pack.py", "__init__.py")
    files = {f"assignment/{name}": content for name, content in {**four, **dict.fromkeys(given, b"x = 1\n")}.items()}
    files |= {"assignment/helpers.py": b"y = 2\n", "tests/test_nn.py": b"", "handouts/labs/norms.py": b""}
    submission = one(write(tmp_path / "zoe", files))
    assert submission.files == {**four, "helpers.py": b"y = 2\n"}
    assert submission.remarks == ()
