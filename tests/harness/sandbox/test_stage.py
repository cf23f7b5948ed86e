"""What of a submission is laid out, and that the framework in it is always the given one."""

import numpy as np
import pytest

from grader.case import Call, Case, Input, Status
from grader.sandbox.stage import Stage


def _names(files: dict[str, bytes]) -> set[str]:
    with Stage(files) as stage:
        return {str(path.relative_to(stage.package)) for path in stage.package.rglob("*")}


def test_the_modules_of_a_submission_and_an_empty_init_are_laid_out():
    assert _names({"nn.py": b"", "parts/heads.py": b""}) == {
        "__init__.py",
        "framework",
        "nn.py",
        "parts",
        "parts/heads.py",
        "training",
    }


@pytest.mark.parametrize(
    "name",
    ["../nn.py", "/nn.py", "a/../../b.py", "nn.so", "nn.pyc", "sitecustomize.pth", "a b.py", "x\n.py",
     "framework.py", "framework/tensor.py", "framework/__init__.py", "training.py", "training/steps.py", "",
     "a//b.py", ".py", "1.py", "a/b/c/d/e/f.py"],
)  # fmt: skip
def test_what_is_no_module_or_stands_in_the_place_of_what_is_given_is_left_out(name):
    assert _names({name: b"x"}) == {"__init__.py", "framework", "training"}


def test_an_init_of_the_submissions_own_is_kept():
    with Stage({"__init__.py": b"x = 1"}) as stage:
        assert (stage.package / "__init__.py").read_bytes() == b"x = 1"


def test_the_folder_is_gone_afterwards():
    with Stage({}) as stage:
        root = stage.root
    assert not root.exists()


def test_a_submissions_own_framework_is_never_loaded(answer_of):
    fake = "class Tensor: pass\n"
    files = {"nn": "from assignment.framework import Tensor\ndef f(x):\n    return x * (2 if Tensor.backward else 0)\n"}
    answer = answer_of(
        Case("nn.f", (Call({"x": Input(np.ones(2))}),)), **files, **{"framework": fake, "framework/__init__": fake}
    )
    assert answer.calls[0].status is Status.OK
    assert answer.arrays["0.out"].tolist() == [2.0, 2.0]
