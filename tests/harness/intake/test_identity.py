"""Ids are folder names: safe, unique, the same on every run."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.intake.identity import safe_id, stem_of, unique_ids


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("s001.zip", "s001"),
        ("s001.TAR.GZ", "s001"),
        ("zoë müller.tgz", "zoë_müller"),
        ("王小明 (1).py", "王小明__1_"),
        ("a+b,c'd[e].ipynb", "a_b_c_d_e_"),
        ("..", "_."),
        ("-rf", "_rf"),
        (".zip", "submission"),
        ("v1.2", "v1.2"),
        ("evil\x1b[2J\u202e/x", "evil__2J__x"),
        ("staff", "staff"),
    ],
)
def test_an_id_is_the_name_without_suffix_made_safe(name, wanted):
    assert safe_id(stem_of(name)) == wanted


def test_duplicates_are_numbered_letter_case_and_the_names_of_reports_own_files_aside():
    assert unique_ids(["a", "a", "A", "a-2", "staff", "index.html"]) == [
        "a",
        "a-2",
        "A-3",
        "a-2-2",
        "staff-2",
        "index.html-2",
    ]


@given(st.lists(st.text(max_size=300), max_size=20))
def test_ids_are_always_unique_and_safe(labels):
    ids = unique_ids(labels)
    assert len({identity.casefold() for identity in ids}) == len(labels)
    for identity in ids:
        assert identity not in ("", ".", "..")
        assert len(identity.encode()) <= 130
        assert all(letter in "._-" or unicodedata.category(letter)[0] in "LMN" for letter in identity)
