"""The proof itself: what it is made of, and that it would not pass where grading is wrong."""

from __future__ import annotations

import ast
import io
from dataclasses import replace

import msgspec
import pytest
from rich.console import Console

from grader import grading
from grader.case import Limits
from grader.errors import UsageError
from grader.fingerprint import ROOT
from grader.misconceptions import known as misconceptions
from grader.rubric import load as load_rubric
from grader.selfcheck import machine, patches, proof
from grader.selfcheck.attacking import Tried
from grader.selfcheck.command import SECRET
from grader.selfcheck.known import load
from grader.selfcheck.patches import Equivalent, Mutant
from grader.selfcheck.proof import Proof, Result
from grader.selfcheck.summary import show, summary, ways

KNOWN = load(ROOT)
TOP = 100.0


@pytest.fixture(scope="module")
def bench():
    made = grading.prepare(SECRET, "auto", ()).bench
    made.rubric.limits = Limits(30.0, 4, 1024)
    return made


def patch(among, identifier):
    return next(entry for entry in among if entry.id == identifier)


# What there is


def test_there_are_three_hundred_mutants_and_more_and_forty_names():
    assert len(KNOWN.mutants) + len(KNOWN.machines) >= 300
    assert len({mutant.named for mutant in KNOWN.mutants} - {""}) >= 40


def test_there_are_at_least_thirty_equivalents_and_each_variation_is_shown():
    assert len(KNOWN.equivalents) >= 30
    assert ways(KNOWN.equivalents) == set(range(11))


def test_every_misconception_has_a_mutant_and_every_name_is_a_misconception():
    assert {mutant.named for mutant in KNOWN.mutants} - {""} == {mistake.name for mistake in misconceptions()}


def test_a_named_mutant_loses_the_check_that_its_misconception_is_blamed_on():
    blamed = {mistake.name: mistake.blames for mistake in misconceptions()}
    for mutant in KNOWN.mutants:
        if mutant.named:
            assert mutant.loses[0] == blamed[mutant.named], mutant.id


def test_every_check_that_can_be_assessed_is_lost_by_some_named_mutant():
    assessed = {line.id for line in load_rubric().checks if not line.pending}
    assert {check for mutant in KNOWN.mutants for check in mutant.loses} == assessed


def test_at_most_one_machine_made_mutant_in_twenty_is_shown_to_be_harmless():
    assert len(KNOWN.harmless) <= 0.05 * (len(KNOWN.mutants) + len(KNOWN.machines))
    assert all(len(reason) > 10 for reason in KNOWN.harmless.values())


@pytest.mark.parametrize("entry", [*KNOWN.mutants, *KNOWN.equivalents], ids=lambda entry: entry.id)
def test_every_patch_fits_the_reference_and_is_python(entry):
    among = KNOWN.mutants if isinstance(entry, Mutant) else KNOWN.equivalents
    files = patches.applied(entry, among, KNOWN.texts).files
    assert files != KNOWN.reference.files or entry.rename
    for text in files.values():
        ast.parse(text)


def test_machine_made_mutants_are_the_same_each_time_with_ids_of_their_own():
    again = machine.mutants(KNOWN.texts)
    assert again == list(KNOWN.machines)
    assert len({made.id for made in again}) == len({made.content for made in again}) == len(again)


def test_a_mutant_keeps_its_id_when_other_parts_of_the_file_change():
    changed = {**KNOWN.texts, "nn.py": "# one line more\n" + KNOWN.texts["nn.py"]}
    assert [made.id for made in machine.mutants(changed)] == [made.id for made in KNOWN.machines]


def test_only_what_students_write_is_broken():
    given = "def softmax(input: Tensor, dim: int) -> Tensor:"
    assert all(given in made.content.decode() for made in KNOWN.machines if made.file == "nn.py")
    assert not [made.id for made in KNOWN.machines if made.id.startswith(("nn.GELU", "nn.softmax:", "nn.max"))]


def test_a_patch_that_does_not_fit_says_which_and_what():
    wrong = Mutant(id="x", about="", loses=[], replace=[("nn.py", "nowhere to be found", "")])
    with pytest.raises(UsageError, match=r"x: nn.py holds 'nowhere to be found' 0 times, expected once"):
        patches.applied(wrong, [wrong], KNOWN.texts)


def test_a_definition_that_does_not_exist_is_refused():
    wrong = Equivalent(id="x", about="", ways=[], define={"nn.logsumexp2": "def f(): pass"})
    with pytest.raises(UsageError, match=r"x: there is no definition logsumexp2"):
        patches.applied(wrong, [wrong], KNOWN.texts)


# What it says


def of(**results):
    fine = Result("reference", score=81.0, pending=19.0)
    usual = {"reference": fine, "blank": Result("blank"), "mutants": [], "machines": [], "equivalents": []}
    return Proof(**{**usual, **results})


EMPTY = replace(KNOWN, mutants=(), machines=(), equivalents=(), harmless={})


def test_a_complete_proof_holds():
    assert summary(of(), EMPTY, "A").holds


