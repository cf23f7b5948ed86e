"""Every sentence that the grader can say of a submission, read off its own source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from harness.messages import sources
from harness.messages.expressions import ANY, texts_of, values
from harness.messages.sources import Scope, called, scopes

PASSED_ON = frozenset(
    ["finding.message", "outcome.message", "exhibits.text", "line.pending", "submission.problem", "report.message"]
)
"""Expressions that hold a text which was made elsewhere, where it is found."""

LISTS = frozenset({"_passed_over", "_unknown"})
"""Functions that return a list of remarks."""

COPIES = frozenset({"list", "tuple", "field"})
"""Callables that make a list of remarks of one that is found elsewhere, or of none."""


@dataclass(frozen=True)
class Said:
    """One sentence with `ANY` for what varies, and where it is made."""

    text: str
    place: str


def sentences() -> tuple[Said, ...]:
    """All of them."""
    return tuple(dict.fromkeys(said for scope in scopes() for said in _said_in(scope)))


def _said_in(scope: Scope) -> Iterator[Said]:
    for node in scope.nodes:
        for expression in (*texts_of(node), *_remarks(node, scope)):
            if ast.unparse(expression) not in PASSED_ON:
                place = f"{scope.module.relative_to(sources.ROOT)}:{expression.lineno}"
                yield from (Said(text, place) for text in values(expression, scope) if text not in {"", ANY})


def _remarks(node: ast.AST, scope: Scope) -> Iterator[ast.expr]:
    """The expressions for remarks at a node."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="remarks"), attr="append"), args=[text]):
            yield text
        case ast.Assign(targets=[ast.Name(id="remarks")]) | ast.AugAssign(target=ast.Name(id="remarks")):
            yield from _elements(node.value)
        case ast.keyword(arg="remarks"):
            yield from _elements(node.value)
        case ast.Return(value=ast.expr()) if scope.function and scope.function.name in LISTS:
            yield from _elements(node.value)


def _elements(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.List() | ast.Tuple():
            yield from (element for element in node.elts if not isinstance(element, ast.Starred))
        case ast.ListComp() | ast.GeneratorExp():
            yield node.elt
        case ast.IfExp():
            yield from (*_elements(node.body), *_elements(node.orelse))
        case ast.Call() if called(node) not in LISTS | COPIES:
            raise ValueError(f"does {ast.unparse(node)} give remarks? Say so in producers.py")
