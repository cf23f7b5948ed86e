"""The two tokenizers: what `generate` needs of them, and what a BPE promises."""

import sys

import pytest

from assignment.training import batches, grammar
from assignment.training.bpe import BytePairs
from assignment.training.errors import TrainingError
from assignment.training.pairs import is_short
from assignment.training.words import Words

PAIRS = [
    {"de": "Das alte Haus steht am Fluss.", "en": "The old house stands by the river."},
    {"de": "Das neue Haus steht am Wald.", "en": "The new house stands by the wood."},
] * 5


@pytest.fixture(scope="module")
def pieces():
    return BytePairs.learn(PAIRS, 300)


@pytest.fixture(params=["pieces", "words"])
def tokenizer(request, pieces):
    """Each of the two, and a text that it knows."""
    if request.param == "pieces":
        return pieces, "Das neue Haus"
    return Words([*grammar.SPECIALS, "hund", "mann"]), "mann hund mann"


def test_the_special_tokens_have_the_first_ids_and_follow_a_text_directly(tokenizer):
    made, text = tokenizer
    assert [made.vocab[token] for token in ("<pad>", "<eos_de>", "<eos_en>")] == [0, 1, 2]
    alone = made(text)["input_ids"]
    assert min(alone) > 2
    assert made(f"{text}<eos_de>")["input_ids"] == [*alone, 1]
    assert made(f"{text}<eos_en>")["input_ids"] == [*alone, 2]


def test_decoding_gives_the_text_back_without_the_special_tokens(tokenizer):
    made, text = tokenizer
    assert made.decode([*made(f"{text}<eos_en>")["input_ids"], 0, 0]) == text
    assert made.decode([]) == ""


def test_a_saved_tokenizer_is_the_same_when_loaded(tokenizer, tmp_path):
    made, text = tokenizer
    made.save(tmp_path / "tokenizer.json")
    again = type(made).load(tmp_path / "tokenizer.json")
    assert dict(again.vocab) == dict(made.vocab)
    assert again(text) == made(text)
    assert [path.name for path in tmp_path.iterdir()] == ["tokenizer.json"]


def test_a_damaged_tokenizer_is_told_in_one_line(tokenizer, tmp_path):
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(TrainingError, match=r"tokenizer\.json is no") as failure:
        type(tokenizer[0]).load(tmp_path / "tokenizer.json")
    assert "\n" not in str(failure.value)


@pytest.mark.parametrize("text", ["Das Haus.", "ganz andere Wörter: 東京 🙂", " two  spaces ", "&apos; <b>", "a\tb"])
def test_no_text_is_unknown_to_bytes(pieces, text):
    assert pieces.decode(pieces(text)["input_ids"]) == text


def test_the_vocabulary_is_no_larger_than_asked_and_the_same_for_the_same_text(pieces):
    assert sorted(pieces.vocab.values()) == list(range(300))
    assert dict(BytePairs.learn(PAIRS, 300).vocab) == dict(pieces.vocab)


def test_frequent_words_are_few_tokens(pieces):
    assert len(pieces(" steht")["input_ids"]) < len(pieces(" xyzqw")["input_ids"]) == 6


def test_a_vocabulary_without_room_for_the_bytes_is_refused():
    with pytest.raises(TrainingError, match="expected 259 or more"):
        BytePairs.learn(PAIRS, 258)


def test_a_pair_of_few_words_can_be_more_tokens_than_the_model_reads(pieces):
    pair = {"de": "Donaudampfschifffahrtsgesellschaft fährt", "en": "it goes"}
    assert is_short(pair, 40)
    sequences, cut = batches.encode([pair], pieces, 10)
    assert (sequences, cut) == ([], 1)


def test_without_the_package_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(TrainingError, match=r"pip install -e '\.\[translation\]'"):
        BytePairs.learn(PAIRS, 300)
