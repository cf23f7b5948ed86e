"""Where a student goes from a check: its title, the code, the lecture section and the local tests, in `guide.yaml`."""

from __future__ import annotations

import functools
from pathlib import Path

import msgspec


class CheckGuide(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One check.

    Args:
        zh: its title in Chinese; the English one is the first line of the check's docstring.
        where: "<file>.<name>" of what a student wrote for it, such as "nn.logsumexp".
        section: of lecture 6.
        tests: what to give to pytest to run the tests nearest to it; "" where there are none.
        command: what shows it instead of a test, as it trains for a while; "" for most.
    """

    zh: str
    where: str
    section: str
    tests: str = ""
    command: str = ""

    @property
    def file(self) -> str:
        """The file that it looks at: "nn.py"."""
        return f"{self.where.partition('.')[0]}.py"

    @property
    def name(self) -> str:
        """The function or class in it: "logsumexp"."""
        return self.where.partition(".")[2]


class ProblemGuide(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One problem: its title in Chinese; the English one is in the rubric."""

    zh: str


class Guide(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole file; ids are those of `rubric.yaml`."""

    problems: dict[str, ProblemGuide]
    checks: dict[str, CheckGuide]

    def check_title(self, identifier: str, english: str, language: str) -> str:
        """A check's title; the English one where there is no other."""
        found = self.checks.get(identifier)
        return found.zh if found and language == "zh" else english

    def problem_title(self, identifier: str, english: str, language: str) -> str:
        """A problem's title; the English one where there is no other."""
        found = self.problems.get(identifier)
        return found.zh if found and language == "zh" else english


@functools.cache
def guide() -> Guide:
    """`guide.yaml`.

    Raises:
        ValueError: it does not have its shape.
    """
    path = Path(__file__).with_name("guide.yaml")
    try:
        return msgspec.yaml.decode(path.read_bytes(), type=Guide)
    except msgspec.MsgspecError as error:
        raise ValueError(f"{path.name} is not what grader/messages/guide.py describes: {error}") from error
