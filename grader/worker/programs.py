"""Interprets one case on the student's package, from its target's name to the arrays of its answer."""

from __future__ import annotations

import functools
from typing import Any

from . import construct, loader
from .calls import Caller
from .case import Answer, Case, Framework
from .rebind import rebind
from .troubles import Guard


def run(case: Case, framework: Framework, guard: Guard) -> Answer:
    """The answer to a case. Whatever the student's code does short of ending the process is in it."""
    answer = Answer()

    def prepare() -> tuple[Any, Any]:
        construct.make_backend(case, framework)  # once more below: loading a file may draw random numbers, or seed
        target = loader.find(case.target)
        if case.rebind:
            rebind(case.rebind)
            target = loader.find(case.target)
        backend = construct.make_backend(case, framework)
        subject = construct.build(target, case, backend)
        if case.parameters is not None:
            construct.load(subject, case.parameters, framework, backend, answer)
        construct.report(subject, case, answer)
        return subject, backend

    prepared, answer.outcome = guard.run(prepare)
    if prepared is None:
        return answer
    caller = Caller(case, prepared[0], framework, prepared[1], answer)
    for index, call in enumerate(case.calls):
        _, outcome = guard.run(functools.partial(caller.make, index, call))
        answer.calls.append(outcome)
    return answer
