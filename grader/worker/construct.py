"""From a case's target to an object that can be called: built, and its parameters set."""

from __future__ import annotations

import inspect
import random
from typing import Any

import numpy as np

from .case import Answer, Array, Case, Framework
from .frames import sendable
from .text import is_dotted
from .troubles import MissingError


def make_backend(case: Case, framework: Framework) -> Any:
    """The case's backend. Seeds every global source of random numbers, too."""
    random.seed(case.seed)
    np.random.seed(case.seed % 2**32)  # noqa: NPY002 - submissions that draw from the global one are reproducible too
    framework.default_backend().generator = np.random.default_rng(case.seed)
    if case.device != "cpu":
        return framework.backend_for(case.device, case.dtype, case.seed)
    return framework.TensorBackend(dtype=case.dtype, seed=case.seed)


def build(target: object, case: Case, backend: object) -> Any:
    """An object of a class, built with the case's keyword arguments and `backend`; a function as it is.

    Raises:
        MissingError: the constructor does not take one of the arguments.
        BaseException: whatever the constructor raised.
    """
    if not isinstance(target, type):
        return target
    given: dict[str, Any] = {**case.arguments, "backend": backend}
    try:
        accepted = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        return target(**given)
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in accepted):
        names = {parameter.name for parameter in accepted}
        for name in case.arguments:
            if name not in names:
                raise MissingError(f"{target.__name__}.__init__ takes no argument {name}")
        given = {name: value for name, value in given.items() if name in names}
    return target(**given)


def parameters_of(module: Any) -> dict[str, Any]:
    """Dotted name -> Parameter, for what is a module; of a parameter under two names, each."""
    named = getattr(module, "named_parameters", None)
    return {name: parameter for name, parameter in named() if is_dotted(name)} if callable(named) else {}


def load(module: Any, given: dict[str, Array], framework: Framework, backend: object, answer: Answer) -> None:
    """Sets the given parameters, and notes in `answer` which do not fit."""
    own = parameters_of(module)
    answer.absent += [name for name in given if name not in own]
    answer.surplus += [name for name in own if name not in given]
    for name, parameter in own.items():
        if name not in given:
            continue
        if tuple(parameter.value.shape) != given[name].shape:
            answer.reshaped.append(name)
        else:
            parameter.update(framework.tensor_from_numpy(given[name], backend=backend, requires_grad=True))


def report(module: Any, case: Case, answer: Answer) -> None:
    """Puts into `answer` the parameters whose values are the student's own."""
    for name, parameter in parameters_of(module).items():
        if case.parameters is None or name in answer.surplus or name in answer.reshaped:
            answer.arrays[f"param.{name}"] = sendable(parameter.value.to_numpy())
