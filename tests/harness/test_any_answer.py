"""Whatever arrays a submission answers with, each check comes to a verdict, and to a pass only where they are right.

The answers are those of the reference with arrays of other shapes, kinds and numbers in their places, calls that are
said to have failed, parameters that are said to be absent: all that the protocol lets through.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np
import pytest

from grader import checks, rubric
from grader.case import Answer, Array, CallOutcome, Case, Fault, FaultKind, Limits, Mode, Status, Trouble
from grader.checks import Trial
from grader.diagnose import USED_BY, describe, diagnose
from grader.evidence import gather
from grader.fingerprint import ROOT
from grader.judge import judge
from grader.own_gradient import follows_own_forward
from grader.protocol import decode_reply
from grader.rebind import explain_by_repair
from grader.student import Student
from grader.submission import CANONICAL
from grader.worker import case as mirror
from grader.worker import frames

SEED, NONCE, LIMITS = 7, "0123456789abcdef", Limits()
LINES = {line.id: line for line in rubric.load().checks if not line.pending}
EXAMPLES = {"p1": 20, "p2": 20, "p3": 6, "p3.layer": 3, "p3.lm": 2, "p4": 12}
"""By the beginning of a check's id. A failed check is laid beside every wrong twin, and those of a layer are slow."""
QUICK = ("p1", "p2", "p3.ffn", "p4")
"""Checks whose wrong twins are laid beside in pairs, too."""


def draw() -> checks.Draw:
    return checks.Draw(np.random.default_rng(SEED))


TRIALS = {check: checks.trials(check, draw()) for check in LINES}
# Of those that train, which take seconds each, only the properties are asked, further down.
CHECKS = [check for check, trials in TRIALS.items() if not trials[0].case.target.startswith("training.")]


@pytest.fixture(scope="module")
def reference(bench) -> dict[str, tuple[Answer, ...]]:
    """What the reference answers."""
    files = {name: (ROOT / "solution" / name).read_bytes() for name in CANONICAL}
    with bench.sandbox.open(files) as session:
        student = Student(session)
        return {check: student.run([trial.case for trial in TRIALS[check]], LIMITS) for check in CHECKS}


OTHER_ARRAYS = (
    lambda *_: np.zeros(0),
    lambda a, _: np.zeros((0, *a.shape)),
    lambda a, _: a.reshape(-1)[:1].reshape(()),
    lambda a, _: a[None],
    lambda a, _: a[..., None],
    lambda a, _: a.T,
    lambda a, _: a.reshape(-1)[1:],
    lambda *_: np.ones((1,) * 16),
    lambda _, chance: chance.standard_normal(chance.integers(0, 4, chance.integers(0, 6))),
    lambda a, _: np.full(a.shape, np.nan),
    lambda a, _: np.full(a.shape, -np.inf),
    lambda a, chance: np.where(np.arange(a.size).reshape(a.shape) == chance.integers(a.size + 1), np.nan, a),
    lambda a, _: np.full(a.shape, 1.7e308),
    lambda a, _: np.full(a.shape, 0.3e308),
    lambda a, _: np.copysign(1.7e308, a),
    lambda a, _: np.full(a.shape, 5e-324),
    lambda a, _: np.full(a.shape, -(2**63), dtype=np.int64),
    lambda a, _: np.zeros(a.shape),
    lambda a, _: np.ones(a.shape, dtype=np.int32),
    lambda a, _: a != 0,
    lambda a, _: np.trunc(np.nan_to_num(a)).astype(np.int64),
    lambda a, _: a.astype(np.float32),
    lambda a, _: -a,
    lambda a, _: 2 * a,
    lambda a, chance: a + 0.01 * chance.standard_normal(a.shape),
)


def other(array: Array, chance: np.random.Generator) -> Array:
    return frames.sendable(OTHER_ARRAYS[chance.integers(len(OTHER_ARRAYS))](np.asarray(array, dtype=float), chance))


