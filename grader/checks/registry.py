"""The register of checks: a check is one decorated function, and its docstring's first line is what a student reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from grader.checks.draw import Draw
from grader.checks.trial import Trial

CheckFunction = Callable[[Draw], Iterator[Trial]]

_CHECKS: dict[str, CheckFunction] = {}
_TRAINING: set[str] = set()


def check(identifier: str, *, trains: bool = False) -> Callable[[CheckFunction], CheckFunction]:
    """Register a check under the id of its line in `rubric.yaml`.

    Args:
        identifier: the id.
        trains: it trains a model, which takes seconds.

    Raises:
        ValueError: the id is taken, or the function has no docstring.
    """

    def register(function: CheckFunction) -> CheckFunction:
        if identifier in _CHECKS:
            raise ValueError(f"check {identifier!r} is registered twice; ids are unique, rename one")
        if not (function.__doc__ or "").strip():
            raise ValueError(f"check {identifier!r} has no docstring; its first line is the title a student reads")
        _CHECKS[identifier] = function
        if trains:
            _TRAINING.add(identifier)
        return function

    return register


def identifiers() -> tuple[str, ...]:
    """The ids of all checks, in the order in which they are defined."""
    return tuple(_CHECKS)


def trains(identifier: str) -> bool:
    """Whether the check trains a model."""
    return identifier in _TRAINING


def title(identifier: str) -> str:
    """The first line of the check's docstring, without its full stop."""
    return (_CHECKS[identifier].__doc__ or "").strip().splitlines()[0].rstrip(".")


def trials(identifier: str, draw: Draw) -> tuple[Trial, ...]:
    """The check's trials for one seed; all of them travel to the worker in one request."""
    return tuple(_CHECKS[identifier](draw))
