"""How a submission's modules find each other, and that they find nothing else."""

import pytest

from grader.case import Call, Case, Limits, Status
from grader.student import Student

CASE = Case("nn.f", (Call({}),))
HEAD = "import numpy\ndef f():\n    return numpy.ones(1)\n"


@pytest.fixture
def outcome(run_all):
    """The outcome of `nn.f()` in a submission of several files."""

    def outcome_of(**files: str):
        (answer,) = run_all(files, CASE)
        return answer.calls[0] if answer.calls else answer

    return outcome_of


@pytest.mark.parametrize(
    "line",
    [
        "from .helpers import VALUE",
        "from assignment.helpers import VALUE",
        "from helpers import VALUE",
        "import helpers; VALUE = helpers.VALUE",
        "import assignment.helpers as h; VALUE = h.VALUE",
        "from .parts.deep import VALUE",
        "from parts.deep import VALUE",
    ],
)
def test_a_helper_is_found_by_any_usual_name(outcome, line):
    files = {"nn": f"{line}\nassert VALUE == 7\n{HEAD}", "helpers": "VALUE = 7\n", "parts/deep": "VALUE = 7\n"}
    assert outcome(**files, **{"parts/__init__": ""}).status is Status.OK


def test_a_bare_name_is_the_very_module_of_the_package(outcome):
    check = (
        "import nn, helpers\nfrom . import helpers as second\nimport assignment.helpers as third\nimport sys\n"
        "assert helpers is second is third is sys.modules['helpers']\n"
        "assert helpers.__name__ == helpers.__spec__.name == 'assignment.helpers'\n"
        "assert helpers.count == [1]\n"
    )
    assert outcome(nn=check + HEAD, helpers="count = []\ncount.append(1)\n").status is Status.OK


def test_files_that_import_each_other_by_bare_names_load(outcome):
    files = {
        "nn": f"import transformer\n{HEAD}",
        "transformer": "import nn\nfrom . import nn as same\nassert nn is same\n",
    }
    assert outcome(**files).status is Status.OK


@pytest.mark.parametrize(
    "name", ["json", "numpy", "typing", "sitecustomize", "usercustomize", "conftest", "worker", "random"]
)
def test_a_file_named_like_a_known_module_is_never_run_as_that_module(outcome, name):
    files = {
        name: "raise SystemExit('a file of the submission ran by accident')\n",
        "nn": f"import json, random\n{HEAD}",
    }
    assert outcome(**files).status is Status.OK


def test_a_file_named_like_a_known_module_is_still_found_in_the_package(outcome):
    assert (
        outcome(json="VALUE = 7\n", nn=f"from .json import VALUE\nimport json\njson.dumps(VALUE)\n{HEAD}").status
        is Status.OK
    )


def test_the_packages_own_init_runs_first(outcome):
    files = {"__init__": "from .helpers import VALUE\n", "helpers": "VALUE = 7\n", "nn": f"from . import VALUE\n{HEAD}"}
    assert outcome(**files).status is Status.OK


def test_an_init_that_raises_is_reported_for_every_case_with_its_place(run_all):
    answers = run_all({"__init__": "\n1 / 0\n", "nn": HEAD}, CASE, CASE)
    for answer in answers:
        assert (answer.status, answer.trouble.kind, answer.trouble.file, answer.trouble.line) == (
            Status.RAISED,
            "ZeroDivisionError",
            "__init__.py",
            2,
        )


def test_a_syntax_error_names_file_and_line(run_all):
    (answer,) = run_all({"nn": "import transformer", "transformer": "x = 1\ndef f(:\n    pass\n"}, CASE)
    trouble = answer.trouble
    assert (answer.status, trouble.kind, trouble.file, trouble.line) == (
        Status.RAISED,
        "SyntaxError",
        "transformer.py",
        2,
    )
    assert trouble.source == "def f(:"


def test_a_missing_import_is_the_students_error(run_all):
    (answer,) = run_all({"nn": "from assignment.framework import Tenser\n"}, CASE)
    assert (answer.status, answer.trouble.kind, answer.trouble.line) == (Status.RAISED, "ImportError", 1)


@pytest.mark.parametrize(
    ("target", "text"),
    [("nn.absent", "nn.py defines no absent"), ("nowhere.f", "there is no file nowhere.py")],
)
def test_a_target_that_does_not_exist_is_missing(run_all, target, text):
    (answer,) = run_all({"nn": HEAD}, Case(target, (Call({}),)))
    assert (answer.status, answer.trouble.text) == (Status.MISSING, text)


def test_a_file_in_another_encoding_loads_by_its_coding_line(sandbox):
    source = "# -*- coding: latin-1 -*-\nNAME = 'Müller'\nassert len(NAME) == 6\n" + HEAD
    with sandbox.open({"nn.py": source.encode("latin-1")}) as session:
        (answer,) = Student(session).run([CASE], Limits())
    assert answer.calls[0].status is Status.OK
