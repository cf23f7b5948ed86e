"""Machine-made mutants: every small edit of what students write in the reference, each with a name that stays."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from grader.selfcheck import spots
from grader.selfcheck.spots import Edit, Scope
from grader.stubs import BEGIN, END

LONGEST = 60
"""Characters of a name's two halves."""


@dataclass(frozen=True)
class Machine:
    """One machine-made mutant.

    Args:
        id: "<file>.<definition>: <what stood there> -> <what stands there now>", numbered where that is not unique.
        target: what it breaks, as a case names it: "transformer.MultiHeadAttention".
        file: the file that differs.
        content: of that file.
    """

    id: str
    target: str
    file: str
    content: bytes


def mutants(solution: Mapping[str, str]) -> list[Machine]:
    """All of them, in the order of the source.

    Args:
        solution: file -> text, with the markers.
    """
    made: list[Machine] = []
    for file, text in solution.items():
        seen = {text}
        names: Counter[str] = Counter()
        for place, old, new, changed in _Source(text).changes():
            if changed in seen:
                continue
            seen.add(changed)
            stem = file.removesuffix(".py")
            name = f"{stem}.{place}: {_short(old)} -> {_short(new)}"
            names[name] += 1
            number = f" #{names[name]}" if names[name] > 1 else ""
            made.append(Machine(name + number, f"{stem}.{place.partition('.')[0]}", file, changed.encode()))
    return made


class _Source:
    """One file, read as a syntax tree whose nodes know their place in the text."""

    def __init__(self, text: str) -> None:
        self._bytes = text.encode()
        self._tree = ast.parse(text)
        lines = self._bytes.splitlines(keepends=True)
        self._starts = [0]
        for line in lines:
            self._starts.append(self._starts[-1] + len(line))
        self._marked = _marked_lines(text)

    def changes(self) -> Iterator[tuple[str, str, str, str]]:
        """(definition, old, new, text of the whole file) of every edit inside the markers."""
        for place, function, siblings in _functions(self._tree):
            names = [a.arg for a in (*function.args.args, *function.args.kwonlyargs)]
            scope = Scope(self._text, [n for n in names if n not in {"self", "backend"}], siblings)
            for statement in function.body:
                if statement.lineno in self._marked:
                    for node, new in self._edits(statement, scope):
                        yield place, self._text(node), new, self._with(node, new)

    def _edits(self, node: ast.AST, scope: Scope) -> Iterator[Edit]:
        """Those of a node and of all within it; the text of an error message, an f-string, an annotation is left."""
        yield from spots.edits(node, scope)
        if isinstance(node, ast.Raise | ast.JoinedStr | ast.arguments):
            return
        skipped = {node.annotation} if isinstance(node, ast.AnnAssign) else set()
        for child in ast.iter_child_nodes(node):
            if child not in skipped:
                yield from self._edits(child, scope)

    def _span(self, node: ast.AST) -> tuple[int, int]:
        first, last = node.lineno, node.end_lineno  # type: ignore[attr-defined]  # expressions and statements have them
        start = self._starts[first - 1] + node.col_offset  # type: ignore[attr-defined]
        return start, self._starts[last - 1] + node.end_col_offset  # type: ignore[attr-defined]

    def _text(self, node: ast.AST) -> str:
        start, end = self._span(node)
        return self._bytes[start:end].decode()

    def _with(self, node: ast.AST, new: str) -> str:
        start, end = self._span(node)
        inside = f"({new})" if isinstance(node, ast.BinOp | ast.IfExp | ast.BoolOp | ast.Compare | ast.Call) else new
        return (self._bytes[:start] + inside.encode() + self._bytes[end:]).decode()


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef, Mapping[str, str]]]:
    """Every function with its dotted name and, for a method, its class's attributes that are of the same kind."""
    for top in tree.body:
        if isinstance(top, ast.FunctionDef):
            yield top.name, top, {}
        elif isinstance(top, ast.ClassDef):
            siblings = _siblings(top)
            for inner in top.body:
                if isinstance(inner, ast.FunctionDef):
                    yield f"{top.name}.{inner.name}", inner, siblings


def _siblings(owner: ast.ClassDef) -> dict[str, str]:
    """Attribute -> the next one that is made by a call of the same name."""
    made: dict[str, list[str]] = {}
    for node in ast.walk(owner):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name):
            made.setdefault(node.value.func.id, []).extend(t.attr for t in node.targets if isinstance(t, ast.Attribute))
    groups = [names for names in made.values() if len(names) > 1]
    return {name: names[(i + 1) % len(names)] for names in groups for i, name in enumerate(names)}


def _marked_lines(text: str) -> set[int]:
    """The numbers of the lines between markers."""
    marked: set[int] = set()
    inside = False
    for number, line in enumerate(text.splitlines(), start=1):
        if BEGIN.match(line):
            inside = True
        elif END.match(line):
            inside = False
        elif inside:
            marked.add(number)
    return marked


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST else flat[: LONGEST - 1] + "…"
