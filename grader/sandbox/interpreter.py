"""What of this machine's Python and NumPy a worker must be able to see, and no more."""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import struct
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from grader.errors import RefusedToStartError

PT_INTERP = 3


@dataclass(frozen=True)
class Interpreter:
    """The files of the interpreter that runs the grader, as far as a worker needs them.

    Args:
        binary: the real one, not a virtual environment's link.
        libraries_folder: "lib" or "lib64": where below its prefix Python looks for the standard library.
        standard: the standard library's folder.
        loader: the dynamic loader, at the very path that the binary asks for; None for a static one.
        shared: soname and file of every shared library that Python, its own modules and NumPy need.
        numpy: the package's folder.
        numpy_libraries: the folder of libraries beside it that its wheels bring; None where there is none.
    """

    binary: Path
    libraries_folder: str
    standard: Path
    loader: Path | None
    shared: tuple[tuple[str, Path], ...]
    numpy: Path
    numpy_libraries: Path | None


@functools.cache
def inspect() -> Interpreter:
    """The interpreter of this process; found without importing anything new.

    Raises:
        RefusedToStartError: NumPy is not installed as ordinary files.
    """
    binary = Path(os.path.realpath(sys.executable))
    standard = Path(sysconfig.get_path("stdlib"))
    spec = importlib.util.find_spec("numpy")
    if spec is None or not spec.submodule_search_locations:
        raise RefusedToStartError(
            "NumPy is not installed as a folder of files; install it with pip in this environment"
        )
    numpy = Path(spec.submodule_search_locations[0]).resolve()
    beside = numpy.parent / "numpy.libs"
    loader = _loader(binary)
    files = [binary, *standard.glob("lib-dynload/*.so"), *numpy.rglob("*.so")]
    return Interpreter(
        binary=binary,
        libraries_folder=sys.platlibdir,
        standard=standard,
        loader=loader,
        shared=_shared(loader, files, besides=(numpy, beside)) if loader else (),
        numpy=numpy,
        numpy_libraries=beside if beside.is_dir() else None,
    )


def _loader(binary: Path) -> Path | None:
    """The path in the program header PT_INTERP of a 64-bit little-endian ELF file; None for any other file."""
    with binary.open("rb") as file:
        head = file.read(64)
        if head[:6] != b"\x7fELF\x02\x01":
            return None
        (start,) = struct.unpack_from("<Q", head, 32)
        size, count = struct.unpack_from("<HH", head, 54)
        for index in range(count):
            file.seek(start + index * size)
            kind, _, offset, _, _, length = struct.unpack("<IIQQQQ", file.read(40))
            if kind == PT_INTERP:
                file.seek(offset)
                return Path(os.fsdecode(file.read(length).rstrip(b"\0")))
    return None


def _shared(loader: Path, files: Iterable[Path], *, besides: tuple[Path, ...]) -> tuple[tuple[str, Path], ...]:
    """What the loader would load for the files; libraries that lie in the folders `besides` are found there anyway."""
    found: dict[str, Path] = {}
    for file in files:
        listing = subprocess.run(  # noqa: S603 - no shell, and both words are files of this interpreter
            [loader, "--list", file], capture_output=True, text=True, check=False
        ).stdout
        for name, place in re.findall(r"(\S+) => (/.+) \(0x", listing):
            real = Path(os.path.realpath(place))
            if not any(real.is_relative_to(folder) for folder in besides):
                found.setdefault(name, real)
    return tuple(found.items())
