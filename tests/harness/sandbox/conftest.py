"""Each sandbox that this machine can keep, and a short way to run functions of a made-up submission in it."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from grader.case import Answer, Call, CallOutcome, Case, Fault, Input, Limits, Role
from grader.errors import RefusedToStartError
from grader.sandbox import Sandbox, Session, probe
from grader.student import Student

LIMITS = Limits(wall_s=20.0, cpu_s=10)


@pytest.fixture(scope="session", params=["bwrap", "landlock"])
def sandbox(request) -> Sandbox:
    try:
        return probe(request.param)
    except RefusedToStartError as error:
        pytest.skip(str(error))


@pytest.fixture
def open_session(sandbox: Sandbox) -> Iterator[Callable[[str], Session]]:
    """Opens a session with a submission whose nn.py is given; all are closed after the test."""
    opened: list[Session] = []

    def open_one(source: str, **others: str) -> Session:
        files = {f"{name}.py": text.encode() for name, text in {"nn": source, **others}.items()}
        opened.append(sandbox.open(files))
        return opened[-1]

    yield open_one
    for session in opened:
        session.close()


@pytest.fixture
def call() -> Callable[..., CallOutcome | Fault]:
    """Calls a function of nn.py without arguments in a session; its outcome, or the request's fault."""

    def call_one(session: Session, name: str = "f", limits: Limits = LIMITS) -> CallOutcome | Fault:
        case = Case(f"nn.{name}", (Call({}),))
        answers = Student(session).run([case], limits)
        if isinstance(answers, Fault):
            return answers
        (answer,) = answers
        return answer.calls[0] if answer.calls else CallOutcome(answer.status, answer.trouble)

    return call_one


@pytest.fixture
def answer_of(sandbox: Sandbox) -> Callable[..., Answer]:
    """The answer of a whole submission, given as keyword arguments, to one case."""

    def run_one(case: Case, **files: str) -> Answer:
        with sandbox.open({f"{name}.py": text.encode() for name, text in files.items()}) as session:
            answers = Student(session).run([case], LIMITS)
        assert not isinstance(answers, Fault), answers
        return answers[0]

    return run_one


def plain(value: object) -> Input:
    return Input(value, Role.PLAIN)


ONE = np.ones(1)
