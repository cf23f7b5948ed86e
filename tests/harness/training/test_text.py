"""Parallel text in every layout, and what is said of a missing or malformed file."""

import gzip
import sys
from collections import UserList
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from assignment.training import hub, lines, mteval, text, tsv
from assignment.training.errors import TrainingError
from assignment.training.pairs import Corpus, is_short

PAIRS = [("Guten Tag.", "Good day."), ("Das Haus ist groß & alt.", "The house is big & old."), ("Ja!", "Yes!")]


def write(folder, content, *, packed=False):
    folder.mkdir(exist_ok=True)
    for name, body in content.items():
        data = body.encode() if isinstance(body, str) else body
        (folder / name).write_bytes(gzip.compress(data) if packed else data)
    return folder


def plain(*names, packed=False, pairs=PAIRS):
    ending = ".gz" if packed else ""
    return {
        f"{name}.{language}{ending}": "".join(f"{pair[side]}\n" for pair in pairs)
        for name in names
        for side, language in enumerate(("de", "en"))
    }


def xml(sentences, escape=False):
    segments = "".join(
        f'<seg id="{number}"> {sentence.replace("&", "&amp;") if escape else sentence} </seg>\n'
        for number, sentence in enumerate(sentences, start=1)
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<mteval>\n<doc docid="1">\n{segments}</doc>\n</mteval>\n'


def both(pairs):
    return [(pair["de"], pair["en"]) for pair in pairs]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    "names", [("train", "valid", "test"), ("train", "val", "test_2016_flickr"), ("train.tags.de-en", "dev", "test")]
)
def test_plain_text_is_read_under_the_names_of_fairseq_multi30k_and_wit3(tmp_path, names, packed):
    folder = write(tmp_path / "text", plain(*names, packed=packed), packed=packed)
    corpus = text.complete(text.load(str(folder)))
    assert [both(part) for part in (corpus.train, corpus.valid, corpus.test)] == [PAIRS] * 3


def test_the_tags_in_the_training_file_of_wit3_are_no_sentences(tmp_path):
    tagged = {
        f"train.tags.de-en.{language}": f"<url>http://x</url>\n{PAIRS[0][side]}\n<title>T</title>\n{PAIRS[1][side]}\n"
        for side, language in enumerate(("de", "en"))
    }
    assert both(text.load_folder(write(tmp_path / "text", tagged))["train"]) == PAIRS[:2]


@pytest.mark.parametrize("escape", [False, True])
def test_the_xml_of_mteval_is_read_with_escaped_and_with_bare_signs(tmp_path, escape):
    stem = "IWSLT16.TED.tst2010.de-en"
    content = {f"{stem}.{language}.xml": xml([p[i] for p in PAIRS], escape) for i, language in enumerate(("de", "en"))}
    assert both(text.load_folder(write(tmp_path / "xml", content))["test"]) == PAIRS


def test_several_years_of_xml_are_one_part_each_for_development_and_test(tmp_path):
    content = {
        f"IWSLT16.TED.{year}.de-en.{language}.xml": xml([PAIRS[number][side]])
        for number, year in enumerate(("dev2010", "tst2010", "tst2011"))
        for side, language in enumerate(("de", "en"))
    }
    parts = text.load_folder(write(tmp_path / "xml", content))
    assert (both(parts["valid"]), both(parts["test"])) == (PAIRS[:1], PAIRS[1:])


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("deu.txt", "{en}\t{de}\tCC-BY 2.0 (France) Attribution: tatoeba.org\n"),
        ("eng-deu.tsv", "{en}\t{de}\n"),
        ("deu-eng.tsv", "{de}\t{en}\n"),
        ("Sentence pairs de_en.tsv", "17\t{de}\t4711\t{en}\n"),
    ],
)
def test_lines_with_tabs_are_read_in_the_order_that_the_name_tells(tmp_path, name, line):
    folder = write(tmp_path / "tsv", {name: "".join(line.format(de=de, en=en) for de, en in PAIRS)})
    parts = text.load_folder(folder)
    assert sorted(pair for part in parts.values() for pair in both(part)) == sorted(PAIRS)


