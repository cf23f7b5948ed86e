"""Which mistakes are tried as the reason of a failure, and in what order."""

from grader.diagnose import MOST_TRAINED, USED_BY, _candidates, _known_below, _trained_together
from grader.misconceptions import find, known

LAYER = USED_BY["transformer.TransformerLayer"]


def test_what_a_passed_check_would_have_caught_is_not_tried():
    tried = [m for (m,) in _candidates(LAYER, (), {"p2.linear.forward", "p3.mha.scale"}, pairs=False)]
    assert not {m.blames for m in tried} & {"p2.linear.forward", "p3.mha.scale"}
    assert {m.blames for m in tried} >= {"p3.layer", "p3.mha.causal"}


def test_a_layer_norm_that_passed_with_two_dims_may_still_be_the_reason_with_three():
    tried = [m.id for (m,) in _candidates(LAYER, (), {"p2.layernorm.forward"}, pairs=False)]
    assert "layernorm.wrong_axis/sequence" in tried


def test_what_another_check_showed_is_tried_first_and_alone():
    first = next(_candidates(LAYER, (find("mha.no_scale"),), (), pairs=False))
    assert first == (find("mha.no_scale"),)


def test_two_mistakes_that_no_other_check_showed_are_tried_together_only_when_asked_for():
    assert all(len(mistakes) == 1 for mistakes in _candidates(LAYER, (), (), pairs=False))
    assert any(len(mistakes) == 2 for mistakes in _candidates(LAYER, (), (), pairs=True))


def test_the_sets_of_known_mistakes_that_are_tried_grow_slowly_with_their_number():
    many = [mistake for mistake in known() if mistake.part == "attention"][:16]
    sets = list(_known_below(("attention",), many))
    assert len(sets) == 16 + 16 * 15 // 2 + 16 + 1
    assert len(_trained_together(("attention",), many)) == MOST_TRAINED
    assert _trained_together(("attention",), many)[0] == tuple(many)
