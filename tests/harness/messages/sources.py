"""The grader's own source as functions, for tests that ask what it can say."""

from __future__ import annotations

import ast
import functools
from dataclasses import dataclass
from pathlib import Path

import grader

ROOT = Path(grader.__file__).parent
FOR_STAFF = {"selfcheck", "messages", "report"}
"""Rooms of which no sentence becomes part of a report, or that say what others have found."""


@dataclass(frozen=True)
class Scope:
    """A function in its module; or, where it is None, what stands outside of all functions."""

    module: Path
    function: ast.FunctionDef | None

    @property
    def parameters(self) -> list[str]:
        """Their names, without `self`."""
        if self.function is None:
            return []
        arguments = self.function.args
        names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
        return names[1:] if names[:1] == ["self"] else names

    @functools.cached_property
    def nodes(self) -> list[ast.AST]:
        """All that stands in it, but for what stands in functions within."""
        found, todo = [], list(ast.iter_child_nodes(self.function or tree_of(self.module)))
        while todo:
            node = todo.pop()
            if not isinstance(node, ast.FunctionDef):
                found.append(node)
                todo += ast.iter_child_nodes(node)
        return found


@functools.cache
def tree_of(path: Path) -> ast.Module:
    """A module, parsed."""
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def scopes() -> tuple[Scope, ...]:
    """All functions of the rooms through which a submission passes."""
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        if FOR_STAFF.isdisjoint(path.relative_to(ROOT).parts):
            inside = [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.FunctionDef)]
            found += [Scope(path, node) for node in (None, *inside)]
    return tuple(found)


@functools.cache
def functions(name: str) -> tuple[Scope, ...]:
    """The functions of that name."""
    return tuple(scope for scope in scopes() if scope.function is not None and scope.function.name == name)


@functools.cache
def calls() -> dict[str, list[tuple[ast.Call, Scope]]]:
    """Every call, by the name of what is called, with where it stands."""
    found: dict[str, list[tuple[ast.Call, Scope]]] = {}
    for scope in scopes():
        for node in scope.nodes:
            if isinstance(node, ast.Call):
                found.setdefault(called(node), []).append((node, scope))
    return found


def called(node: ast.Call) -> str:
    """The name of what is called, without what stands before its dot; "" where it has none."""
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def holds(outer: ast.AST, inner: ast.AST) -> bool:
    """Whether a node stands in another one, or is it."""
    return any(node is inner for node in ast.walk(outer))


def forget() -> None:
    """Read the source anew."""
    for function in (tree_of, scopes, functions, calls):
        function.cache_clear()
