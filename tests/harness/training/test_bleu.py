"""Scores, against what a hand or a formula gives."""

import sys

import pytest

from assignment.training import bleu
from assignment.training.errors import TrainingError

REFERENCES = [
    "the old man has not seen the dog",
    "the cook has found the small son",
    "today the good doctor has called the friend",
    "the dog has helped the old man",
]


def test_the_references_themselves_score_100_and_other_words_0():
    assert bleu.corpus_bleu(REFERENCES, REFERENCES).score == pytest.approx(100)
    assert bleu.corpus_bleu(["nothing at all like this"] * 4, REFERENCES).score == pytest.approx(0)


def test_the_score_is_the_geometric_mean_of_the_precisions_times_the_penalty_for_brevity():
    ours, theirs = "the cat is on the mat now", "the cat sat on the mat by now"
    # 1-grams: the cat on the mat now, 6 of 7; 2-grams: "the cat", "on the", "the mat", 3 of 6; 3-grams: "on the mat",
    # 1 of 5; 4-grams: 0 of 4, which sacrebleu smooths to 1/2 of 4; brevity exp(1 - 8/7)
    expected = 100 * 2.718281828459045 ** (1 - 8 / 7) * (6 / 7 * 3 / 6 * 1 / 5 * 0.5 / 4) ** 0.25
    assert bleu.corpus_bleu([ours], [theirs]).score == pytest.approx(expected, rel=1e-6)


def test_the_interval_holds_the_score_and_the_signature_says_how_it_was_computed():
    ours = [*REFERENCES[:2], "today the doctor has called a good friend", "the dog helped the man who is old"]
    found = bleu.corpus_bleu(ours * 10, REFERENCES * 10)
    assert found.low < found.score < found.high
    assert "nrefs:1" in found.signature
    assert "tok:13a" in found.signature
    assert f"bs:{bleu.RESAMPLES}" in found.signature
    assert found == bleu.corpus_bleu(ours * 10, REFERENCES * 10)


def test_without_resampling_there_is_a_score_and_no_interval():
    found = bleu.corpus_bleu(REFERENCES, REFERENCES, resamples=0)
    assert found.low == found.score == found.high == pytest.approx(100)


def test_what_moses_escaped_is_unescaped():
    escaped = "it &apos;s &quot; a &amp; b &quot; &lt; 3 &#91; x &#93; &#124;"
    assert bleu.unescaped([escaped]) == ['it \'s " a & b " < 3 [ x ] |']


def test_escaped_text_scores_higher_for_the_same_mistakes():
    ours, theirs = "we &apos;re at the house", "we &apos;re in a tree"
    escaped = bleu.corpus_bleu([ours], [theirs], resamples=0).score
    assert escaped > bleu.corpus_bleu(bleu.unescaped([ours]), bleu.unescaped([theirs]), resamples=0).score + 10


def test_exact_match_counts_whole_sentences():
    assert bleu.exact_match(["a b", "a", "c d"], ["a b", "a b", "c d"]) == pytest.approx(200 / 3)
    with pytest.raises(ValueError, match="no sentences"):
        bleu.exact_match([], [])


def test_without_the_package_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    with pytest.raises(TrainingError, match=r"pip install -e '\.\[translation\]'"):
        bleu.check()
