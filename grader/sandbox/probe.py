"""Which sandbox this machine can keep: tried, not guessed, before any submission is opened."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from grader.errors import RefusedToStartError

from . import attempts, bubblewrap, landlock, unisolated
from .gpu import find
from .session import Sandbox, Start

CHOICES = ("auto", "bwrap", "bwrap+gpu", "landlock", "unsafe-none")

NAMES = {"A": "bwrap+seccomp", "B": "landlock+seccomp", "C": "none (not isolated)"}
WITH_GPU = " (with a GPU)"

FIX = (
    "Allow user namespaces (Debian: sysctl kernel.unprivileged_userns_clone=1; Ubuntu: an AppArmor profile for bwrap; "
    "Docker: --security-opt seccomp=unconfined --security-opt systempaths=unconfined), or a kernel with Landlock, or, "
    "only where every submission is trusted, choose --sandbox unsafe-none"
)
"""What staff can do where no isolation works."""


def probe(choice: str) -> Sandbox:
    """The sandbox to use.

    Args:
        choice: "bwrap": namespaces and seccomp; "landlock": Landlock and seccomp; "auto": the first of these that
            holds; "bwrap+gpu": bubblewrap with a GPU in it; "unsafe-none": limits only.

    Raises:
        RefusedToStartError: it cannot be kept here; the text gives the reason and what to do.
    """
    if choice not in CHOICES:
        raise RefusedToStartError(f"--sandbox {choice}; expected one of {', '.join(CHOICES)}")
    if choice == "unsafe-none":
        return _unisolated()
    if not sys.platform.startswith("linux"):
        raise RefusedToStartError(f"isolation needs Linux, this is {sys.platform}. {FIX}")
    reasons = []
    for letter, name, start, problem in _ways(choice):
        has_gpu = choice == "bwrap+gpu"
        sandbox = Sandbox(NAMES[letter] + (WITH_GPU if has_gpu else ""), start, letter, has_gpu)
        problem = problem or attempts.failure(sandbox)  # noqa: PLW2901 - the same thing, found out later
        if not problem:
            return sandbox
        reasons.append(f"{name}: {problem}")
    raise RefusedToStartError(f"no isolation works here: {'; '.join(reasons)}. {FIX}")


def keepable() -> list[Sandbox]:
    """Every isolating sandbox that holds here, the best first."""
    kept = []
    for choice in ("bwrap", "landlock"):
        try:
            kept.append(probe(choice))
        except RefusedToStartError:
            continue
    return kept


def _ways(choice: str) -> Iterator[tuple[str, str, Start, str]]:
    """What can be tried, best first: the tier's letter, its name here, how to start, and why it must not be ("")."""
    if choice != "landlock":
        gpu = find() if choice == "bwrap+gpu" else None
        for candidate in bubblewrap.candidates():
            yield "A", str(candidate.path), bubblewrap.starter(candidate.path, gpu=gpu), candidate.problem
    if choice in {"auto", "landlock"}:
        yield "B", "Landlock", landlock.starter(), ""


def _unisolated() -> Sandbox:
    """Limits only, with seccomp where that can be had."""
    reason = ""
    for locked in (True, False):
        sandbox = Sandbox(NAMES["C"], unisolated.starter(locked=locked), "C")
        reason = attempts.failure(sandbox, {})
        if not reason:
            return sandbox
    raise RefusedToStartError(f"not even a worker without isolation runs here: {reason}")
