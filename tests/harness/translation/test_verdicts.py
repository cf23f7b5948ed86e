"""What a run is worth: points for BLEU on a line, in shares of the reference's or for itself."""

from fractions import Fraction

import pytest

from grader.recipe import Line
from grader.translation.checkpoint import Epoch, Place
from grader.translation.training import Trained
from grader.translation.verdicts import Yardstick, of_bleu, of_run
from grader.verdict import Verdict

RELATIVE, ABSOLUTE = Line(0.4, 0.8), Line(10, 18)


@pytest.mark.parametrize(
    ("scale", "reference", "bleu", "share"),
    [
        (RELATIVE, 20, 8, 0),
        (RELATIVE, 20, 7, 0),
        (RELATIVE, 20, 12, Fraction(1, 2)),
        (RELATIVE, 20, 10, Fraction(1, 4)),
        (RELATIVE, 20, 16, 1),
        (RELATIVE, 20, 40, 1),
        (ABSOLUTE, None, 10, 0),
        (ABSOLUTE, None, 14, Fraction(1, 2)),
        (ABSOLUTE, None, 18, 1),
        (ABSOLUTE, None, 0, 0),
    ],
)
def test_points_for_bleu_lie_on_the_line(scale, reference, bleu, share):
    found = Yardstick(scale, None if reference is None else Fraction(reference)).share(Fraction(bleu))
    assert found == share


def trained(lesson, own=None, given=None, losses=(3.0, 2.0, 1.0)):
    """A run that has ended, whose translations are the references unless told otherwise."""
    right = tuple(lesson.material.references)
    curve = (
        Epoch(number=1, train_loss=2.0, valid_loss=1.5, score=3.0),
        Epoch(number=2, train_loss=1.0, valid_loss=1.7, score=5.0),
    )
    place = Place(key="k", epoch=2, losses=losses, curve=curve, own=own or right, given=given or right)
    return Trained(place, finished=True)


@pytest.fixture
def lesson(make_course):
    return make_course().lesson


def test_who_says_the_references_has_bleu_100_and_points_for_it(lesson):
    half = of_bleu(trained(lesson), lesson, Yardstick(RELATIVE, Fraction(160)))  # 100 of 160: 0.625 of it
    assert half.finding.share == (Fraction(100, 160) - Fraction(2, 5)) / Fraction(2, 5)
    assert "BLEU is 100.00 on 6 test sentences" in half.finding.message
    assert "BLEU of the reference on the same text: 160.00" in half.remarks
    assert of_bleu(trained(lesson), lesson, Yardstick(RELATIVE, Fraction(120))).finding is None
    assert of_bleu(trained(lesson), lesson, Yardstick(ABSOLUTE, None)).finding is None


def test_what_the_model_can_and_generate_cannot_is_blamed_on_generate(lesson):
    wrong, yardstick = ("nothing like it",) * 6, Yardstick(ABSOLUTE, None)
    assert of_bleu(trained(lesson, own=wrong), lesson, yardstick).finding.excused == ("p4.generate",)
    assert "p4.grammar.exact" in of_bleu(trained(lesson, wrong, wrong), lesson, yardstick).finding.excused
    silent = ("",) * 6
    assert of_run(trained(lesson, own=silent), lesson).finding.excused == ("p4.generate",)
    assert "p4.grammar.exact" in of_run(trained(lesson, silent, silent), lesson).finding.excused


def test_the_epoch_with_the_lowest_validation_loss_counts(lesson):
    assert any("after epoch 1 of 2" in remark for remark in of_run(trained(lesson), lesson).remarks)


@pytest.mark.parametrize(("empty", "passes"), [(0, True), (3, True), (4, False)])
def test_half_of_the_translations_must_not_be_empty(empty, passes, lesson):
    own = ("",) * empty + tuple(lesson.material.references)[empty:]
    assert (of_run(trained(lesson, own=own), lesson).finding is None) == passes


@pytest.mark.parametrize(("losses", "passes"), [((2.0, 1.0), True), ((1.0, 1.0), False), ((1.0, 2.0), False)])
def test_the_loss_must_fall(losses, passes, lesson):
    finding = of_run(trained(lesson, losses=losses), lesson).finding
    assert (finding is None) == passes
    assert passes or finding.verdict is Verdict.FAILED
