"""What is right, by hand: each number with its arithmetic, and mistakes that must not pass for it."""

import pytest
from harness.exercises.conftest import WANTED

from grader.exercises import assess, exercises
from grader.verdict import Filled, Verdict

D = 1024
RIGHT = {
    # d products of variance 1: the root of 256 is 16, and 16 / 16 is 1
    ("ex.01", "std_scores"): (16, "16.0", "256"),
    ("ex.01", "std_scaled"): (1, "1.0", "0.0625"),
    # positions 0 … 9; 127 scores above the diagonal in row 0, 126 in row 1, … 0 in row 127
    ("ex.02", "visible"): (10, "10", "9"),
    ("ex.02", "masked"): (sum(range(128)), "8128", "8256"),  # 8256: with the diagonal
    # D / h = 64 / 8 = 8
    ("ex.03", "q"): ([4, 8, 10, 8], "(4, 8, 10, 8)", "[4, 10, 8, 8]"),
    ("ex.03", "k_transposed"): ([4, 8, 8, 10], "[4,8,8,10]", "[4, 8, 10, 8]"),
    ("ex.03", "scores"): ([4, 8, 10, 10], "4, 8, 10, 10", "[4, 10, 10]"),
    ("ex.03", "heads"): ([4, 8, 10, 8], "[4, 8, 10, 8]", "[4, 10, 64]"),
    ("ex.03", "joined"): ([4, 10, 64], "[4, 10, 64]", "[4, 8, 10, 8]"),
    # attention 4 (d² + d), feed-forward d · 4d + 4d and 4d · d + d, two LayerNorms of 2d: 4,198,400 + 8,393,728 + 4096
    ("ex.05", "parameters"): (4 * (D * D + D) + (8 * D * D + 5 * D) + 4 * D, "12,596,224", "12582912"),  # 12 d²
    ("ex.05", "ffn_percent"): (100 * 8_393_728 / 12_596_224, "66.6%", "66.7"),
    # 4 n d = 4 · 4608 · 768 = 14,155,776 and 24 d² = 24 · 589,824 = 14,155,776
    ("ex.06", "attention_mflops"): (4 * 4608 * 768 / 1e6, "14.2", "7.1"),  # 7.1: a multiply-add as one
    ("ex.06", "rest_mflops"): (24 * 768**2 / 1e6, "14.2", "14.1"),
    # 512^-0.5 = 0.0441942; 4000^1.5 = 252,982.2; 16000^-0.5 = 0.00790569
    ("ex.07", "lr_2000"): (0.0441942 * 2000 / 252_982.2, "3.49e-4", "9.88e-4"),  # 9.88e-4: the other term
    ("ex.07", "lr_16000"): (0.0441942 * 0.00790569, "0.000349", "2.79e-3"),
    # 0.1 / 9 and 0.1 / 10; 1 - 0.1 and 1 - 0.1 + 0.01
    ("ex.08", "slides_right"): (0.9, "0.9", "0.91"),
    ("ex.08", "slides_other"): (0.1 / 9, "0.0111", "0.01"),
    ("ex.08", "pytorch_right"): (0.91, "0.91", "0.9"),
    ("ex.08", "pytorch_other"): (0.01, "0.01", "0.0111"),
    # 16 · 2^12 · 2^12 · 2 = 2^29 bytes and 2^5 · 2^24 · 2 = 2^30, of 2^20 each; 16 · 4096 / 32
    ("ex.10", "width_mib"): (2**29 / 2**20, "512", "256"),
    ("ex.10", "scores_mib"): (2**30 / 2**20, "1024", "1074"),  # 1074: of 10^6 bytes
    ("ex.10", "crossing"): (2048, "2048", "4096"),
}


def of(name, field, text):
    """What one field comes to."""
    fields = assess(f'answers: {{{name}: {{{field}: "{text}"}}}}'.encode(), [name]).outcomes[name].fields
    return {found.name: found.filled for found in fields}[field]


def test_every_field_is_worked_out_here():
    assert list(RIGHT) == [(name, field) for name, exercise in exercises().items() for field in exercise.fields]


@pytest.mark.parametrize(("name", "field"), RIGHT)
def test_what_is_held_for_right_is(name, field):
    value, _, _ = RIGHT[name, field]
    expected = exercises()[name].expected[field]
    if expected.tolerance:
        assert expected.value == pytest.approx(value, rel=1e-4)
    else:
        assert expected.value == value


@pytest.mark.parametrize(("name", "field"), RIGHT)
def test_a_right_answer_as_people_write_it_passes_and_a_common_mistake_does_not(name, field):
    _, right, wrong = RIGHT[name, field]
    assert of(name, field, right) is Filled.RIGHT
    assert of(name, field, wrong) is Filled.WRONG


def test_the_form_of_the_reference_is_all_right(filled):
    found = assess(filled(), WANTED)
    assert {outcome.verdict for outcome in found.outcomes.values()} == {Verdict.PASSED}
    assert [statement.right for statement in found.quiz] == [True] * 10
    assert found.remarks == ()
