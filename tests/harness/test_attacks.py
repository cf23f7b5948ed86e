"""Submissions that try what no submission may: each holds on every tier of this machine, and is a real attack."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from grader import intake, pipeline
from grader.batch import Plan, grade_all
from grader.errors import UsageError
from grader.fingerprint import ROOT
from grader.report.folder import FEEDBACK, FEEDBACK_HTML, REPORT
from grader.rubric import load as load_rubric
from grader.sandbox import Sandbox, bubblewrap, keepable, landlock, unisolated
from grader.sandbox.stage import WORKER
from grader.selfcheck import attacks_table
from grader.selfcheck.attacking import bench_for, carry_out
from grader.selfcheck.attacks import DEED_CHECK, REACHED, Attack, delivered
from grader.selfcheck.ground import prepared
from grader.selfcheck.known import load
from grader.verdict import Verdict

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="isolation needs Linux")

KNOWN = load(ROOT)
ON_TIERS = [(attack, letter) for letter in "AB" for attack in KNOWN.on(letter).attacks]
DEEDS = [attack for attack in KNOWN.attacks if attack.deed and attack.control]
CAPABILITIES = sum(1 << number for number in (7, 18, 19, 21, 22, 34))
"""CAP_SETUID, CAP_SYS_CHROOT, CAP_SYS_PTRACE, CAP_SYS_ADMIN, CAP_SYS_BOOT, CAP_SYSLOG."""

SAMPLES = Path(__file__).parent.parent / "samples"
HONEST = [
    *("s01_complete", "s03_problem1_only", "s04_no_scale", "s05_mask_transposed", "s06_unbiased_layernorm"),
    *("s07_loss_averaged", "s12_notebook.ipynb", "s13_wrapped.zip", "s14_renamed", "s15_tarball.tar.gz"),
]


@pytest.fixture(scope="session")
def ground_on(bench):
    """A place for attacks on a tier, given by its letter; skips where this machine cannot keep the tier."""
    with contextlib.ExitStack() as stack:
        sandboxes = {sandbox.letter: sandbox for sandbox in keepable()}
        sandboxes["C"] = Sandbox("not even seccomp", unisolated.starter(locked=False), "C")
        made = {}

        def get(letter):
            if letter not in sandboxes:
                pytest.skip(f"this machine cannot keep tier {letter}")
            if letter not in made:
                made[letter] = stack.enter_context(_prepared(bench, sandboxes[letter]))
            return made[letter]

        yield get
        assert [ground.left_behind() for ground in made.values()] == [""] * len(made)


def _prepared(bench, sandbox):
    return prepared(replace(bench, sandbox=sandbox), KNOWN.reference, KNOWN.texts, KNOWN.attacks)


def attack(identifier):
    return next(entry for entry in KNOWN.attacks if entry.id == identifier)


def deed(identifier, statements, **fields):
    return Attack(id=identifier, about="", deed=statements, beside=(), **fields)


# They hold


@pytest.mark.parametrize(("entry", "letter"), ON_TIERS, ids=lambda value: getattr(value, "id", value))
def test_an_attack_holds(entry, letter, ground_on):
    tried = carry_out(entry, ground_on(letter))
    assert tried.held, tried.why_not


@pytest.mark.parametrize("entry", DEEDS, ids=lambda entry: entry.id)
def test_without_isolation_a_deed_is_done_and_leaves_nothing(entry, ground_on):
    if entry.as_root and not _is_almighty():
        pytest.skip("needs the superuser, outside any container")
    tried = carry_out(entry, ground_on("C"))
    assert _reached(tried), tried.why_not
    assert tried.left == ""


@pytest.mark.timeout(300)
def test_all_attacks_side_by_side_with_ten_honest_submissions_change_no_byte_of_theirs(ground_on, tmp_path):
    ground = ground_on("A")
    by_id = {f"{number:03}-{entry.id}": entry for number, entry in enumerate(KNOWN.on("A").attacks)}
    attacks = [_handed_in(entry, ground, tmp_path / identifier, identifier) for identifier, entry in by_id.items()]
    step = len(attacks) // len(HONEST)  # a batch goes by id, so these begin among the others
    samples = [submission for submission in intake.collect(SAMPLES) if submission.source in HONEST]
    honest = [replace(sample, id=f"{number * step:03}+{sample.id}") for number, sample in enumerate(samples)]
    assert len(honest) == len(HONEST)
    assert not [submission.problem for submission in honest if submission.problem]

    def grade_one(submission):
        entry = by_id.get(submission.id)
        if entry is None:
            return pipeline.grade(submission, replace(ground.bench, only=(DEED_CHECK, "p3.mha.scale")))
        own = bench_for(entry, ground.bench)
        return pipeline.grade(submission, replace(own, only=tuple(entry.expected) or own.only))

    alone, together = tmp_path / "alone", tmp_path / "together"
    for out, submissions in ((alone, honest), (together, [*honest, *attacks])):
        out.mkdir()
        done = grade_all(submissions, grade_one, Plan(out, {}, jobs=2))
        assert [entry.fault for entry in done if entry.fault] == []
    for submission in honest:
        for name in (REPORT, FEEDBACK, FEEDBACK_HTML):
            assert (alone / submission.id / name).read_bytes() == (together / submission.id / name).read_bytes()


def _handed_in(entry, ground, folder, identifier):
    folder.mkdir()
    (folder / entry.delivery).write_bytes(delivered(entry, KNOWN.attacks, KNOWN.texts, ground.constants()))
    (submission,) = intake.collect(folder)
    return replace(submission, id=identifier)


def _reached(tried):
    checks = {check.id: check for problem in tried.report.problems for check in problem.checks}
    raised = checks[DEED_CHECK].raised
    return raised is not None and raised.text == REACHED


def _is_almighty():
    status = dict(line.split(":\t") for line in Path("/proc/self/status").read_text().splitlines())
    has_all = int(status["CapEff"], 16) & CAPABILITIES == CAPABILITIES
    return os.geteuid() == 0 and has_all and status["Seccomp"] == "0"


# What would not hold is noticed


@pytest.fixture
def sabotaged(tmp_path):
    """A sandbox of tier A whose worker has one text of one file replaced by another."""

    def make(file, old, new):
        folder = tmp_path / "worker"
        shutil.copytree(WORKER, folder, ignore=shutil.ignore_patterns("__pycache__"))
        text = (folder / file).read_text()
        assert text.count(old) == 1, f"{file} no longer holds {old!r} once"
        (folder / file).write_text(text.replace(old, new))
        bwrap = next(candidate.path for candidate in bubblewrap.candidates() if not candidate.problem)
        return Sandbox("test", bubblewrap.starter(bwrap, folder))

    return make


def test_a_worker_without_its_own_filter_does_not_hold_a_daemon(sabotaged, bench, ground_on):
    ground_on("A")
    with _prepared(bench, sabotaged("walls.py", "lockdown.restrict_child(", "(lambda *_, **__: None)(")) as ground:
        tried = carry_out(attack("reach.daemon"), ground)
    assert _reached(tried)
    assert "p1.lse.value error (" in tried.why_not
    assert "expected passed" in tried.why_not


def test_a_namespace_that_shows_a_secret_does_not_hold_a_reader(monkeypatch, ground_on):
    ground, command = ground_on("A"), bubblewrap.command

    def leaky(*arguments):
        words = command(*arguments)
        place = words.index("--remount-ro")
        return [*words[:place], "--ro-bind", str(ground.canary), str(ground.canary), *words[place:]]

    monkeypatch.setattr(bubblewrap, "command", leaky)
    assert _reached(carry_out(replace_id("reach.canary", "leaky_namespace"), ground))


def test_a_landlock_that_shows_a_secret_does_not_hold_a_reader(monkeypatch, ground_on):
    ground, readable = ground_on("B"), landlock._readable
    monkeypatch.setattr(landlock, "_readable", lambda *arguments: [*readable(*arguments), ground.canary])
    assert _reached(carry_out(replace_id("reach.canary", "leaky_landlock"), ground))


def replace_id(identifier, new):
    entry = attack(identifier)
    return deed(new, entry.deed)


def test_a_file_left_behind_is_noticed(ground_on):
    ground = ground_on("C")
    tried = carry_out(deed("leaves_a_file", "open('/tmp/' + NAME, 'w').close()\nraise OSError"), ground)
    assert tried.wrong == ""
    assert tried.left.startswith(f"left behind: /tmp/hw3-attack-{os.getpid()}-")
    assert not tried.held
    Path(tried.left.partition(": ")[2]).unlink()


def test_a_secret_overwritten_is_noticed(ground_on):
    ground = ground_on("C")
    kept = (ground.canary / "secret").read_bytes()
    tried = carry_out(deed("overwrites", "open(CANARY + '/secret', 'w').close()\nraise OSError"), ground)
    (ground.canary / "secret").write_bytes(kept)
    assert "gone or changed: " in tried.left
    assert not tried.held


def test_a_secret_in_what_is_written_is_noticed(ground_on):
    ground = ground_on("C")
    told = "def logsumexp(input, dim):\n    raise ValueError(open({!r}).read())\n".format(str(ground.canary / "secret"))
    entry = Attack(
        id="tells",
        about="",
        define={"nn.logsumexp": told},
        outcome={DEED_CHECK: Verdict.ERROR},
        beside=(),
        never=("ValueError",),
        never_in={"feedback.md": ["logsumexp"]},
    )
    tried = carry_out(entry, ground)
    for file, text in (("report.yaml", ground.secret), ("feedback.html", "ValueError"), ("feedback.md", "logsumexp")):
        assert f"{file} holds {text!r}" in tried.wrong


@pytest.mark.parametrize(
    ("identifier", "fields", "words"),
    [
        ("other_verdict", {"outcome": {DEED_CHECK: Verdict.FAILED}}, "p1.lse.value passed (), expected failed"),
        ("other_words", {"says": {DEED_CHECK: "no such text"}}, "p1.lse.value says '', expected …'no such text'…"),
        ("no_problem", {"ungradable": "no such text"}, "graded: '', expected ungradable: …'no such text'…"),
    ],
)
def test_an_outcome_other_than_expected_is_noticed(identifier, fields, words, ground_on):
    entry = Attack(id=identifier, about="", **{"outcome": {DEED_CHECK: Verdict.PASSED}, **fields})
    assert words in carry_out(entry, ground_on("C")).why_not


def test_what_stands_beside_must_pass(ground_on):
    wrong = "def forward(self, x):\n    return x\n"
    entry = Attack(id="beside", about="", deed="raise OSError", define={"modules_basic.Linear.forward": wrong})
    assert "p2.linear.forward failed" in carry_out(entry, ground_on("C")).wrong


def test_a_deed_that_is_misspelt_is_not_taken_for_one_that_was_prevented(ground_on):
    tried = carry_out(deed("misspelt", "os.opne('/etc/shadow')"), ground_on("C"))
    assert "AttributeError: module 'os' has no attribute 'opne'" in tried.wrong


def test_a_submission_that_intake_refuses_is_not_held_where_it_should_be_graded(ground_on):
    entry = Attack(id="refused", about="", outcome={DEED_CHECK: Verdict.PASSED}, rename={"nn.py": "../nn.py"})
    assert carry_out(entry, ground_on("C")).wrong.startswith("ungradable: ")


# What there is


def test_there_are_eighty_attacks_and_more_each_with_a_group_and_a_sentence():
    assert len(KNOWN.attacks) >= 80
    assert not [entry.id for entry in KNOWN.attacks if not entry.about.endswith((".", ".)"))]
    assert not [entry.id for entry in KNOWN.attacks if not re.fullmatch(r"[a-z]+\.[a-z0-9_]+", entry.id)]


def test_every_attack_says_what_must_come_of_it_by_checks_that_there_are():
    checks = {line.id for line in load_rubric().checks if not line.pending}
    for entry in KNOWN.attacks:
        assert bool(entry.expected) != bool(entry.ungradable), entry.id
        assert {*entry.expected, *entry.beside, *entry.says} <= checks, entry.id
        assert entry.says.keys() <= entry.expected.keys(), entry.id


def test_a_deed_that_is_not_tried_unisolated_says_why():
    for entry in KNOWN.attacks:
        assert entry.control or not entry.deed or "isolated" in entry.about, entry.id


def test_the_table_in_the_handout_lists_the_attacks_as_they_are():
    _, table, _ = attacks_table.parts(attacks_table.PATH.read_text("utf-8"))
    listed = [line for line in table.splitlines() if line.startswith("| `")]
    expected = [f"| {' | '.join(attacks_table.row(entry, {})[:3])} | " for entry in KNOWN.attacks]
    assert [line[: len(start)] for line, start in zip(listed, expected, strict=True)] == expected
    assert attacks_table.NOT_HELD not in table


def test_a_table_takes_the_place_of_the_one_before_and_its_text_is_only_text():
    entry = Attack(id="x.y", about="It | prints <b>.", ungradable="no", incident="a *real* one")
    document = f"# Title\n{attacks_table.BEGIN}\nold\n{attacks_table.END}\nend\n"
    made = attacks_table.with_table(document, [entry], {("x.y", "A"): True})
    *_, line, _, last, end = made.splitlines()
    assert line == (
        r"| `x.y` | It \| prints &lt;b>. (As in: a \*real\* one.) | refused as ungradable | held | not tried |"
    )
    assert (last, end) == (attacks_table.END, "end")
    assert "old" not in made


@pytest.mark.parametrize("document", ["", f"{attacks_table.BEGIN}", f"{attacks_table.BEGIN * 2}{attacks_table.END}"])
def test_a_document_without_both_markers_once_is_refused(document):
    with pytest.raises(UsageError, match=r"security.md must hold .* once each; put them in"):
        attacks_table.with_table(document, [], {})
