"""What replaces a broken module: the reference of it and of nothing else, wherever the submission uses its name."""

import ast

import numpy as np
import pytest

from grader import pipeline, preflight
from grader.case import Budget, Call, Case, Input, Limits, Status
from grader.diagnose import TARGETS
from grader.fingerprint import ROOT
from grader.rebind import REBOUND, Repaired, Unnamed, excerpt
from grader.stubs import release_stubs
from grader.student import Spending, Student
from grader.submission import Submission

REFERENCE = preflight.submission_of(ROOT / "solution", preflight.REFERENCE).files


def defined(source: bytes) -> set[str]:
    return {node.name for node in ast.parse(source).body if isinstance(node, ast.ClassDef | ast.FunctionDef)}


@pytest.mark.parametrize("target", TARGETS.values())
def test_an_excerpt_defines_its_target_and_no_other_that_students_write(target):
    name = target.partition(".")[2]
    students = {other.partition(".")[2] for other in TARGETS.values()}
    assert defined(excerpt(REFERENCE, [target])) & students == {name}


def test_an_excerpt_takes_the_other_targets_from_the_submission():
    text = excerpt(REFERENCE, ["transformer.TransformerLayer"]).decode()
    assert "from .transformer import FeedForward\nfrom .transformer import MultiHeadAttention\n" in text
    assert "DecoderLM" not in text


def test_an_excerpt_of_several_files_has_them_all():
    both = excerpt(REFERENCE, ["modules_basic.Linear", "transformer.MultiHeadAttention"])
    assert {"Linear", "MultiHeadAttention"} <= defined(both)
    compile(both, REBOUND, "exec")


SUBMISSION = {
    "modules_basic.py": b"class Linear:\n    kind = 'broken'\n",
    "helpers.py": b"from .modules_basic import Linear as Map\ndef kind(): return Map.kind\n",
    "nn.py": b"""
import numpy as np
from . import helpers, modules_basic
from .modules_basic import Linear
def f():
    return np.array([Linear.kind == "right", helpers.kind() == "right", modules_basic.Linear.kind == "right"]) * 1.0
""",
}
RIGHT = {"modules_basic.py": b"class Linear:\n    kind = 'right'\n"}


def answer(sandbox, rebind):
    with Repaired(sandbox, SUBMISSION, RIGHT, Spending(Budget())) as repaired:
        (found,) = repaired.student(["linear"]).run([Case("nn.f", (Call({}),), rebind=rebind)], Limits())
    assert found.calls[0].status is Status.OK, found
    return found.arrays["0.out"].tolist()


def test_the_name_is_bound_anew_in_every_module_that_holds_it_and_only_where_that_is_asked(bench):
    assert answer(bench.sandbox, ("modules_basic.Linear",)) == [1, 1, 1]
    assert answer(bench.sandbox, ()) == [0, 0, 0]


def test_what_does_not_load_with_the_others_module_gives_no_answer(bench):
    files = {"nn.py": b"def f(): return 1\n"}  # no modules_basic at all
    with Repaired(bench.sandbox, files, RIGHT, Spending(Budget())) as repaired:
        (found,) = repaired.student(["linear"]).run(
            [Case("nn.f", (Call({}),), rebind=("modules_basic.Linear",))], Limits()
        )
    assert found.status is Status.MISSING


def test_a_submission_that_brings_a_file_of_that_name_is_graded_without_it_being_bound(bench):
    files = {"nn.py": b"import numpy\ndef f(x): return x\n", REBOUND: b"def f(x): return x * 2\n"}
    with bench.sandbox.open(files) as session:
        (found,) = Student(session).run([Case("nn.f", (Call({"x": Input(np.ones(1))}),))], Limits())
    assert found.arrays["0.out"].tolist() == [1.0]


def test_a_fault_without_a_name_is_called_by_what_it_is_in():
    assert Unnamed("attention", "p3.mha.heads").name == "what is wrong in MultiHeadAttention"


def test_nothing_that_students_write_is_in_an_excerpt_beside_its_target():
    assert "Dropout" not in defined(excerpt(REFERENCE, ["modules_basic.Linear"]))


def test_an_import_does_not_undo_a_definition():
    text = excerpt(REFERENCE, ["nn.softmax_loss", "translation.loss_fn"]).decode()
    assert text.index("import softmax_loss") < text.index("def softmax_loss")


def test_where_every_part_is_wrong_nothing_is_learned_for_the_submission(bench):
    wrong = dict(release_stubs())
    wrong["nn.py"] += b"\ndef logsumexp(input, dim): return input\ndef softmax_loss(logits, target): return logits\n"
    nothing = (
        "\nclass Nothing(Module):\n    def __init__(self, *a, **k): super().__init__()\n"
        "    def forward(self, x, *a): return x\n"
    )
    wrong["modules_basic.py"] += f"{nothing}\nLinear = Embedding = Dropout = LayerNorm1d = Nothing\n".encode()
    parts = "\nMultiHeadAttention = FeedForward = TransformerLayer = DecoderLM = Nothing\n"
    wrong["transformer.py"] += f"{nothing}{parts}".encode()
    report = pipeline.grade(Submission("s", ("s",), "s", "plain", "", wrong), bench).report
    assert report.score == 0
