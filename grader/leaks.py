"""What must not be in a student release, looked for in every file of it: the solution, the twins, the hidden checks."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from grader.readable import readable, runnable
from grader.stubs import BEGIN, END

ALLOWED = re.compile(
    r"LICENSE|README\.md|pyproject\.toml|Makefile|\.gitignore|\.github/workflows/tests\.yml|hw3\.ipynb"
    r"|assignment/((framework|handing_in|training)/)?\w+\.py|assignment/exercises\.yaml"
    r"|tests/\w+\.py"
    r"|tests/fixtures/(\w+\.npz|hints\.json)"
    r"|handouts/__init__\.py|handouts/(hw3|exercises)\.(en|zh)\.(md|pdf)"
    r"|handouts/labs/(\w+\.py|\d\d_\w+\.(en|zh)\.(ipynb|html))"
)
"""The paths that a release consists of."""
STAFF_CODE = re.compile(
    r"""\b(?:import|from)\s+(?:grader|torch)\b|\bgrader[./]\w|\btorch\.\w|["'](?:grader|torch)["']"""
)
"""Use of the grader or of torch, in code or in commands; a text may still speak of PyTorch."""
GIVEN = ("numpy", "pytest", "assignment", "handouts", "tokenizers", "sacrebleu", "matplotlib", "cycler", "IPython")
"""What a student has besides Python itself; from the tokenizers on, with the extras `translation` and `labs`."""
MAY_SAY_TORCH = re.compile(r"handouts/labs/\d\d_\w+\.(en|zh)\.(ipynb|html)")
"""The labs may lay the student's modules beside PyTorch's, in cells that say so."""
CHOOSES = "handouts/labs/course.py"
"""Takes the modules from the reference where it is there, so it may name it."""
UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, SyntaxError)
"""What a file raises that is not what its name says."""
TELLING = 20
"""A line of the solution that is shorter says nothing: `return x`, `else:`."""
NEAR, ENOUGH = 0.75, 7
"""What is given and uses this share of the names that an answer of so many names or more uses answers it, too."""


def leaks(files: Mapping[str, bytes], solution: Mapping[str, str], hidden: frozenset[str]) -> Iterator[str]:
    """Say, a sentence each, what in these files is not for students.

    Args:
        files: path inside the release -> content.
        solution: name -> text of the reference's files, with their markers.
        hidden: ids of the hidden checks.
    """
    lines = telling_lines(solution, given="\n".join(text(files, "assignment/framework/")))
    answers = names_of_answers(solution)
    helpers = {PurePosixPath(path).stem for path in files if path.startswith("tests/")}
    for path, content in sorted(files.items()):
        if not ALLOWED.fullmatch(path):
            yield f"{path} is none of the files that a release consists of"
        elif path.endswith(".pdf"):
            if f"{path.removesuffix('.pdf')}.md" not in files:
                yield f"{path} has no .md beside it, in which its text could be read"
        elif not path.endswith(".npz"):
            try:
                yield from leaks_of_text(path, readable(path, content), lines, hidden)
                for source in runnable(path, content):
                    yield from strange_imports(path, source, helpers)
                    yield from near_answers(path, source, answers)
            except UNREADABLE as error:
                yield f"{path} could not be looked through ({type(error).__name__}: {error})"


def leaks_of_text(path: str, content: str, lines: Mapping[str, str], hidden: frozenset[str]) -> Iterator[str]:
    """Look for lines of the solution, the grader's own names, and ids of hidden checks in one text."""
    flat = squeezed(content)
    for line, place in lines.items():
        if line in flat:
            yield f"{path} holds {line!r}, which is part of the solution ({place})"
    for found in STAFF_CODE.finditer(content):
        if "grader" in found[0] or not MAY_SAY_TORCH.fullmatch(path):
            yield f"{path} holds {found[0]!r}: the grader and the twins are not for students"
    for check in sorted(hidden):
        if check in content:
            yield f"{path} names the hidden check {check}"


def near_answers(path: str, source: str, answers: Mapping[str, frozenset[str]]) -> Iterator[str]:
    """Find what does a stub's work in other lines: it uses nearly all the names that the stub's answer uses."""
    if path.startswith("tests/"):  # they use what they test
        return
    used = names_in([ast.parse(source)])
    for answer, names in answers.items():
        if len(names) >= ENOUGH and len(names & used) >= NEAR * len(names):
            yield f"{path} uses {', '.join(sorted(names & used))}, as the answer to {answer} does: it may be one"


def strange_imports(path: str, source: str, helpers: set[str]) -> Iterator[str]:
    """Find imports of what a student does not have."""
    known = {*sys.stdlib_module_names, *GIVEN, *helpers}
    known |= {"torch"} if MAY_SAY_TORCH.fullmatch(path) else {"solution"} if path == CHOOSES else set()
    for node in ast.walk(ast.parse(source)):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level and node.module:
            modules = [node.module]
        for module in modules:
            if module.partition(".")[0] not in known:
                yield f"{path} imports {module}, which a student does not have"


def telling_lines(solution: Mapping[str, str], given: str) -> dict[str, str]:
    """Collect the lines between the markers: line, squeezed -> "<file>:<number>".

    Lines that also stand outside the markers or in `given`, and short ones, tell nothing and are left out.
    """
    inside: dict[str, str] = {}
    outside = [given]
    for name, source in solution.items():
        hides = False
        for number, line in enumerate(source.splitlines(), start=1):
            if BEGIN.match(line) or END.match(line):
                hides = bool(BEGIN.match(line))
            elif hides:
                inside.setdefault(squeezed(line), f"solution/{name}:{number}")
            else:
                outside.append(line)
    public = squeezed("\n".join(outside))
    return {line: place for line, place in inside.items() if len(line) >= TELLING and line not in public}


def names_of_answers(solution: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """Collect for each pair of markers the names that stand between them: "Problem 4: generate" -> names."""
    found: dict[str, frozenset[str]] = {}
    for source in solution.values():
        statements = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt)]
        opened, title = 0, ""
        for number, line in enumerate(source.splitlines(), start=1):
            if begin := BEGIN.match(line):
                opened, title = number, begin["part"]
            elif END.match(line):
                found[title] = names_in(node for node in statements if opened < node.lineno < number)
    return found


def names_in(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Collect what code names: attributes, functions that it calls, keys. The language's own functions tell nothing."""
    names: set[str] = set()
    for node in (inner for outer in nodes for inner in ast.walk(outer)):
        match node:
            case ast.Attribute(attr=name) | ast.Call(func=ast.Name(id=name)):
                names.add(name)
            case ast.Subscript(slice=ast.Constant(value=str(name))):
                names.add(name)
            case _:
                pass
    return frozenset(names - set(dir(builtins)))


def squeezed(content: str) -> str:
    """Put one space where there is any white space."""
    return " ".join(content.split())


def text(files: Mapping[str, bytes], folder: str) -> list[str]:
    """Read the texts below a folder."""
    return [content.decode("utf-8") for path, content in sorted(files.items()) if path.startswith(folder)]
