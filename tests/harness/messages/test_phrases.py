"""What the grader says of a submission is said in both languages: every place in its source that makes a sentence."""

import re

import pytest
from harness.messages import sources
from harness.messages.expressions import ANY
from harness.messages.producers import Said, sentences

from grader.messages import LANGUAGES, phrases
from grader.messages.phrases import Found, checks_in, find, tell
from grader.rubric import load

CHINESE = re.compile("[\u4e00-\u9fff]")
NAMES = ("p1.lse.value", "nn.py")
"""What may stand where any name may, and must where a phrase asks for the id of a check or for a file."""


@pytest.fixture(scope="module")
def said():
    """All sentences: of the source, and those that an instructor writes into the rubric."""
    pending = [Said(line.pending, f"rubric.yaml: {line.id}") for line in load().checks if line.pending]
    return [*sentences(), *pending]


def fillings(sentence):
    """The sentence as it is, and with names for what varies; none where it has no word of its own."""
    if re.search("[A-Za-z]", sentence.text.replace(ANY, "")):
        yield from (sentence.text.replace(ANY, name) for name in (ANY, *NAMES))


def phrases_in(found):
    """The templates that a sentence is made from, those in its places too."""
    inner = [value for value in found.places.values() if isinstance(value, Found)]
    return {found.phrase.template}.union(*map(phrases_in, inner))


def test_every_sentence_that_the_grader_makes_is_told_in_chinese(said):
    texts = {sentence: list(fillings(sentence)) for sentence in said}
    untold = [s for s, filled in texts.items() if filled and not any(CHINESE.search(tell(t, "zh")) for t in filled)]
    assert [f"{sentence.place}: {sentence.text}" for sentence in untold] == []


def left_in_english(found):
    """Words of the grader's own that stand in a place for names and numbers, where they stay as they are."""
    kinds = found.phrase.kinds
    inner = [value for value in found.places.values() if isinstance(value, Found)]
    plain = [re.sub("|".join((ANY, *NAMES)), "", v) for name, v in found.places.items() if kinds[name] == ""]
    deeper = [words for value in inner for words in left_in_english(value)]
    return [words for words in plain if re.search("[a-z]{2,} [a-z]", words)] + deeper


def test_no_word_of_a_sentence_stays_english_in_a_place_for_names(said):
    made = {text: find(text) for sentence in said for text in fillings(sentence)}
    left = {text: left_in_english(found) for text, found in made.items() if found}
    assert {text: words for text, words in left.items() if words} == {}


def test_no_phrase_stands_for_a_sentence_that_is_no_longer_made(said):
    made = (find(text) for sentence in said for text in fillings(sentence))
    used = set().union(*(phrases_in(found) for found in made if found))
    assert sorted({phrase.template for phrase in phrases.phrases()} - used) == []


def test_sentences_are_found_in_every_room_that_makes_some(said):
    rooms = {sentence.place.split(":")[0].split("/")[0] for sentence in said}
    assert {"checks", "intake", "judge.py", "pipeline.py", "rubric.yaml", "sandbox", "worker"} <= rooms
    assert len(said) > 100


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('def f(n):\n    raise UngradableError(f"{n} is new")', {"\u2026any\u2026 is new"}),
        ('def f(n):\n    w = "a" if n else "b"\n    raise UngradableError(w + " c")', {"a c", "b c"}),
        ('def f(w):\n    return Broken("0.out", f"it {w}")\n\n\ndef g():\n    f("changes")', {"it changes"}),
        ('def f(n) -> str:\n    return "x" if n else ""\n\n\ndef g():\n    Fault(1, f"no {f(1)}")', {"no x"}),
        ("def f():\n    remarks = ['a']\n    remarks.append('b')\n    remarks += [p for p in 'c']", {"a", "b"}),
        ("NOTHING = Outcome(message='none')", {"none"}),
    ],
)
def test_a_new_sentence_is_seen(source, expected, tmp_path, monkeypatch):
    (tmp_path / "room.py").write_text(source)
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    sources.forget()
    found = {sentence.text for sentence in sentences()}
    sources.forget()
    assert found == expected


@pytest.mark.parametrize("source", ["Fault(1, foreign(2))", "UngradableError(lambda: 1)", "remarks = foreign()"])
def test_what_is_not_understood_is_refused(source, tmp_path, monkeypatch):
    (tmp_path / "room.py").write_text(source)
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    sources.forget()
    with pytest.raises(ValueError, match=r"foreign|lambda"):
        sentences()
    sources.forget()


@pytest.mark.parametrize(
    ("text", "english", "chinese"),
    [
        (
            "time limit 10 s (20 s on the clock)",
            "10 s of computing (20 s on the clock)",
            "计算时间 10 秒（实际经过 20 秒）",  # noqa: RUF001
        ),
        ("memory limit 1 GiB", "1 GiB of memory", "1 GiB 内存"),
        (
            "needs p1.lse.value, which gave no answer",
            "needs Sums, which gave no answer",
            "需要“Sums”，而它没有给出结果",  # noqa: RUF001
        ),
        (
            "transformer.MultiHeadAttention: the output changes in evaluation",
            "the output changes in evaluation",
            "评估时，输出变了",  # noqa: RUF001
        ),
        ("nobody says this", "nobody says this", "nobody says this"),
    ],
)
def test_a_sentence_is_told_in_both_languages(text, english, chinese):
    told = [tell(text, language, {"p1.lse.value": "Sums"}.__getitem__) for language in LANGUAGES]
    assert told == [english, chinese]


def test_the_checks_of_a_sentence_are_known():
    assert list(checks_in("needs p1.lse.value to pass")) == ["p1.lse.value"]
    assert list(checks_in("memory limit 1 GiB")) == []
    assert list(checks_in("nobody says this")) == []


def test_what_a_student_wrote_is_not_translated():
    name = "in evaluation"
    told = tell(f"expected ordinary files, found {name}, which is a symbolic link", "zh")
    assert told == f"应当都是普通文件，但 {name} 是符号链接"  # noqa: RUF001


def test_text_that_nests_without_end_ends():
    assert find("a: " * 600 + "the output") is None


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("- a", "phrases.yaml is not"),
        ('"{x}": y', "no words of its own"),
        ('"a {x:colour}": y', "kind"),
        ('"a {x}": "b {y}"', r"has no \['y'\]"),
        ('"a": {zh: b, hint: none_such}', "none_such"),
        ('"a": {zh: b, fr: c}', "phrases.yaml is not"),
    ],
)
def test_a_file_that_is_not_as_described_is_refused(line, why, tmp_path, monkeypatch):
    (tmp_path / "phrases.yaml").write_text(line, encoding="utf-8")
    monkeypatch.setattr(phrases, "__file__", str(tmp_path / "phrases.py"))
    with pytest.raises(ValueError, match=why):
        phrases.phrases.__wrapped__()
