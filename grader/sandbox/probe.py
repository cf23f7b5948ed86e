"""Which sandbox this machine can keep: tried, not guessed, before any submission is opened."""

from __future__ import annotations

import sys

from grader.errors import RefusedToStartError

from . import attempts, bubblewrap, unisolated
from .session import Sandbox

CHOICES = ("auto", "bwrap", "landlock", "unsafe-none")

BWRAP_TIER, NO_TIER = "bwrap+seccomp", "none (not isolated)"

FIX = (
    "Allow user namespaces (Debian: sysctl kernel.unprivileged_userns_clone=1; Ubuntu: an AppArmor profile for bwrap; "
    "Docker: --security-opt seccomp=unconfined --security-opt systempaths=unconfined), or, only where every submission "
    "is trusted, choose --sandbox unsafe-none"
)
"""What staff can do where no isolation works."""


def probe(choice: str) -> Sandbox:
    """The sandbox to use.

    Args:
        choice: "auto" or "bwrap": bubblewrap with seccomp; "unsafe-none": limits only.

    Raises:
        RefusedToStartError: it cannot be kept here; the text gives the reason and what to do.
    """
    if choice not in CHOICES:
        raise RefusedToStartError(f"--sandbox {choice}; expected one of {', '.join(CHOICES)}")
    if choice == "landlock":
        raise RefusedToStartError("--sandbox landlock is not available yet; choose auto, which needs user namespaces")
    if choice == "unsafe-none":
        return _unisolated()
    reasons = []
    if not sys.platform.startswith("linux"):
        reasons.append(f"isolation needs Linux, this is {sys.platform}")
    else:
        for candidate in bubblewrap.candidates():
            sandbox = Sandbox(BWRAP_TIER, bubblewrap.starter(candidate.path))
            problem = candidate.problem or attempts.failure(sandbox)
            if not problem:
                return sandbox
            reasons.append(f"{candidate.path}: {problem}")
    raise RefusedToStartError(f"no isolation works here: {'; '.join(reasons) or 'there is no bwrap'}. {FIX}")


def _unisolated() -> Sandbox:
    """Limits only, with seccomp where that can be had."""
    reason = ""
    for locked in (True, False):
        sandbox = Sandbox(NO_TIER, unisolated.starter(locked=locked), is_isolated=False)
        reason = attempts.failure(sandbox, {})
        if not reason:
            return sandbox
    raise RefusedToStartError(f"not even a worker without isolation runs here: {reason}")