def test_a_split_by_translation_tests_on_nothing_that_was_learned():
    pairs = [{"de": f"de {number % 250}", "en": f"en {number % 40}"} for number in range(1000)]
    parts = tsv.split(pairs, np.random.default_rng(0))
    for language in ("de", "en"):
        learned = {pair[language] for pair in parts["train"]}
        assert learned.isdisjoint(pair[language] for part in ("valid", "test") for pair in parts[part])
    assert {pair["en"] for pair in parts["valid"]}.isdisjoint(pair["en"] for pair in parts["test"])
    assert all(parts.values())


def test_a_split_is_the_same_for_the_same_seed_and_shuffled():
    pairs = [{"de": f"de {number}", "en": f"en {number}"} for number in range(200)]
    first, again, other = (tsv.split(pairs, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert first["train"] != sorted(first["train"], key=pairs.index)


MALFORMED = {
    "no such folder": ({}, "train.de and train.en"),
    "unknown names": ({"readme.md": "x"}, "readme.md"),
    "one language": ({"train.de": "Ja!\n"}, "no train.en"),
    "unequal": ({"train.de": "Ja!\nNein.\n", "train.en": "Yes!\n"}, "train.de has 2 lines but train.en has 1"),
    "empty": ({"train.de": "", "train.en": ""}, "no sentences"),
    "not UTF-8": ({"train.de": b"Gr\xfc\xdfe\n", "train.en": b"Hello\n"}, "not UTF-8 text (byte 2)"),
    "not gzip": ({"train.de.gz": b"Ja!", "train.en.gz": b"Yes!"}, "no whole gzip file"),
    "cut gzip": ({f"train.{x}.gz": gzip.compress(b"Ja!\n" * 99)[:-12] for x in ("de", "en")}, "no whole gzip file"),
    "other XML": ({"a.xml": "<a/>"}, "IWSLT16.TED.tst2010.de-en.de.xml"),
    "XML of one language": ({"x.tst1.de-en.de.xml": xml(["Ja!"])}, "x.tst1.de-en.en.xml cannot be read"),
    "XML without sentences": ({f"x.tst1.de-en.{x}.xml": "<mteval/>" for x in ("de", "en")}, "0 <seg>"),
    "XML that ends early": (
        {f"x.tst1.de-en.{x}.xml": xml(["Ja!", "Nein."])[:-20] for x in ("de", "en")},
        "2 <seg>, 1 of them whole",
    ),
    "unequal XML": (
        {"x.tst1.de-en.de.xml": xml(["Ja!", "Nein."]), "x.tst1.de-en.en.xml": xml(["Yes!"])},
        "2 <seg> in .de.xml but 1 in .en.xml",
    ),
    "a line without a tab": ({"deu-eng.tsv": "Ja!\tYes!\nNein.\n"}, "deu-eng.tsv:2 has 1 fields"),
    "order unknown": ({"pairs.tsv": "Ja!\tYes!\n"}, "which language comes first"),
    "two files": ({"deu-eng.tsv": "Ja!\tYes!\n", "eng-deu.tsv": "Yes!\tJa!\n"}, "2 files"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_of_a_missing_or_malformed_file_one_line_says_what_was_found_and_expected(tmp_path, case):
    content, said = MALFORMED[case]
    with pytest.raises(TrainingError) as failure:
        text.load(str(write(tmp_path / "text", content)))
    assert said in str(failure.value)
    assert "\n" not in str(failure.value)


def test_a_folder_that_is_not_there_and_a_file_in_its_place_are_told_apart(tmp_path):
    (tmp_path / "file").touch()
    for name, said in (("nowhere", "is not there"), ("file", "is a file")):
        with pytest.raises(TrainingError, match=said):
            text.load(str(tmp_path / name))


def test_a_folder_without_a_part_is_no_complete_corpus(tmp_path):
    folder = write(tmp_path / "text", plain("valid", "test"))
    with pytest.raises(TrainingError, match=r"no train pairs \(0 train, 3 valid, 3 test\)"):
        text.complete(text.load(str(folder)))


@pytest.mark.parametrize(("words", "short"), [(39, True), (40, False)])
def test_the_course_keeps_pairs_of_fewer_than_40_words_in_both_languages_together(words, short):
    pair = {"de": "wort " * 20, "en": "word " * (words - 20)}
    assert is_short(pair, 40) is short
    assert is_short(pair, 0)


class Lazy(UserList):
    """A column as `datasets` 4 gives it: no list, though it can be walked through."""


def fake_datasets(*, refuses_scripts, column=None):
    """Stands in for the package: it knows one data set, as a script and as the converted copy."""
    rows = [{"de": "ja", "en": "yes"}] if column is None else column
    asked = []

    def load_dataset(name, *, split, revision=None):
        asked.append((name, split, revision))
        if refuses_scripts and revision != "refs/convert/parquet":
            raise RuntimeError("Dataset scripts are no longer supported, but found iwslt14-de-en-preprocess.py")
        return {"translation": Lazy(rows) if refuses_scripts else rows}

    return SimpleNamespace(load_dataset=load_dataset, __version__="9.9", asked=asked)


@pytest.mark.parametrize("refuses_scripts", [False, True])
def test_iwslt14_is_loaded_from_the_hub_by_its_script_or_by_the_converted_copy(monkeypatch, refuses_scripts):
    package = fake_datasets(refuses_scripts=refuses_scripts)
    monkeypatch.setitem(sys.modules, "datasets", package)
    corpus = text.load("iwslt14")
    assert [both(part) for part in (corpus.train, corpus.valid, corpus.test)] == [[("ja", "yes")]] * 3
    assert {name for name, _, _ in package.asked} == {"bbaaaa/iwslt14-de-en-preprocess"}
    assert [split for _, split, _ in package.asked][:: 2 if refuses_scripts else 1] == ["train", "validation", "test"]


@pytest.mark.parametrize("column", [[], [{"de": "ja"}], ["ja"], [{"de": "ja", "en": None}]])
def test_a_data_set_of_another_form_is_refused(monkeypatch, column):
    monkeypatch.setitem(sys.modules, "datasets", fake_datasets(refuses_scripts=True, column=column))
    with pytest.raises(TrainingError, match="train"):
        hub.load()


def test_without_the_network_one_line_says_what_to_do(monkeypatch):
    def load_dataset(name, **_):
        raise ConnectionError(f"Couldn't reach {name}\non the Hub")

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset, __version__="9.9"))
    with pytest.raises(TrainingError, match="check the network") as failure:
        hub.load()
    assert "\n" not in str(failure.value)


def test_without_the_package_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(TrainingError, match=r"pip install -e '\.\[translation\]'"):
        hub.load()


def test_real_text_has_the_published_numbers_of_pairs(real_text):
    parts = {name: text.load_folder(real_text / name) for name in ("multi30k", "iwslt14", "wit3_xml")}
    assert {name: {part: len(pairs) for part, pairs in found.items()} for name, found in parts.items()} == {
        "multi30k": {"train": 29_000, "valid": 1_014, "test": 1_000},
        "iwslt14": {"valid": 7_282, "test": 6_750},
        "wit3_xml": {"valid": 887, "test": 1_565},
    }


def test_the_first_100_of_the_4275_short_test_pairs_of_iwslt14_are_scored(real_text):
    corpus = Corpus("iwslt14", **text.load_folder(real_text / "iwslt14"))
    assert len(corpus.shortened(40, 0).test) == 4_275
    sides = [(real_text / "iwslt14" / f"test.{language}").read_text("utf-8").split("\n") for language in ("de", "en")]
    short = [pair for pair in zip(*sides, strict=True) if pair[0] and len(" ".join(pair).split()) < 40]
    assert both(corpus.shortened(40, 100).test) == short[:100]


def test_the_xml_loader_reads_what_an_xml_parser_reads(real_text):
    path = real_text / "wit3_xml" / "IWSLT16.TED.tst2010.de-en.de.xml"
    parsed = [" ".join(element.text.split()) for element in ET.parse(path).iter("seg")]
    assert mteval.segments(path) == parsed


def test_the_xml_fairseq_and_plain_loaders_agree_on_the_same_text(real_text, tmp_path):
    parts = text.load_folder(real_text / "wit3_xml")
    for names, packed in ((("valid", "test"), False), (("val", "test_2016_flickr"), True)):
        content = {}
        for name, part in zip(names, ("valid", "test"), strict=True):
            content |= plain(name, packed=packed, pairs=both(parts[part]))
        again = lines.load(write(tmp_path / names[0], content, packed=packed))
        assert again == parts
