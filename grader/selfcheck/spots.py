"""Where a marked region of the reference can be broken, and into what: one small edit of its text each."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

BINARY: Mapping[type[ast.operator], str] = {
    ast.Add: "- *",
    ast.Sub: "+",
    ast.Mult: "/ +",
    ast.Div: "*",
    ast.Pow: "*",
    ast.MatMult: "*",
    ast.FloorDiv: "*",
    ast.Mod: "//",
}
"""Operator -> the operators that take its place."""

RELATIONS: Mapping[type[ast.cmpop], str] = {
    ast.Gt: ">= < <=",
    ast.GtE: "> < <=",
    ast.Lt: "<= > >=",
    ast.LtE: "< > >=",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
}
"""Comparison -> the comparisons that take its place, by spaces; `is` and `is not` have one each."""

ONE_WORD = (ast.Is, ast.IsNot)
ORDERED = (ast.Add, ast.Mult)
"""Operators whose operands may change places without effect."""

PLACES_ONLY = {"backend"}
"""A name that says where tensors live: not graded, as any backend of right numbers is right."""

Edit: TypeAlias = "tuple[ast.AST, str]"
"""A node, and the text that takes its place."""


@dataclass(frozen=True)
class Scope:
    """What is known around a node.

    Args:
        text: gives a node's source.
        parameters: of the function that it is in, without `self` and `backend`.
        siblings: attribute of `self` -> another one made by the same class: `ln_1` -> `ln_2`.
    """

    text: Callable[[ast.AST], str]
    parameters: Sequence[str]
    siblings: Mapping[str, str]


def edits(node: ast.AST, scope: Scope) -> Iterator[Edit]:
    """Every edit of one node, not of what is inside it."""
    for kind, rule in RULES:
        if isinstance(node, kind):
            yield from rule(node, scope)


def _binary(node: ast.BinOp, scope: Scope) -> Iterator[Edit]:
    """Another operator, one operand alone, the operands in the other order."""
    left, right = scope.text(node.left), scope.text(node.right)
    for operator in BINARY[type(node.op)].split():
        yield node, f"({left}) {operator} ({right})"
    yield node, left
    yield node, right
    if not isinstance(node.op, ORDERED):
        yield node, f"({right}) {_symbol(node, scope)} ({left})"


def _symbol(node: ast.BinOp, scope: Scope) -> str:
    symbols = {ast.Sub: "-", ast.Div: "/", ast.Pow: "**", ast.MatMult: "@", ast.FloorDiv: "//", ast.Mod: "%"}
    del scope
    return symbols[type(node.op)]


def _relation(node: ast.Compare, scope: Scope) -> Iterator[Edit]:
    """Another comparison."""
    if len(node.ops) != 1:
        return
    left, right = scope.text(node.left), scope.text(node.comparators[0])
    words = RELATIONS[type(node.ops[0])]
    for relation in [words] if isinstance(node.ops[0], ONE_WORD) else words.split():
        yield node, f"{left} {relation} {right}"


def _number(node: ast.Constant, scope: Scope) -> Iterator[Edit]:
    """A number one higher, a fraction of the other sign; the other truth value."""
    del scope
    if isinstance(node.value, bool):
        yield node, repr(not node.value)
    elif isinstance(node.value, int | float):
        yield node, repr(node.value + 1)
    if isinstance(node.value, float):
        yield node, f"(-{node.value!r})"


def _sign(node: ast.UnaryOp, scope: Scope) -> Iterator[Edit]:
    """Without its sign or its `not`."""
    yield node, scope.text(node.operand)


def _branch(node: ast.If | ast.While, scope: Scope) -> Iterator[Edit]:
    """The condition turned round, always true, never true."""
    yield node.test, f"not ({scope.text(node.test)})"
    yield node.test, "True"
    yield node.test, "False"


def _choice(node: ast.IfExp, scope: Scope) -> Iterator[Edit]:
    """Always the one, always the other, each in the other's place."""
    yield node, scope.text(node.body)
    yield node, scope.text(node.orelse)
    yield node, f"{scope.text(node.orelse)} if {scope.text(node.test)} else {scope.text(node.body)}"


