"""What is put round a fork server and each of its children, in the one order that is safe."""

from __future__ import annotations

import os
from collections.abc import Sequence

from . import landlock, lockdown

LOCKED, WITH_GPU, WALLED, UNLOCKED = "locked", "gpu", "walled", "unlocked"


class Walls:
    """What the command line asks for.

    Args:
        mode: "locked": seccomp; "gpu": seccomp that lets a GPU's driver be asked; "walled": Landlock, no capabilities,
            then seccomp; "unlocked": resource limits only.
        paths: for "walled": a folder of which only names may be read, then all that may be read.
    """

    def __init__(self, mode: str, paths: Sequence[str]) -> None:
        if mode not in {LOCKED, WITH_GPU, WALLED, UNLOCKED} or bool(paths) != (mode == WALLED):
            raise lockdown.LockdownError(f"asked to be {mode!r} with {len(paths)} paths; see grader.worker.main")
        self._mode, self._paths = mode, paths

    def round_server(self) -> None:
        """Before the first request: for this process and for all that it starts.

        Raises:
            LockdownError: a wall could not be put up, or has no effect.
        """
        lockdown.die_with_parent()
        if self._mode == WALLED:
            listable, *readable = self._paths
            landlock.restrict_files(readable, [listable])
            lockdown.drop_capabilities()
        if self._mode != UNLOCKED:
            lockdown.restrict_server(gpu=self._mode == WITH_GPU)

    def round_child(self, server: int, limits: lockdown.Limits) -> None:
        """Before student code is loaded, in the child that the process `server` has started.

        Raises:
            LockdownError: a wall could not be put up, or has no effect, or the server is gone.
        """
        lockdown.die_with_parent()
        if os.getppid() != server:
            raise lockdown.LockdownError("the server has ended")
        lockdown.limit(limits, gpu=self._mode == WITH_GPU)
        if self._mode != UNLOCKED:
            lockdown.restrict_child(gpu=self._mode == WITH_GPU)
