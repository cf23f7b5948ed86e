"""The form with the answers to the exercises travels beside the sources, as bytes, and never costs anyone a grade."""

from __future__ import annotations

import json

import pytest

from grader.intake import collect
from grader.intake.limits import FORMS
from grader.submission import MAX_EXERCISES_BYTES

FORM = b"answers: {ex.01: {std_scores: 3}}\n"
HOSTILE = b"&a [*a, \xff\x00"
"""Nothing that reads it must have been near."""


def test_a_submission_without_a_form_is_what_it_was(tmp_path, write, one, four):
    submission = one(write(tmp_path / "zoe", four))
    assert submission.exercises is None
    assert submission.received == four


@pytest.mark.parametrize("place", ["exercises.yaml", "assignment/exercises.yaml", "hw3/assignment/Exercises.YAML"])
@pytest.mark.parametrize("content", [FORM, HOSTILE, b""])
def test_the_form_comes_out_of_folders_and_archives_as_it_is(tmp_path, write, zipped, tarred, four, place, content):
    files = {**{f"hw3/assignment/{name}": source for name, source in four.items()}, place: content}
    write(tmp_path / "class" / "al", files)
    zipped(tmp_path / "class" / "bo.zip", files)
    tarred(tmp_path / "class" / "cy.tar.gz", files)
    found = collect(tmp_path / "class")
    assert [submission.exercises for submission in found] == [content] * 3
    assert [(submission.files, submission.problem, submission.remarks) for submission in found] == [(four, "", ())] * 3
    assert found[0].received == {**four, "exercises.yaml": content}


def test_another_form_is_another_submission(tmp_path, write, one, four):
    hashes = {one(write(tmp_path / f"a{n}" / "zoe", {**four, **more})).sha256 for n, more in enumerate(
        ({}, {"exercises.yaml": b""}, {"exercises.yaml": FORM})
    )}  # fmt: skip
    assert len(hashes) == 3


def test_of_several_forms_the_least_deep_one_is_used_and_the_others_are_named(tmp_path, write, one, four):
    files = {f"assignment/{name}": source for name, source in four.items()}
    forms = {"exercises.yaml": FORM, "assignment/exercises.yaml": b"answers:\n", "old/exercises.yaml": FORM}
    submission = one(write(tmp_path / "zoe", {**files, **forms}))
    assert submission.exercises == FORM
    assert submission.remarks == ("a second exercises.yaml was not used: assignment/exercises.yaml",)


def test_the_same_path_twice_in_an_archive_costs_nothing(tmp_path, zipped, one, four):
    submission = one(zipped(tmp_path / "zoe.zip", {**four, "exercises.yaml": FORM, "Exercises.yaml": b"x"}))
    assert (submission.problem, submission.files) == ("", four)
    assert submission.exercises in {FORM, b"x"}


def test_a_form_that_is_too_large_is_cut_and_costs_nothing_else(tmp_path, write, zipped, four):
    files = {**four, "exercises.yaml": b"#" * (MAX_EXERCISES_BYTES + 1000)}
    write(tmp_path / "al", files)
    zipped(tmp_path / "bo.zip", files)
    for submission in collect(tmp_path):
        assert (submission.problem, submission.files) == ("", four)
        assert len(submission.exercises) == MAX_EXERCISES_BYTES + 1


def test_no_more_than_a_few_forms_are_kept(tmp_path, zipped, one, four):
    forms = {f"d{number}/exercises.yaml": b"%d" % number for number in range(50)}
    submission = one(zipped(tmp_path / "zoe.zip", {**four, **forms}))
    assert (submission.problem, submission.exercises) == ("", b"0")
    assert len(submission.remarks) == FORMS - 1


def test_a_form_alone_is_named_in_what_was_found(tmp_path, write, zipped):
    write(tmp_path / "al", {"exercises.yaml": FORM})
    zipped(tmp_path / "bo.zip", {"exercises.yaml": FORM})
    assert [s.problem for s in collect(tmp_path)] == [
        "expected nn.py or modules_basic.py or transformer.py or translation.py, found exercises.yaml"
    ] * 2


def test_a_form_in_the_folder_of_a_class_is_staff_s_own(tmp_path, write, four):
    write(tmp_path / "al", four)
    write(tmp_path / "bo", four)
    (tmp_path / "exercises.yaml").write_bytes(FORM)
    assert [(s.id, s.exercises) for s in collect(tmp_path)] == [("al", None), ("bo", None)]


def notebook(*cells):
    code = [{"cell_type": "code", "source": text, "metadata": data} for text, data in cells]
    return json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": code}).encode()


SOURCE = ("def logsumexp(input, dim): ...", {"tags": ["file:nn.py"]})


@pytest.mark.parametrize(
    "cell",
    [
        (FORM.decode(), {"tags": ["file:exercises.yaml"]}),
        (FORM.decode(), {"file": "assignment/exercises.yaml"}),
        (f"%%writefile exercises.yaml\n{FORM.decode()}", {}),
        (f"# file: exercises.yaml\n{FORM.decode()}", {}),
    ],
)
def test_a_cell_of_a_notebook_may_be_the_form(tmp_path, one, cell):
    (tmp_path / "zoe.ipynb").write_bytes(notebook(SOURCE, cell))
    submission = one(tmp_path / "zoe.ipynb")
    assert submission.exercises == FORM
    assert list(submission.files) == ["nn.py"]


def test_a_notebook_without_such_a_cell_takes_the_form_beside_it(tmp_path, write, one):
    folder = write(tmp_path / "class" / "zoe", {"hw3.ipynb": notebook(SOURCE), "exercises.yaml": FORM})
    assert one(folder.parent).exercises == FORM


def test_a_cell_comes_before_a_file(tmp_path, write, one):
    cell = ("answers:\n", {"tags": ["file:exercises.yaml"]})
    folder = write(tmp_path / "class" / "zoe", {"hw3.ipynb": notebook(SOURCE, cell), "exercises.yaml": FORM})
    submission = one(folder.parent)
    assert submission.exercises == b"answers:\n"
    assert "a second exercises.yaml was not used: exercises.yaml" in submission.remarks


def test_a_form_in_an_untagged_notebook_does_not_keep_the_other_cells_out(tmp_path, one):
    cells = (("def logsumexp(input, dim): ...", {}), ("%%writefile exercises.yaml\nanswers:\n", {}))
    (tmp_path / "zoe.ipynb").write_bytes(notebook(*cells))
    submission = one(tmp_path / "zoe.ipynb")
    assert (list(submission.files), submission.exercises) == (["nn.py"], b"answers:\n")