def some(arrays: Mapping[str, Array], chance: np.random.Generator, share: float) -> dict[str, Array]:
    return {name: other(array, chance) if chance.random() < share else array for name, array in arrays.items()}


def changed(answer: Answer, case: Case, chance: np.random.Generator) -> Answer:
    """An answer that the protocol would let through."""
    answer = CHANGES[chance.integers(len(CHANGES))](answer, case, chance)
    missing = [f"{n}.out" for n, call in enumerate(answer.calls) if call.status is Status.OK]
    return replace(answer, arrays={**dict.fromkeys(missing, np.zeros(1)), **answer.arrays})


def other_arrays(answer: Answer, _: Case, chance: np.random.Generator) -> Answer:
    return replace(answer, arrays=some(answer.arrays, chance, chance.choice([0.2, 0.6, 1.0])))


def fewer_arrays(answer: Answer, _: Case, chance: np.random.Generator) -> Answer:
    return replace(answer, arrays={name: array for name, array in answer.arrays.items() if chance.random() < 0.5})


def failed_calls(answer: Answer, _: Case, chance: np.random.Generator) -> Answer:
    statuses = chance.choice([Status.OK, *Status], len(answer.calls))
    calls = tuple(CallOutcome(status, Trouble("ValueError", "no", "nn.py", 3, "x")) for status in statuses)
    return replace(answer, calls=calls, arrays=some(answer.arrays, chance, 0.3))


def not_built(_: Answer, case: Case, chance: np.random.Generator) -> Answer:
    return Answer(chance.choice([Status.MISSING, Status.RAISED, Status.MEMORY]), arrays=some(own(case), chance, 0.5))


def absent_parameters(answer: Answer, case: Case, chance: np.random.Generator) -> Answer:
    names = tuple(name for name in case.parameters or {} if chance.random() < 0.3)
    arrays = {**answer.arrays, **some(own(case), chance, 0.5)}
    return replace(answer, absent=names, surplus=("x", *names), arrays=arrays)


def other_widths(answer: Answer, case: Case, chance: np.random.Generator) -> Answer:
    names = tuple(name for name in case.parameters or {} if chance.random() < 0.7)
    width = ((), (0,), (1,), (3, 5))[chance.integers(4)]
    wide = {name: widened(name, array, width) for name, array in {**own(case), **answer.arrays}.items()}
    return replace(answer, reshaped=names, arrays=wide)


def other_masks(answer: Answer, case: Case, chance: np.random.Generator) -> Answer:
    arrays = dict(answer.arrays)
    for number, call in enumerate(case.calls):
        for path in chance.choice(["dropout", "ff.dropout", "attention.dropout", "t_layer_1.ff.dropout"], 2):
            arrays[f"{number}.mask.{path}.{chance.integers(2)}"] = other(np.ones((2, 5, 8)), chance)
        arrays |= {f"{number}.changed.{name}": np.zeros(1) for name in call.inputs if chance.random() < 0.2}
    arrays = {name: array for name, array in arrays.items() if ".mask." not in name or case.masks}
    return replace(answer, arrays=some(arrays, chance, 0.3))


CHANGES = (
    *(other_arrays, other_arrays, other_arrays, fewer_arrays, failed_calls),
    *(not_built, absent_parameters, other_widths, other_masks),
)


def own(case: Case) -> dict[str, Array]:
    return {f"param.{name}": np.asarray(value) for name, value in (case.parameters or {}).items()}


def widened(name: str, array: Array, width: tuple[int, ...]) -> Array:
    """The parameters of a feed-forward network that fit each other, whatever its width."""
    for ending, shape in (
        ("linear_in.weights", (*array.shape[:1], *width)),
        ("linear_in.bias", width),
        ("linear_out.weights", (*width, *array.shape[-1:])),
    ):
        if name.startswith("param.") and name.endswith(ending):
            return np.ones(shape)
    return array


