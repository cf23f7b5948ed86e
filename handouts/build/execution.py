"""Runs a lab's code once, in a kernel of this very interpreter."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook, new_output

from .errors import BuildError
from .source import Cell, Lab

SECONDS = 180.0
"""How long a lab may run."""
THREADS = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
KEPT = ("image/png", "text/plain")
"""Of the forms in which a cell shows something, the first of these is kept."""
WIDTH = 84
"""How many characters stand side by side on a page or in a notebook; a sentence goes on below, a table breaks."""
_RULE = re.compile(r"^-[- ]+$", re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_LINE = re.compile(r"Cell In ?\[\d+\], line (\d+)")
_ADDRESS = re.compile(r"<[\w.]+ (?:object )?at 0x[0-9a-f]+>")

Outputs = tuple[NotebookNode, ...]


class ThisInterpreter(AsyncKernelManager):
    """Starts the interpreter that builds, whatever kernels are installed beside it."""

    @property
    def kernel_spec(self) -> KernelSpec:
        """What would otherwise be looked up in folders of the machine and the user."""
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        return KernelSpec(argv=command, display_name="Python 3", language="python")


def run_labs(labs: Sequence[Lab], root: Path, jobs: int, seconds: float = SECONDS) -> list[tuple[Outputs, ...]]:
    """Run labs side by side.

    Args:
        labs: what to run.
        root: the project: where the labs run and import from.
        jobs: how many run at a time.
        seconds: how long each may take.

    Returns:
        For each lab the outputs of its code cells, without anything that changes from run to run but the numbers of
        cells tagged `volatile`.

    Raises:
        BuildError: some did not come to their end; every one is named.
    """
    return asyncio.run(_run_all(labs, root, jobs, seconds))


async def _run_all(labs: Sequence[Lab], root: Path, jobs: int, seconds: float) -> list[tuple[Outputs, ...]]:
    free = asyncio.Semaphore(jobs)

    async def run_one(lab: Lab) -> tuple[Outputs, ...]:
        async with free:
            return await _run(lab, root, seconds)

    results = await asyncio.gather(*map(run_one, labs), return_exceptions=True)
    failures = [result for result in results if isinstance(result, BaseException)]
    for failure in failures:
        if not isinstance(failure, BuildError):
            raise failure
    if failures:
        raise BuildError("\n".join(map(str, failures)))
    return [result for result in results if not isinstance(result, BaseException)]


async def _run(lab: Lab, root: Path, seconds: float) -> tuple[Outputs, ...]:
    notebook = new_notebook(cells=[new_code_cell(cell.source) for cell in lab.code])  # type: ignore[no-untyped-call] # nbformat has no annotations
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="hw3-lab-") as room:
        client = NotebookClient(
            notebook,
            timeout=None,  # of a cell; the lab's is below
            km=ThisInterpreter(transport=transport(Path(room)), connection_file=f"{room}/kernel.json"),
            coalesce_streams=True,
            record_timing=False,
            store_widget_state=False,
            resources={"metadata": {"path": str(root)}},
        )
        try:
            async with asyncio.timeout(seconds):
                await client.async_execute(cleanup_kc=True, env=environment(root, Path(room)))
        except CellExecutionError as error:
            raise BuildError(failure_text(lab, notebook.cells, error)) from error
        except TimeoutError as error:
            raise BuildError(f"{lab.path}: not at its end after {seconds:g} s; make it smaller") from error
        except DeadKernelError as error:
            raise BuildError(f"{lab.path}: its kernel died; was it short of memory?") from error
    sys.stderr.write(f"{lab.name}: ran in {time.monotonic() - began:.0f} s\n")
    cells = zip(lab.code, notebook.cells, strict=True)
    return tuple(tidy(lab, cell, node.outputs, number, root) for number, (cell, node) in enumerate(cells, start=1))


def transport(room: Path) -> str:
    """Choose how to talk to a kernel: a socket file that only this user can open, where the system has such files.

    Its path has to fit into the 107 bytes that Linux allows (macOS: 103).
    """
    return "ipc" if os.name == "posix" and len(os.fsencode(room)) < 80 else "tcp"  # noqa: PLR2004  # room for the name


def environment(root: Path, room: Path) -> Mapping[str, str]:
    """Give the variables that a kernel runs with: the project's modules, one thread, nothing of the user's settings."""
    (room / "matplotlibrc").touch()
    fixed = {
        "PYTHONPATH": str(root),
        "PYTHONHASHSEED": "0",
        "IPYTHONDIR": str(room),
        "MATPLOTLIBRC": str(room / "matplotlibrc"),
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",  # a debugger's warning, which nobody here needs
    }
    return os.environ | THREADS | fixed


def failure_text(lab: Lab, nodes: Sequence[NotebookNode], error: CellExecutionError) -> str:
    """Say in a line where a lab stopped and why."""
    cell, output = next(
        (cell, output)
        for cell, node in zip(lab.code, nodes, strict=True)
        for output in node.outputs
        if output.output_type == "error"
    )
    inside = _LINE.search(_COLOUR.sub("", "\n".join(output.traceback)))
    line = cell.line + int(inside[1]) if inside else cell.line
    why = " ".join(f"{error.ename}: {error.evalue}".split())
    return f"{lab.path}:{line}: the cell that begins with `{cell.first_line}` raised {why}"


def tidy(lab: Lab, cell: Cell, outputs: Sequence[NotebookNode], number: int, root: Path) -> Outputs:
    """Leave of a cell's outputs what is printed and shown; its name in the file system does not matter.

    Raises:
        BuildError: an output holds an address, which is another one in every run.
    """
    kept = []
    where = f"{lab.path.relative_to(root)}:{cell.line}"
    for output in outputs:
        if output.output_type == "stream":
            text = output.text.replace(f"{root}/", "")
            if output.name == "stderr":
                sys.stderr.write(f"{where}: left out what it wrote to standard error: {text}")
                continue
            kept.append(new_output("stream", name="stdout", text=text))  # type: ignore[no-untyped-call]
        else:
            form = next(form for form in KEPT if form in output.data)
            data = output.data[form] if form == "image/png" else output.data[form].replace(f"{root}/", "")
            counted = {"execution_count": number} if output.output_type == "execute_result" else {}
            kept.append(new_output(output.output_type, {form: data}, **counted))  # type: ignore[no-untyped-call]
    for output in kept:
        text = output.get("text", "") + output.get("data", {}).get("text/plain", "")
        if found := _ADDRESS.search(text):
            raise BuildError(f"{where}: shows {found[0]}, which is another one in every run")
        widest = max(map(len, _RULE.findall(text)), default=0)
        if widest > WIDTH:
            sys.stderr.write(f"{where}: prints a table of {widest} characters a line; {WIDTH} fit on a page\n")
    return tuple(kept)
