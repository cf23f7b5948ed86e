"""One child of the fork server: locks itself in, runs the cases of one request, writes one frame, and ends."""

from __future__ import annotations

import io
import os
import sys
from dataclasses import dataclass
from typing import NoReturn

from . import frames, loader, lockdown, programs
from .case import Framework
from .troubles import Guard
from .walls import Walls

LOCKED = b"L"
"""The first byte to the server: the limits are in place, and only now is student code loaded."""

NOT_LOCKED, OUT_OF_MEMORY = 71, 72
"""Exit statuses. A student can give them too, which only decides how their own failure is called."""

# Taken before student code can put something else in their place. It may still do harm, to its own answer only.
_write, _exit = os.write, os._exit  # the latter runs nothing that was registered at exit


@dataclass(frozen=True)
class Surroundings:
    """What is the same for every child of a server.

    Args:
        folder: the student's package.
        framework: already imported.
        walls: what a child must put round itself.
        server: the server's process id.
    """

    folder: str
    framework: Framework
    walls: Walls
    server: int


def become(request: bytes, reply: int, limits: lockdown.Limits, around: Surroundings) -> NoReturn:
    """Answers one request on the descriptor `reply`; never returns."""
    try:
        around.walls.round_child(around.server, limits)
        asked = frames.decode_request(request)
    except BaseException as error:  # noqa: BLE001 - fail closed, whatever it was
        _write(2, f"the worker is not locked down, or the request is not one: {error}\n".encode())
        _exit(NOT_LOCKED)
    try:
        _write(reply, LOCKED)
        sys.stdout = io.TextIOWrapper(io.FileIO(1, "w"), "utf-8", "backslashreplace", write_through=True)
        sys.stderr = io.TextIOWrapper(io.FileIO(2, "w"), "utf-8", "backslashreplace", write_through=True)
        _answer(asked, reply, limits, around)
    except MemoryError:
        _exit(OUT_OF_MEMORY)
    except BaseException as error:  # noqa: BLE001 - student code may have broken anything; no frame is an answer too
        _write(2, f"the worker failed: {type(error).__name__}\n".encode())
        _exit(1)
    _exit(0)


def _answer(asked: frames.Request, reply: int, limits: lockdown.Limits, around: Surroundings) -> None:
    loader.open_package(around.folder)
    guard = Guard(around.folder)
    answers = [programs.run(case, around.framework, guard) for case in asked.cases]
    frame = memoryview(frames.encode_reply(asked.nonce, answers, limits.reply_mib * 2**20))
    while frame:
        frame = frame[_write(reply, frame) :]
