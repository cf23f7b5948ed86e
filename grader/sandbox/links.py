"""Where there are no namespaces: the same places as in a sandbox, made of links in the staged folder."""

from __future__ import annotations

from pathlib import Path

from .environment import PYTHON_OPTIONS
from .interpreter import Interpreter
from .stage import GIVEN, WORKER, Stage


def lay_out(stage: Stage, python: Interpreter, worker: Path = WORKER) -> None:
    """Makes the links; may be called again for another worker on the same stage."""
    links = {
        "packages/numpy": python.numpy,
        "packages/numpy.libs": python.numpy_libraries,
        "harness/worker": worker,
        "submission/assignment": stage.package,
    }
    for name, place in links.items():
        link = stage.root / name
        link.parent.mkdir(exist_ok=True)
        if place is not None and not link.is_symlink():
            link.symlink_to(place)
    for name, folder in GIVEN.items():
        given = stage.package / name
        if not given.is_symlink():
            given.rmdir()
            given.symlink_to(folder)


def command(stage: Stage, python: Interpreter, *words: str) -> list[str]:
    """The command line of a worker there; `words` say what it must put round itself."""
    return [str(python.binary), *PYTHON_OPTIONS, str(stage.root / "harness/worker/main.py"), *words]
