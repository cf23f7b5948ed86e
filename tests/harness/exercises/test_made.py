"""Pages and forms are made from one source, and what is for students holds no answer."""

import re

import pytest
import yaml

from grader import release
from grader.errors import RefusedToStartError
from grader.exercises import exercises, form, quiz
from grader.fingerprint import ROOT
from handouts.exercises import __main__ as command
from handouts.exercises import pages

FOR_STUDENTS = ("handouts/exercises/exercises.en.md", "handouts/exercises/exercises.zh.md", "assignment/exercises.yaml")


def test_what_is_committed_is_what_is_made():
    assert command.main(["--check"]) == 0


def test_check_names_what_is_stale_and_a_run_repairs_it(tmp_path, monkeypatch, capsys):
    for folder in ("handouts/exercises", "assignment", "solution"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.setattr(command, "ROOT", tmp_path)
    assert command.main(["--check"]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 6
    assert command.main([]) == 0
    (tmp_path / "assignment" / "exercises.yaml").write_text("old")
    assert command.main(["--check"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line == "assignment/exercises.yaml is not what handouts/exercises/ gives; run: python -m handouts.exercises"
    assert (tmp_path / "assignment" / "exercises.yaml").read_text() == "old"


def test_the_form_has_a_place_for_everything_and_nothing_in_it():
    found = yaml.safe_load(form.blank())
    assert list(found["answers"]) == list(exercises())
    assert found["quiz"] == dict.fromkeys(quiz())
    for name, exercise in exercises().items():
        assert found["answers"][name] == (dict.fromkeys(exercise.fields) if exercise.fields else "")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_question_page_asks_everything_and_names_every_field(language):
    text = pages.questions(language)
    for exercise in exercises().values():
        assert exercise.question.of(language) in text
        assert all(exercise.question.of(language).count(f"`{field}`") == 1 for field in exercise.fields)
    assert all(f"(`{name}`)" in text for name in quiz())


@pytest.mark.parametrize("path", FOR_STUDENTS)
def test_no_answer_is_in_what_students_get(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    told = [words for e in exercises().values() for words in (e.model, e.hint) if words]
    told += [statement.reason for statement in quiz().values()]
    assert [words.en for words in told if words.en in text or words.of("zh") in text] == []


@pytest.mark.parametrize("exercise", exercises().values(), ids=list(exercises()))
def test_no_question_says_what_is_right(exercise):
    """A small number may stand in it by chance: the width of a head is its number of heads."""
    values = [str(expected.value).removesuffix(".0") for expected in exercise.expected.values()]
    asked = re.findall(r"[\d.]+|\[[\d, ]+\]", exercise.question.en + exercise.question.zh)
    assert [value for value in values if len(value) > 2 and value in asked] == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_page_of_answers_has_all_of_them(language):
    text = pages.answers(language)
    assert all(exercise.model.of(language) in text for exercise in exercises().values())
    assert all(statement.reason.of(language) in text for statement in quiz().values())
    assert "| `masked` | 8128 |" in text


@pytest.mark.parametrize("language", ["en", "zh"])
def test_formulas_are_closed(language):
    for text in (pages.questions(language), pages.answers(language)):
        for line in re.sub(r"`[^`]*`", "", text).splitlines():
            assert line.count("$") % 2 == 0, line


def test_a_form_with_an_answer_in_it_stops_the_release(monkeypatch):
    monkeypatch.setattr(release.form, "blank", lambda: "other\n")
    with pytest.raises(RefusedToStartError, match=r"assignment/exercises\.yaml is not the empty form"):
        release.contents(ROOT)
