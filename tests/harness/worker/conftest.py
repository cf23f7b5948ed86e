"""Runs cases on made-up submissions where real ones run: in a sandbox."""

from collections.abc import Callable

import pytest

from grader.case import Answer, Case, Fault, Limits
from grader.sandbox import Sandbox, probe
from grader.student import Student


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    return probe("auto")


@pytest.fixture(scope="session")
def run_all(sandbox) -> Callable[..., tuple[Answer, ...]]:
    """The answers of a submission, given as file name -> source, to cases that are run one after the other."""

    def run(files: dict[str, str], *cases: Case) -> tuple[Answer, ...]:
        with sandbox.open({f"{name}.py": source.encode() for name, source in files.items()}) as session:
            answers = Student(session).run(cases, Limits())
        assert not isinstance(answers, Fault), answers
        return answers

    return run
