"""The questions and answers as they are committed, and what their reader refuses."""

import re

import pytest

from grader.errors import UsageError
from grader.exercises import exercises, quiz, source
from grader.rubric import load

NUMERIC = ["ex.01", "ex.02", "ex.03", "ex.05", "ex.06", "ex.07", "ex.08", "ex.10"]
LANGUAGES = ("en", "zh")
CHINESE = re.compile("[\u4e00-\u9fff]")


def told():
    """All that feedback may say of them: (where, words)."""
    for name, exercise in exercises().items():
        yield from ((name, words) for words in (exercise.title, exercise.hint) if words)
    for name, statement in quiz().items():
        yield from ((name, words) for words in (statement.statement, statement.reason))


def test_there_are_twelve_exercises_and_ten_statements():
    assert list(exercises()) == [f"ex.{number:02}" for number in range(1, 13)]
    assert list(quiz()) == [f"quiz.{number:02}" for number in range(1, 11)]


def test_those_with_fields_are_the_lines_of_the_rubric_and_give_no_points():
    assert [name for name, exercise in exercises().items() if exercise.fields] == NUMERIC
    assert [(line.id, line.points) for line in load().exercise_lines] == [(name, 0) for name in NUMERIC]


def test_the_statements_are_neither_all_true_nor_all_false():
    assert sorted(statement.truth for statement in quiz().values()) == [False] * 5 + [True] * 5


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_reason_has_two_sentences(language):
    ends = {"en": re.compile(r"\.(?: |$)"), "zh": re.compile("\u3002")}[language]
    counts = {name: len(ends.findall(statement.reason.of(language))) for name, statement in quiz().items()}
    assert counts == dict.fromkeys(quiz(), 2)


def test_every_text_is_in_both_languages():
    asked = [(name, words) for name, e in exercises().items() for words in (e.question, e.model)]
    wrong = [name for name, words in (*told(), *asked) if CHINESE.search(words.en) or not CHINESE.search(words.zh)]
    assert wrong == []


def test_feedback_can_say_the_texts_as_they_are():
    """It fills in what stands in braces, and shows no formulas."""
    assert [name for name, words in told() for text in (words.en, words.zh) if re.search(r"[{}$]", text)] == []


def test_the_end_of_a_line_of_chinese_leaves_no_blank():
    words = source.Words(en="a b", zh="\u4e2d\u6587\uff0c \u4e2d\u6587 LayerNorm \u4e2d \u201ca b\u201d \u4e2d")
    assert words.of("zh") == "\u4e2d\u6587\uff0c\u4e2d\u6587 LayerNorm \u4e2d\u201ca b\u201d\u4e2d"
    assert words.of("en") == "a b"


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Writes the two files with a replacement in one of them, and reads those."""

    def make(file, old, new):
        for name in (source.QUESTIONS, source.ANSWERS):
            text = (source.FOLDER / name).read_text(encoding="utf-8")
            if name == file:
                assert text.count(old) >= 1
                text = text.replace(old, new, 1)
            (tmp_path / name).write_text(text, encoding="utf-8")
        monkeypatch.setattr(source, "FOLDER", tmp_path)

    return make


@pytest.mark.parametrize(
    ("file", "old", "new", "complaint"),
    [
        (source.QUESTIONS, "fields: {visible: whole,", "fields: {seen: whole,", "'seen', 'visible'"),
        (source.QUESTIONS, "fields: {visible: whole,", "fields: {visible: letter,", "letter"),
        (source.QUESTIONS, "fields: {visible: whole,", "fields: {visible: number,", "visible is of kind number"),
        (source.QUESTIONS, "  - id: ex.02", "  - id: ex.20", "'ex.02', 'ex.20'"),
        (source.QUESTIONS, '    section: "2.2"', '    sections: "2.2"', "sections"),
        (source.ANSWERS, 'visible: {value: 10, source: "i + 1 = 9 + 1"}', "visible: {value: 10}", "source"),
        (source.ANSWERS, "visible: {value: 10,", "visible: {value: 10, tolerance: 1,", "visible is of kind whole"),
        (source.ANSWERS, "q: {value: [4, 8, 10, 8],", "q: {value: 4,", "q is of kind shape"),
        (source.ANSWERS, "truth: false", "truth: maybe", "bool"),
        (source.ANSWERS, "schema: hw3-answers/1", "schema: [", "answers.yaml"),
    ],
)
def test_files_that_are_out_of_step_are_refused_in_one_line(elsewhere, file, old, new, complaint):
    elsewhere(file, old, new)
    with pytest.raises(UsageError) as refusal:
        (source.exercises.__wrapped__(), source.quiz.__wrapped__())
    assert complaint in str(refusal.value)
    assert "\n" not in str(refusal.value)
