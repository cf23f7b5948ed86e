"""Every wrong twin, handed in as a submission, loses the check it is blamed on, is named, and costs nothing else."""

from dataclasses import replace

import numpy as np
import pytest

from grader import checks, twins
from grader.case import Answer, CallOutcome, Case, Status
from grader.checks import shapes
from grader.diagnose import diagnose
from grader.evidence import gather
from grader.judge import judge
from grader.misconceptions import find, known, parts_with
from grader.rubric import load

RUBRIC = load()
SHOWS_WITH_DROPOUT_ON = {"lm.dropout_before_head"}  # needs masks that a real dropout drew: a mutant covers it
WITH_TWIN = [m.id for m in known() if m.twin is not None and m.id not in SHOWS_WITH_DROPOUT_ON]


def hand_in(case: Case, parts: twins.Parts, seed: int = 0) -> Answer:
    """What a submission that computes as these twins do would answer."""
    rng = np.random.default_rng(seed)
    own = {}
    if case.parameters is None:
        own = {
            f"param.{n}": rng.standard_normal(s) * s[0] ** -0.5
            for n, s in shapes.of(case.target, case.arguments).items()
        }
        if case.target.endswith("LayerNorm1d"):
            own = {"param.weights": np.ones_like(own["param.weights"]), "param.bias": np.zeros_like(own["param.bias"])}
    everything_on = replace(case, calls=tuple(replace(c) for c in case.calls))
    answer = Answer(Status.OK, tuple(CallOutcome(Status.OK) for _ in case.calls), own)
    calls = (
        range(len(case.calls))
        if not case.masks or case.arguments.get("p_dropout") == 0.0
        else [n for n, c in enumerate(case.calls) if c.mode.value == "eval"]
    )
    arrays = twins.run(everything_on, answer, parts, calls=calls)
    outcomes = tuple(
        CallOutcome(Status.OK if any(k.startswith(f"{n}.") for k in arrays) or n not in calls else Status.RAISED)
        for n in range(len(case.calls))
    )
    return Answer(Status.OK, outcomes, {**own, **arrays})


def trials_of(line) -> tuple[checks.Trial, ...]:
    """The check's trials whose answers follow from a twin alone (no dropout to draw, no distribution to sample)."""
    made = checks.trials(line.id, checks.Draw(np.random.default_rng(len(line.id))))
    return tuple(t for t in made if t.compare and not (t.case.masks and t.case.arguments.get("p_dropout")))


def failed(parts: twins.Parts) -> dict[str, tuple[str, ...]]:
    """Check id -> the misconceptions found, for every check that these twins fail by their values."""
    found = {}
    for line in RUBRIC.checks:
        if line.pending:
            continue
        trials = tuple(replace(t, properties=()) for t in trials_of(line))
        if not trials:
            continue
        exhibits = gather(trials, [hand_in(t.case, parts) for t in trials], RUBRIC.tolerance(line), RUBRIC.single)
        finding = judge(exhibits)
        if finding:
            earlier = [find(m) for causes in found.values() for m in causes]
            found[line.id] = tuple(m.id for m in diagnose(exhibits, finding, earlier))
    return found


def test_the_right_twins_pass_every_check():
    assert failed(twins.RIGHT) == {}


@pytest.mark.parametrize("identifier", WITH_TWIN)
def test_a_wrong_twin_loses_its_check_and_is_named_wherever_it_shows(identifier):
    mistake = find(identifier)
    found = failed(parts_with(mistake))
    assert mistake.blames in found
    names = {check: tuple(find(m).name for m in causes) for check, causes in found.items()}
    assert set(names.values()) <= {(mistake.name,)}, names


def test_every_misconception_is_blamed_on_a_check_of_the_rubric():
    assert {m.blames for m in known()} <= {line.id for line in RUBRIC.checks}


def test_there_are_at_least_forty_named_misconceptions():
    assert len({m.name for m in known()}) >= 40


@pytest.mark.parametrize(
    "pair",
    [
        ("mha.no_scale", "mha.mask_off_by_one"),
        ("layernorm.unbiased", "mha.no_scale"),
        ("ffn.relu", "layer.post_ln"),
        ("lm.no_positions", "lm.no_final_norm"),
    ],
)
def test_two_mistakes_at_once_are_both_named_where_both_show(pair):
    found = failed(parts_with(*(find(m) for m in pair)))
    assert any(set(causes) == set(pair) for causes in found.values()), found