def through_the_protocol(answers: Sequence[Answer], cases: Sequence[Case]) -> tuple[Answer, ...]:
    sent = [
        mirror.Answer(
            outcome=mirror.Outcome(answer.status.value, mirror.Trouble(**vars(answer.trouble))),
            calls=[mirror.Outcome(call.status.value, mirror.Trouble(**vars(call.trouble))) for call in answer.calls],
            arrays={name: frames.sendable(array) for name, array in answer.arrays.items()},
            absent=list(answer.absent),
            surplus=list(answer.surplus),
            reshaped=list(answer.reshaped),
        )
        for answer in answers
    ]
    return decode_reply(frames.encode_reply(NONCE, sent), NONCE, cases)


class AnsweringAnything:
    """A submission that, whatever it is asked, answers with arrays of any shape, or not at all."""

    def __init__(self, chance: np.random.Generator) -> None:
        self.chance = chance

    def student(self, _: Sequence[str]) -> AnsweringAnything:
        """The same with some of its modules replaced."""
        return self

    def run(self, cases: Sequence[Case], _: Limits) -> tuple[Answer, ...] | Fault:
        if self.chance.random() < 0.1:
            return Fault(FaultKind.DIED, "the program was killed by SIGSEGV")
        return through_the_protocol([self._answer(case) for case in cases], cases)

    def _answer(self, case: Case) -> Answer:
        arrays: dict[str, Array] = {}
        for number, call in enumerate(case.calls):
            inputs = {name: np.asarray(given.value) for name, given in call.inputs.items() if given.value is not None}
            inputs = {name: array for name, array in inputs.items() if array.dtype.kind in "fi"}
            out = call.cotangent if call.cotangent is not None else next(iter(inputs.values()))
            arrays[f"{number}.out"] = other(out, self.chance)
            values = inputs | {f"param.{name}": value for name, value in (case.parameters or {}).items()}
            arrays |= {f"{number}.grad.{name}": other(value, self.chance) for name, value in values.items()}
        return Answer(Status.OK, tuple(CallOutcome(Status.OK) for _ in case.calls), arrays)


def examples(check: str) -> int:
    return EXAMPLES[max((beginning for beginning in EXAMPLES if check.startswith(beginning)), key=len)]


@pytest.mark.parametrize("check", CHECKS)
def test_any_arrays_end_in_a_verdict_and_in_a_pass_only_if_they_are_right(bench, reference, check):
    trials, right = TRIALS[check], reference[check]
    for number in range(examples(check)):
        chance = np.random.default_rng([number, *check.encode()])
        with np.errstate(all="ignore"):  # as in the pipeline
            pairs = zip(trials, right, strict=True)
            answers = [changed(a, t.case, chance) if chance.random() < 0.7 else a for t, a in pairs]
            answers = through_the_protocol(answers, [trial.case for trial in trials])
            if is_passed(bench, check, answers, chance, pairs=number == 0 and check.startswith(QUICK)):
                for trial, answer, wanted in zip(trials, answers, right, strict=True):
                    assert differing(trial, answer, wanted) == [], number


@pytest.mark.parametrize("check", CHECKS)
def test_the_references_own_answers_pass(bench, reference, check):
    assert is_passed(bench, check, reference[check], np.random.default_rng(0), pairs=False)


def test_at_p_0_outputs_in_training_are_compared_wherever_dropout_is_applied(bench, reference):
    check = "p3.mha.dropout"
    (number,) = (n for n, trial in enumerate(TRIALS[check]) if trial.case.arguments["p_dropout"] == 0)
    answers = list(reference[check])
    unmasked = {name: array for name, array in answers[number].arrays.items() if ".mask." not in name}
    for error, passes in ((0.0, True), (0.001, False)):
        answers[number] = replace(answers[number], arrays={**unmasked, "0.out": unmasked["0.out"] + error})
        assert is_passed(bench, check, answers, np.random.default_rng(0), pairs=False) == passes


