import pytest

from grader.worker.vocabulary import WordTokenizer

WORDS = ["<pad>", "<eos_de>", "ein", "Baum", "."]


@pytest.mark.parametrize(
    ("text", "ids"),
    [("", []), ("ein Baum", [2, 3]), ("ein Baum<eos_de>", [2, 3, 1]), (" ein\tBaum . <eos_de><pad>", [2, 3, 4, 1, 0])],
)
def test_a_text_becomes_ids_and_special_words_need_no_space(text, ids):
    assert WordTokenizer(WORDS)(text) == {"input_ids": ids}


def test_ids_become_words_again():
    assert WordTokenizer(WORDS).decode([2, 3, 1]) == "ein Baum <eos_de>"


def test_the_vocabulary_maps_each_word_to_its_place():
    assert WordTokenizer(WORDS).vocab == {"<pad>": 0, "<eos_de>": 1, "ein": 2, "Baum": 3, ".": 4}


def test_an_unknown_word_is_an_error_for_a_student_and_a_number_for_the_worker():
    tokenizer = WordTokenizer(WORDS)
    with pytest.raises(KeyError):
        tokenizer("Haus")
    assert tokenizer.ids("ein Haus") == [2, -2]
