"""The rubric is read strictly, sums to its maximum, and is in step with the checks."""

from importlib import resources

import pytest

from grader import checks
from grader.errors import UsageError
from grader.rubric import Rubric, load


def test_the_shipped_rubric_has_the_points_of_the_assignment():
    points = {p.id: sum(line.points for line in p.checks) for p in load().problems}
    assert points == {"p1": 20, "p2": 20, "p3": 40, "p4": 20}


def test_every_check_has_a_line_and_every_line_a_check_or_a_reason():
    written = {line.id for line in load().checks if not line.pending}
    assert written == set(checks.identifiers())


def test_every_title_is_one_short_line():
    for identifier in checks.identifiers():
        assert 10 < len(checks.title(identifier)) <= 110, identifier


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        (["{id: a, points: 5, visibility: public, weight: 2}"], "unknown field `weight`"),
        (["{id: a, points: 5, visibility: secret}"], "secret"),
        (["{id: a, points: 4, visibility: public}"], "sum to 4.0"),
        (["{id: a, points: 2, visibility: public}", "{id: a, points: 3, visibility: public}"], "stands twice"),
        (["{id: a, points: 2, visibility: public, needs: [b]}", "{id: b, points: 3, visibility: public}"], "needs 'b'"),
        (["{id: a, points: 5, visibility: public, tolerance: float16}"], "names tolerance 'float16'"),
        (["{id: a, points: -1, visibility: public}", "{id: b, points: 6, visibility: public}"], "-1.0 points"),
        (["{id: a, points: five, visibility: public}"], "points"),
        (["[unclosed"], "rubric.yaml"),
        (["{id: a, points: 5, visibility: public, limits: {gpu: 1}}"], "unknown field `gpu`"),
        (["{id: a, points: 5, visibility: public, limits: {cpu_s: 1.5}}"], "Expected `int"),
        (["{id: a, points: 5, visibility: public, limits: {wall_s: null}}"], "Expected `float"),
        (["{id: a, points: 5, visibility: public, limits: {cpu_s: 0}}"], "a has cpu_s 0; expected 1 to 86400 seconds"),
        (["{id: a, points: 5, visibility: public, limits: {wall_s: .nan}}"], "a has wall_s nan; expected 0.1 to 86400"),
        (["{id: a, points: 5, visibility: public, limits: {memory_mib: 64}}"], "a has memory_mib 64; expected 192 to"),
        (["{id: a, points: 5, visibility: public, limits: {cpu_s: 30}}"], "a has wall_s 20 and cpu_s 30; expected a"),
    ],
)
def test_a_rubric_that_cannot_be_trusted_is_refused_in_one_line(lines, complaint, make_rubric):
    with pytest.raises(UsageError, match=r"rubric\.yaml") as refusal:
        make_rubric(*lines)
    assert complaint in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_patterns_select_checks_with_all_that_they_need(make_rubric):
    chain = ["{id: a, points: 2, visibility: public}", "{id: b, points: 2, visibility: public, needs: [a]}"]
    rubric = make_rubric(*chain, "{id: c, points: 1, visibility: public, after: [b]}")
    assert rubric.selected(["c"]) == {"a", "b", "c"}
    assert rubric.selected(["[ab]"]) == {"a", "b"}
    assert rubric.selected([]) == {"a", "b", "c"}
    assert rubric.selected(["z*"]) == set()


def test_a_changed_tolerance_changes_the_hash():
    texts = [resources.files("grader").joinpath(name).read_text("utf-8") for name in ("rubric.yaml", "tolerances.yaml")]
    assert Rubric(*texts).sha256 != Rubric(texts[0], texts[1].replace("1.0e-09", "1.0e-08")).sha256
