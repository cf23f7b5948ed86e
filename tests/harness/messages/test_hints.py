"""The hint ladders: every misconception has all rungs in both languages, and no rung is a line to type."""

import re
from pathlib import Path

import pytest

from grader.messages import LANGUAGES, hints
from grader.messages.hints import ladders
from grader.misconceptions import known

RUNGS = ("rung1", "rung2", "rung3")
SECTIONS = {m.name: m.section for m in known()}
CODE = re.compile(
    r"\*\*|@|->|\w\((?!S|N|queries|B,)"  # an operator, or a call: a shape such as (B, S) is none
    r"|\w\.\w+\(|\bself\.|\bnp\.|\btorch\."
    r"|[\w\])] ?(=|\+=|-=|\*=|/=) ?[\w(\[-]"
    r"|\[[:\-\w, ]+\]"
)
ALLOWED = "causal=False"  # words of the task itself


def test_the_ladders_are_those_of_the_known_misconceptions():
    for language in LANGUAGES:
        assert ladders(language).keys() == SECTIONS.keys()


def test_no_name_stands_twice_in_a_file():
    for language in LANGUAGES:
        text = Path(hints.__file__).with_name(f"hints.{language}.yaml").read_text(encoding="utf-8")
        keys = re.findall(r"^(\S+):$", text, re.MULTILINE)
        assert len(keys) == len(set(keys)) == len(SECTIONS)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", SECTIONS)
def test_no_rung_holds_code_to_type(name, language):
    ladder = ladders(language)[name]
    for text in (ladder.name, *(getattr(ladder, rung) for rung in RUNGS)):
        assert not CODE.search(text.replace(ALLOWED, ""))
        assert "{" not in text
        assert text.count("`") % 2 == 0


@pytest.mark.parametrize(
    "line", ["x ** -0.5", "sqrt(head)", "x = x + y", "scores / math.sqrt(d)", "logits[:, -1]", "q @ k", "self.bias"]
)
def test_a_line_to_type_would_be_found(line):
    assert CODE.search(f"Divide, as in {line}, and go on.")


@pytest.mark.parametrize("name", SECTIONS)
def test_the_third_rung_names_the_section_to_reread(name):
    assert f"lecture 6, section {SECTIONS[name]}" in ladders("en")[name].rung3.lower()
    assert f"第 6 讲 §{SECTIONS[name]}" in ladders("zh")[name].rung3


@pytest.mark.parametrize("name", SECTIONS)
def test_the_second_rung_is_a_question_and_the_others_are_not(name):
    for language, mark in (("en", "?"), ("zh", "？")):  # noqa: RUF001 - the Chinese question mark
        ladder = ladders(language)[name]
        assert mark in ladder.rung2
        assert mark not in ladder.rung1


@pytest.mark.parametrize("name", SECTIONS)
def test_rungs_are_short_and_not_too_short(name):
    ladder = ladders("en")[name]
    words = [len(getattr(ladder, rung).split()) for rung in RUNGS]
    assert max(words) <= 50
    assert 60 <= sum(words) <= 140
    assert all(24 <= len(getattr(ladders("zh")[name], rung)) <= 110 for rung in RUNGS)


def test_chinese_is_chinese_and_english_is_not():
    chinese = re.compile("[\u4e00-\u9fff]")
    for name in SECTIONS:
        assert all(chinese.search(getattr(ladders("zh")[name], field)) for field in ("name", *RUNGS))
        assert not any(chinese.search(getattr(ladders("en")[name], field)) for field in ("name", *RUNGS))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: {name: n, rung1: x, rung2: y}", "hints.en.yaml is not"),
        ("a: {name: n, rung1: x, rung2: y, rung3: z, rung4: w}", "hints.en.yaml is not"),
        ("a: {name: n, rung1: x, rung2: ' ', rung3: z}", "a has an empty text"),
        ("a: {name: n, rung1: x, rung2: y, rung3: z}", "in one only"),
        ("[", "hints.en.yaml is not"),
    ],
)
def test_a_file_that_is_not_as_described_is_refused(text, why, tmp_path, monkeypatch):
    other = "b: {name: n, rung1: x, rung2: y, rung3: z}" if "in one only" in why else text
    (tmp_path / "hints.en.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "hints.zh.yaml").write_text(other, encoding="utf-8")
    monkeypatch.setattr(hints, "__file__", str(tmp_path / "hints.py"))
    hints._load.cache_clear()
    with pytest.raises(ValueError, match=why):
        ladders.__wrapped__("en")
    hints._load.cache_clear()
