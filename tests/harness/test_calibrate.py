"""The tolerances stand a hundred times away from every right answer and from every mistake."""

import pytest

from grader import calibrate, rubric

CLASSES = rubric.load().tolerances


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_the_measured_margins_hold(name):
    tolerance = CLASSES[name]
    assert tolerance.spread > 0, "run python -m grader.calibrate"
    assert calibrate.margins_hold(tolerance, tolerance.spread, tolerance.mistake)


def test_no_misconception_has_come_nearer_than_was_measured():
    nearest = calibrate.nearest_mistake(rubric.load(), seeds=1)
    for name, tolerance in CLASSES.items():
        assert nearest[name] >= 0.5 * tolerance.mistake, name


def test_a_margin_that_is_too_thin_is_seen():
    tolerance = CLASSES["float64"]
    assert not calibrate.margins_hold(tolerance, 2e-11, 1.0)
    assert not calibrate.margins_hold(tolerance, 1e-15, 5e-8)