def _logic(node: ast.BoolOp, scope: Scope) -> Iterator[Edit]:
    """`or` for `and`, one side alone; not of what only says where tensors live."""
    if PLACES_ONLY & _names(node):
        return
    sides = [scope.text(value) for value in node.values]
    yield node, (" or " if isinstance(node.op, ast.And) else " and ").join(f"({side})" for side in sides)
    for side in sides:
        yield node, side


def _call(node: ast.Call, scope: Scope) -> Iterator[Edit]:
    """Without the call, without a keyword, with two neighbouring arguments exchanged."""
    if node.args and not isinstance(node.args[0], ast.Starred):
        yield node, scope.text(node.args[0])
    if isinstance(node.func, ast.Attribute) and not _is_self(node.func.value):
        yield node, scope.text(node.func.value)
    for keyword in node.keywords:
        if keyword.arg not in PLACES_ONLY:
            arguments = [scope.text(a) for a in node.args] + [scope.text(k) for k in node.keywords if k is not keyword]
            yield node, f"{scope.text(node.func)}({', '.join(arguments)})"
    yield from _exchanged(node.args, scope)


def _row(node: ast.Tuple | ast.List, scope: Scope) -> Iterator[Edit]:
    """Two neighbouring elements exchanged."""
    yield from _exchanged(node.elts, scope)


def _exchanged(nodes: Sequence[ast.expr], scope: Scope) -> Iterator[Edit]:
    for first, second in pairwise(nodes):
        one, two = scope.text(first), scope.text(second)
        if one != two and first.end_lineno == second.lineno:
            # One edit that reaches from the first to the end of the second.
            both = ast.Tuple(elts=[first, second], ctx=ast.Load())
            both.lineno, both.col_offset = first.lineno, first.col_offset
            both.end_lineno, both.end_col_offset = second.end_lineno, second.end_col_offset
            yield both, f"{two}, {one}"


def _statement(node: ast.Assign | ast.AugAssign | ast.Expr | ast.Raise, scope: Scope) -> Iterator[Edit]:
    """The statement left out, unless it is the first to give a name its value: what follows could only crash."""
    if isinstance(node, ast.Assign):
        target = node.targets[0]
        if not isinstance(target, ast.Attribute) and scope.text(target) not in _names(node.value):
            return
        if scope.text(target) in PLACES_ONLY:
            return
    yield node, "pass"


def _return(node: ast.Return, scope: Scope) -> Iterator[Edit]:
    """Nothing returned."""
    del scope
    if node.value is not None:
        yield node.value, "None"


def _attribute(node: ast.Attribute, scope: Scope) -> Iterator[Edit]:
    """Another attribute of the same kind."""
    if _is_self(node.value) and isinstance(node.ctx, ast.Load) and node.attr in scope.siblings:
        yield node, f"self.{scope.siblings[node.attr]}"


def _name(node: ast.Name, scope: Scope) -> Iterator[Edit]:
    """The next parameter of the function instead."""
    if isinstance(node.ctx, ast.Load) and node.id in scope.parameters and len(scope.parameters) > 1:
        place = scope.parameters.index(node.id)
        yield node, scope.parameters[(place + 1) % len(scope.parameters)]


def _names(node: ast.AST) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


RULES: tuple[tuple[Any, Callable[[Any, Scope], Iterator[Edit]]], ...] = (
    (ast.BinOp, _binary),
    (ast.Compare, _relation),
    (ast.Constant, _number),
    (ast.UnaryOp, _sign),
    ((ast.If, ast.While), _branch),
    (ast.IfExp, _choice),
    (ast.BoolOp, _logic),
    (ast.Call, _call),
    ((ast.Tuple, ast.List), _row),
    ((ast.Assign, ast.AugAssign, ast.Expr, ast.Raise), _statement),
    (ast.Return, _return),
    (ast.Attribute, _attribute),
    (ast.Name, _name),
)
"""Kind of node -> what can be made of it."""
