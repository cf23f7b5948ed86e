"""What a worker needs of this machine to compute on a GPU; shown to it only where staff ask for that.

A device node is a door into a driver of millions of lines that checks what it is given far less than the kernel does,
and its ioctls cannot be listed: `handouts/security.md` says what that means.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.errors import RefusedToStartError

DEVICES = Path("/dev")
CONTROL = ("nvidiactl", "nvidia-uvm")
FACTS = (Path("/proc/driver/nvidia"), Path("/proc/devices"), Path("/sys/bus/pci/devices"), Path("/sys/devices"))
"""What the driver's library reads of the machine when it starts."""

DRIVER = re.compile(r"(lib(?:cuda|nvidia-ptxjitcompiler|nvidia-nvvm|nvidia-gpucomp)\.so\.\S+) .*=> (\S+)")
PACKAGES = ("cupy", "cupy_backends", "fastrlock", "cuda", "nvidia")
"""Folders of the grader's environment that CuPy consists of and is built on; none of them holds an answer."""


@dataclass(frozen=True)
class Gpu:
    """One GPU.

    Args:
        nodes: the device nodes, read and written.
        facts: folders and files of /proc and /sys, read only.
        libraries: soname and file of the driver's libraries.
        packages: folders of Python packages.
    """

    nodes: tuple[Path, ...]
    facts: tuple[Path, ...] = ()
    libraries: tuple[tuple[str, Path], ...] = ()
    packages: tuple[Path, ...] = ()


def find(devices: Path = DEVICES) -> Gpu:
    """The first GPU of this machine.

    Raises:
        RefusedToStartError: there is none, or CuPy is not installed.
    """
    numbered = sorted(path for path in devices.glob("nvidia*") if re.fullmatch(r"nvidia\d+", path.name))
    control = [devices / name for name in CONTROL]
    if not numbered or not all(path.exists() for path in control):
        wanted = ", ".join(str(path) for path in (*control, devices / "nvidia0"))
        raise RefusedToStartError(
            f"--sandbox bwrap+gpu needs an NVIDIA GPU ({wanted}), found none; grade with --sandbox bwrap, on the CPU"
        )
    packages = tuple(_packages())
    if not any(path.name == "cupy" for path in packages):
        raise RefusedToStartError(
            "--sandbox bwrap+gpu needs CuPy: pip install 'hw3-autograder[gpu]', or grade with --sandbox bwrap"
        )
    return Gpu((*control, numbered[0]), tuple(path for path in FACTS if path.exists()), tuple(_libraries()), packages)


def _packages() -> Iterator[Path]:
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            yield Path(folder).resolve()


def _libraries() -> Iterator[tuple[str, Path]]:
    listing = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False).stdout
    for name, place in DRIVER.findall(listing):
        yield name, Path(place).resolve()
