"""What the pages point at is there."""

from __future__ import annotations

import pytest
from harness.docs.pages import ROOT, fences, links, named_paths

from grader.manifest import as_they_are
from grader.submission import CANONICAL

PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "handouts/security.md")),
    *sorted((ROOT / "handouts" / "docs").glob("*.md")),
]
MADE = ("dist/", "reports/")
"""What commands make."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_of_a_page_leads_to_a_file(page):
    assert [link for link in links(page) if not (page.parent / link).exists()] == []


@pytest.mark.parametrize(
    "name", ["README.md", "handouts/docs/ta.md", "handouts/docs/ci.md", "handouts/docs/instructor.md"]
)
def test_every_path_that_a_page_for_staff_names_is_there(name):
    named = [path for path in named_paths(ROOT / name) if not path.startswith(MADE)]
    assert [path for path in named if not list(ROOT.glob(path.rstrip("/")))] == []


def test_every_path_that_the_page_for_students_names_is_in_the_release():
    released = {*as_they_are(ROOT), *(f"assignment/{name}" for name in CANONICAL)}
    named = set(named_paths(ROOT / "handouts" / "docs" / "student.md"))
    assert {"assignment/framework/", "assignment/exercises.yaml", "handouts/hw3.zh.pdf"} < named
    assert [path for path in named if not any(file.startswith(path) for file in released)] == []


def test_there_are_pages_for_the_four_who_use_it_and_the_readme_leads_to_each():
    users = {"student", "ta", "ci", "instructor"}
    assert {page.stem for page in (ROOT / "handouts" / "docs").glob("*.md")} == users
    assert {f"handouts/docs/{user}.md" for user in users} < set(links(ROOT / "README.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_says_in_which_language_it_is_unless_it_is_a_drawing_or_an_excerpt(page):
    """Else a command in it would not be run by the tests."""
    starts = ("hw3-grade", "python ", "make ", "pip ", "pytest ")
    assert [text for language, text in fences(page) if not language and text.startswith(starts)] == []