def test_parameters_of_another_width_of_which_only_some_are_said_to_be_are_wrong(bench, reference):
    trial, answer = TRIALS["p3.layer"][0], reference["p3.layer"][0]
    wide = {name: widened(name, array, (16,)) for name, array in own(trial.case).items()}
    claimed = replace(answer, arrays={**answer.arrays, **wide}, reshaped=("ff.linear_in.weights",))
    (exhibit,) = gather([trial], [claimed], bench.rubric.single, bench.rubric.single)
    assert judge([exhibit]).error.what == "param.ff.linear_in.bias"


@pytest.mark.parametrize("check", checks.identifiers())
def test_no_arrays_make_a_property_raise(check):
    chance = np.random.default_rng([*check.encode()])
    for trial in checks.trials(check, draw()):
        given = [np.asarray(i.value) for call in trial.case.calls for i in call.inputs.values()]
        pool = [(), (3,), (2, 3, 4), *(a.shape for a in given), *((*a.shape, n) for a in given for n in (2, 8))]
        for _ in range(20 if trial.properties else 0):
            shapes = [pool[chance.integers(len(pool))]] * len(trial.case.calls)
            outs = {f"{n}.out": other(np.ones(shape), chance) for n, shape in enumerate(shapes)}
            if chance.random() < 0.5:  # calls that agree with each other
                outs = dict.fromkeys(outs, outs["0.out"])
            held = checks.shapes.of(trial.case.target, trial.case.arguments).items()
            arrays = outs | {f"param.{name}": other_numbers(np.ones(shape), chance) for name, shape in held}
            answer = Answer(Status.OK, tuple(CallOutcome(Status.OK) for _ in shapes), arrays)
            with np.errstate(all="ignore"):
                broken = [holds(trial.case, answer) for holds in trial.properties]
            assert all(found is None or found.text.isprintable() for found in broken)


def other_numbers(array: Array, chance: np.random.Generator) -> Array:
    """An array of the same shape: the parameters' are looked at before any property."""
    found = other(array, chance)
    return found if found.shape == array.shape else np.zeros(array.shape)


def is_passed(bench, check: str, answers: Sequence[Answer], chance: np.random.Generator, *, pairs: bool) -> bool:
    """What the pipeline does with the answers to a check."""
    line, lines, student = LINES[check], bench.rubric, AnsweringAnything(chance)
    exhibits = gather(TRIALS[check], answers, lines.tolerance(line), lines.single)
    finding = judge(exhibits)
    if finding is None:
        return True
    assert finding.message
    broken = dict.fromkeys(USED_BY.get(TRIALS[check][0].case.target, ())[1:], check)
    describe(explain_by_repair(exhibits, broken, (), student, LIMITS, (lines.tolerance(line), lines.single)))
    describe(diagnose(exhibits, finding, pairs=pairs))
    return follows_own_forward(exhibits, draw(), student, LIMITS)


def differing(trial: Trial, answer: Answer, right: Answer) -> list[str]:
    """The arrays that a check looks at and that are not as the reference's are.

    What is dropped in training is random: a Dropout's output is right if it is a right one, and what is built on it is
    compared with a twin that has the same masks.
    """
    case, names = trial.case, [name for name in right.arrays if name.startswith("param.")]
    wrong = [
        name for name in names if case.parameters is None and not is_close(answer.arrays.get(name), right.arrays[name])
    ]
    p = case.arguments.get("p_dropout", 0.0)
    for name in right.arrays:
        call = case.calls[int(name.partition(".")[0])] if name[0].isdigit() else None
        if call is None or not any(fnmatchcase(name, pattern) for pattern in trial.compare or ("*.out",)):
            continue
        wanted = right.arrays[name]
        if p and call.mode is Mode.TRAIN:
            if case.target != "modules_basic.Dropout":
                continue
            wanted = np.where(answer.arrays[name] == 0, 0.0, call.inputs["x"].value / (1 - p))
        if not is_close(answer.arrays.get(name), wanted):
            wrong.append(name)
    return wrong


def is_close(array: Array | None, right: Array) -> bool:
    if array is None or array.shape != right.shape:
        return False
    return bool((np.abs(array.astype(float) - right) <= 1e-4 * np.abs(right).max(initial=1.0)).all())