@pytest.mark.parametrize(
    "results",
    [
        {"reference": Result("reference", score=80.0, pending=19.0)},
        {"blank": Result("blank", score=0.01)},
        {"equivalents": [Result("e", lost=("p1.lse.value",), score=77.0, pending=19.0)]},
        {"equivalents": [Result("e", notes=("the grader itself failed",))]},
    ],
)
def test_a_reference_that_loses_a_blank_that_earns_and_an_equivalent_that_loses_break_the_proof(results):
    known = replace(EMPTY, equivalents=KNOWN.equivalents[: len(results.get("equivalents", []))])
    assert not summary(of(**results), known, "A").holds


def test_a_mutant_that_loses_another_check_than_its_own_is_not_killed():
    mutant = patch(KNOWN.mutants, "mha.no_scale")
    other = Result(mutant.id, lost=("p3.mha.heads",), names={"p3.mha.scale": ("mha.no_scale",)})
    found = summary(of(mutants=[other]), replace(EMPTY, mutants=[mutant]), "A")
    assert (found.mutants.killed, found.misconceptions.named, found.holds) == (0, 1, False)


def test_a_mutant_under_another_name_is_not_named_and_one_in_a_pair_is():
    mutant = patch(KNOWN.mutants, "mha.no_scale")
    for names, named in ((("mha.scale_no_root",), 0), (("mha.no_scale", "mha.flag_ignored"), 1)):
        result = Result(mutant.id, lost=("p3.mha.scale",), names={"p3.mha.scale": names})
        found = summary(of(mutants=[result]), replace(EMPTY, mutants=[mutant]), "A")
        assert (found.misconceptions.named, found.holds) == (named, bool(named))


def test_a_machine_made_mutant_survives_unless_it_is_shown_to_be_harmless_and_then_must_lose_nothing():
    made = KNOWN.machines[0]
    for lost, harmless, holds in (
        ((), {}, False),
        ((), {made.id: "why"}, True),
        (("p1.lse.value",), {made.id: ""}, False),
    ):
        known = replace(EMPTY, machines=[made], harmless=harmless)
        assert summary(of(machines=[Result(made.id, lost)]), known, "A").holds is holds


def test_an_attack_that_did_not_hold_breaks_the_proof_and_is_named():
    tried = [Tried("reach.one"), Tried("reach.two", wrong="p1.lse.value error (), expected passed", left="left: x")]
    found = summary(of(attacks=tried), EMPTY, "A")
    assert (found.attacks.total, found.attacks.held, found.holds) == (2, 1, False)
    assert "NOT HELD reach.two: p1.lse.value error (), expected passed; left: x" in shown(of(attacks=tried))
    assert "reach.one" not in shown(of(attacks=tried))


def test_where_something_is_left_behind_no_attack_has_held_as_none_can_be_blamed():
    proof = of(attacks=[Tried("reach.one")], left="left behind: process 9")
    found = summary(proof, EMPTY, "A")
    assert (found.attacks.total, found.attacks.held, found.holds) == (1, 0, False)
    assert "LEFT BEHIND by some attack: left behind: process 9" in shown(proof)


def test_only_attacks_that_must_hold_on_the_tier_are_carried_out_and_the_sample_has_some():
    on_each = {letter: len(KNOWN.on(letter).attacks) for letter in "ABC"}
    assert on_each["C"] == 0
    assert 80 <= min(on_each["A"], on_each["B"]) <= len(KNOWN.attacks)
    sampled = KNOWN.on("A").sample().attacks
    assert len(sampled) == 8
    assert len({entry.id.partition(".")[0] for entry in sampled}) >= 3


def shown(proof):
    screen = Console(width=200, file=io.StringIO())
    show(screen, proof, summary(proof, EMPTY, "A"), EMPTY)
    return screen.file.getvalue()


def test_the_last_line_has_the_promised_shape():
    assert msgspec.to_builtins(summary(of(), EMPTY, "A")) == {
        "tier": "A",
        "reference": {"score": "81", "pending": "19", "max": "100"},
        "blank": "0",
        "mutants": {"total": 0, "killed": 0, "equivalent": 0},
        "equivalents": {"total": 0, "passed": 0},
        "misconceptions": {"total": 0, "named": 0},
        "attacks": {"total": 0, "held": 0},
    }


# A few, really graded


@pytest.mark.parametrize("identifier", ["lse.no_shift", "mha.no_scale", "translation.loss_unshifted"])
def test_a_named_mutant_loses_its_check_under_its_name(identifier, bench):
    mutant = patch(KNOWN.mutants, identifier)
    only = (mutant.loses[0],)
    result = proof.graded(patches.applied(mutant, KNOWN.mutants, KNOWN.texts), bench, only)
    assert result.lost == only
    assert result.names[mutant.loses[0]] == (mutant.named,)


def test_a_machine_made_mutant_loses_a_check_of_its_own_part_and_a_harmless_one_none(bench):
    files = dict(KNOWN.reference.files)
    swapped = next(made for made in KNOWN.machines if made.id.startswith("nn.logsumexp: input - largest -> (input) +"))
    assert proof.first_loss(swapped, files, bench).lost == ("p1.lse.value",)
    harmless = next(made for made in KNOWN.machines if made.id in KNOWN.harmless and made.target.startswith("nn."))
    assert proof.first_loss(harmless, files, bench).lost == ()


def test_an_equivalent_gets_full_marks(bench):
    entry = patch(KNOWN.equivalents, "gather_and_fold")
    result = proof.graded(patches.applied(entry, KNOWN.equivalents, KNOWN.texts), bench)
    assert (result.notes, result.lost, result.score + result.pending) == ((), (), TOP)
