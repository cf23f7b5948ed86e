"""What a look at the sources tells: what is not written yet, and what cannot work when it is graded. Nothing is run."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assignment.handing_in.sources import FOUR, Piece

PARTS = {"nn.py": 2, "modules_basic.py": 8, "transformer.py": 11, "translation.py": 2}
"""In how many places something is to be written."""
DEFINES = {
    "nn.py": ("logsumexp", "softmax_loss"),
    "modules_basic.py": ("Linear", "Embedding", "Dropout", "LayerNorm1d"),
    "transformer.py": ("MultiHeadAttention", "FeedForward", "TransformerLayer", "DecoderLM"),
    "translation.py": ("loss_fn", "generate"),
}
"""What each file is asked for by name."""
PACKAGE = "assignment"
ALSO_THERE = frozenset({"framework", "training"})
"""Of the package, what is there when work is graded, beside what is handed in."""
_STUB = re.compile(r"(Problem \d: [\w.]+) is not written yet")


@dataclass(frozen=True)
class Review:
    """What was seen.

    Args:
        written: in how many places something has been written.
        total: in how many something is to be written.
        stubs: where nothing has been, a line each.
        troubles: what will cost points that work might have earned, a line each.
    """

    written: int
    total: int
    stubs: tuple[str, ...]
    troubles: tuple[str, ...]


def review(sources: Mapping[str, Sequence[Piece]]) -> Review:
    """Look through the sources, file name -> its pieces, in the order of the problems."""
    stubs: list[str] = []
    troubles: list[str] = []
    written = 0
    modules = {name.removesuffix(".py").partition("/")[0] for name in sources}
    for name in [*FOUR, *sorted(sources.keys() - set(FOUR))]:
        if name not in sources:
            troubles.append(f"{name} is missing: nothing of it can be tested")
            continue
        parsed = [_parsed(piece) for piece in sources[name]]
        trees = [tree for tree, _ in parsed if tree]
        troubles += [f"{trouble}: nothing in {name} can be tested" for _, trouble in parsed if trouble]
        for (tree, _), piece in zip(parsed, sources[name], strict=True):
            troubles += _imports(tree, piece, modules) if tree else ()
        defined, wanted = _defined(trees), DEFINES.get(name, ())
        lost = [absent for absent in wanted if absent not in defined] if len(trees) == len(parsed) else []
        troubles += [f"{name} defines no {absent}: give it the name that it had" for absent in lost]
        raising = [stub for piece in sources[name] for stub in _stubs(piece)]
        stubs += raising
        written += max(PARTS.get(name, 0) - len(raising), 0) if len(lost) < len(wanted) else 0
    return Review(written, sum(PARTS.values()), tuple(stubs), tuple(troubles))


def _parsed(piece: Piece) -> tuple[ast.Module | None, str]:
    """Give a piece's syntax tree; or None, and what Python has against it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(piece.text), ""
    except SyntaxError as error:
        return None, f"{piece.place}, line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return None, f"{piece.place}: Python cannot read it ({error or type(error).__name__})"


def _stubs(piece: Piece) -> Iterator[str]:
    """Find what still raises what the given file raised."""
    for number, line in enumerate(piece.text.splitlines(), start=1):
        found = _STUB.search(line)
        if found and line.lstrip().startswith("raise NotImplementedError("):
            yield f"{piece.place}, line {number}: {found[1]}"


def _defined(trees: Sequence[ast.Module]) -> set[str]:
    """Collect the names that exist when the file has run, as far as can be seen without running it."""
    names: set[str] = set()
    for node in (node for tree in trees for node in ast.walk(tree)):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
                names.add(name)
            case ast.ImportFrom(names=aliases) | ast.Import(names=aliases):
                names |= {alias.asname or alias.name for alias in aliases}
    return names


def _imports(tree: ast.Module, piece: Piece, modules: set[str]) -> Iterator[str]:
    """Find imports of what is not there when work is graded."""
    inside, outside = modules | ALSO_THERE, {"numpy", *sys.stdlib_module_names, *modules}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        for top, of_package in _imported(node):
            if top not in (inside if of_package else outside):
                shown = f"assignment.{top}" if of_package else top
                yield f"{piece.place}, line {node.lineno}: {shown} is not there when your work is graded"


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, bool]]:
    """Give each module that is imported: its first name (below `assignment` the second), and whether it is below."""
    for alias in node.names:
        parts = alias.name.split(".") if isinstance(node, ast.Import) else (node.module or "").split(".")
        if isinstance(node, ast.ImportFrom) and (node.level or parts == [PACKAGE]):
            below = [part for part in parts if part and part != PACKAGE] or [alias.name]
            yield below[0], True
        elif parts[0] == PACKAGE:
            if parts[1:]:
                yield parts[1], True
        else:
            yield parts[0], False
