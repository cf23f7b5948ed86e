"""Which texts an expression in the grader's source can be, followed through names, branches, calls and returns."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator

from harness.messages import sources
from harness.messages.sources import Scope, called, calls, functions, holds, scopes, tree_of

ANY = "\u2026any\u2026"
"""Stands for what varies: a name, a number."""

MADE_BY = {
    "UngradableError": 0,
    "ExercisesError": 0,
    "MissingError": 0,
    "BadValueError": 0,
    "remark": 0,
    "Fault": 1,
    "Broken": 1,
    "Finding": 1,
}
"""Callable -> the place of the text among its arguments."""

INNER = {"broken.text": "Broken", "trouble.text": "BadValueError"}
"""A text within a text -> whose."""

TEXTS = frozenset({"str", "str | None", "tuple[str, str]", "tuple[str, str] | None"})
"""What a function says that it returns where that is one text."""

NO_WORDS = {
    *("shown", "plain", "_name", "str", "upper", "lower", "strip", "removeprefix", "removesuffix", "partition"),
    *("int", "len", "float", "min", "max", "std", "mean", "abs", "count", "find", "group", "type", "atleast_1d"),
    *("tuple", "list", "sorted", "append", "waitstatus_to_exitcode"),
}
"""Callables that give a name or a number: nothing that has to be said in another language."""

Path = tuple[int, ...]
"""Which element of a tuple, which element of that, and so on; empty for the whole."""

_asked: list[tuple[str, Scope]] = []


def values(node: ast.expr, scope: Scope, path: Path = ()) -> list[str]:
    """The texts that an expression can be, each once, `ANY` for what varies in them.

    Raises:
        ValueError: it is of a kind that is not understood here; say in this file what it stands for.
    """
    handler = _HANDLERS.get(type(node))
    if handler is None:
        raise ValueError(f"{scope.module}:{node.lineno}: what text is {ast.unparse(node)}?")
    return list(dict.fromkeys(handler(node, scope, path)))


def texts_of(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions that a call takes for texts of the grader's."""
    if not isinstance(node, ast.Call):
        return
    name = called(node)
    if name in MADE_BY:
        yield from node.args[MADE_BY[name] : MADE_BY[name] + 1]
    for keyword in node.keywords:
        if keyword.arg == "message" or (keyword.arg == "text" and name in MADE_BY):
            yield keyword.value


def _constant(node: ast.Constant, _scope: Scope, _path: Path) -> list[str]:
    if node.value is None:
        return []
    return [node.value if isinstance(node.value, str) else ANY]


def _tuple(node: ast.Tuple, scope: Scope, path: Path) -> list[str]:
    return values(node.elts[path[0]], scope, path[1:]) if path else [ANY]


def _joined(node: ast.JoinedStr, scope: Scope, _path: Path) -> list[str]:
    return _product(node.values, scope)


def _formatted(node: ast.FormattedValue, scope: Scope, _path: Path) -> list[str]:
    return [ANY] if node.format_spec else values(node.value, scope)


def _operation(node: ast.BinOp, scope: Scope, _path: Path) -> list[str]:
    return _product((node.left, node.right), scope) if isinstance(node.op, ast.Add) else [ANY]


def _product(nodes: list[ast.expr] | tuple[ast.expr, ...], scope: Scope) -> list[str]:
    return ["".join(parts) for parts in itertools.product(*(values(node, scope) for node in nodes))]


def _choice(node: ast.IfExp | ast.BoolOp, scope: Scope, path: Path) -> list[str]:
    parts = node.values if isinstance(node, ast.BoolOp) else (node.body, node.orelse)
    return [text for part in parts for text in values(part, scope, path)]


def _element(node: ast.Subscript, scope: Scope, path: Path) -> list[str]:
    match node.slice:
        case ast.Constant(value=int() as place):
            return values(node.value, scope, (place, *path))
    return [ANY]


def _attribute(node: ast.Attribute, scope: Scope, _path: Path) -> list[str]:
    """A text that another place makes, a property of ours that gives text (`_text`), else a name or a number."""
    maker = INNER.get(ast.unparse(node))
    if maker:
        made = calls().get(maker, [])
        return [text for n, s in made for expression in texts_of(n) for text in values(expression, s)]
    ours = node.attr.endswith("_text")
    return (_returned(node.attr, scope, (), decorated="property") if ours else []) or [ANY]


def _table(node: ast.Dict, scope: Scope, _path: Path) -> list[str]:
    return [text for part in node.values for text in values(part, scope)]


def _generator(node: ast.GeneratorExp, scope: Scope, _path: Path) -> list[str]:
    """`text for sign, text in table.items()` can be each value of the table; of anything else nothing is known."""
    match node.generators:
        case [ast.comprehension(iter=ast.Call(func=ast.Attribute(value=ast.Name() as table, attr="items")))]:
            return values(table, scope)
    return [ANY]


def _call(node: ast.Call, scope: Scope, path: Path) -> list[str]:
    name = called(node)
    if name == "next":
        return [text for part in node.args for text in values(part, scope)]
    if name == "join" and isinstance(node.func, ast.Attribute):
        return [f"{ANY}{separator}{ANY}" for separator in values(node.func.value, scope)]
    if name in NO_WORDS:
        return [ANY]
    if functions(name):
        return _returned(name, scope, path) or [ANY]
    raise ValueError(f"what text does {ast.unparse(node)} give? Say so in expressions.py")


def _returned(name: str, scope: Scope, path: Path, decorated: str = "") -> list[str]:
    """What functions of ours of that name return, where that is text: those of the same module, where it has one."""
    found: list[str] = []
    for function in [f for f in functions(name) if f.module == scope.module] or functions(name):
        kind, decorators = function.function.returns, map(ast.unparse, function.function.decorator_list)
        if kind is not None and ast.unparse(kind) in TEXTS and decorated in {"", *decorators}:
            returns = (n.value for n in function.nodes if isinstance(n, ast.Return) and n.value is not None)
            found += [text for value in returns for text in values(value, function, path)]
    return [text for text in found if text]


def _name(node: ast.Name, scope: Scope, path: Path) -> list[str]:
    """What is assigned to a name in the function; of a parameter, what it is called with; of a constant, its value."""
    if (node.id, scope) in _asked:
        return [ANY]  # it is made from itself
    _asked.append((node.id, scope))
    try:
        found = [text for value, place in _assigned(node, scope) for text in values(value, scope, (*place, *path))]
        return found or _from_outside(node.id, scope)
    finally:
        _asked.pop()


def _assigned(use: ast.Name, scope: Scope) -> list[tuple[ast.expr, Path]]:
    """What may stand in a name where it is used, as expressions, each with the place in it.

    That is the last assignment before, and those in the other branches of the same `if`.
    """
    found: list[tuple[ast.AST, ast.expr, Path]] = []
    for node in scope.nodes:
        match node:
            case ast.Assign(targets=[target]):
                found += [(node, node.value, place) for place in _places(target, use.id)]
            case ast.For(target=target, iter=ast.Tuple(elts=elements) | ast.List(elts=elements)):
                found += [(node, element, place) for place in _places(target, use.id) for element in elements]
            case ast.NamedExpr(target=ast.Name(id=given)) if given == use.id:
                found.append((node, ast.Constant(0), ()))
    before = sorted((entry for entry in found if entry[0].lineno <= use.lineno), key=lambda entry: entry[0].lineno)
    last = before[-1][0] if before else None
    forks = [n for n in scope.nodes if last and isinstance(n, ast.If) and holds(n, last) and not holds(n, use)]
    return [(v, p) for n, v, p in before if n.lineno == last.lineno or any(holds(fork, n) for fork in forks)]


def _places(target: ast.expr, name: str) -> Iterator[Path]:
    match target:
        case ast.Name(id=given) if given == name:
            yield ()
        case ast.Tuple(elts=elements):
            yield from ((n, *inner) for n, element in enumerate(elements) for inner in _places(element, name))


def _from_outside(name: str, scope: Scope) -> list[str]:
    around = [s for s in scopes() if s.module == scope.module and s.function and scope.function]
    for function in (scope, *(s for s in around if holds(s.function, scope.function))):
        if name in function.parameters:
            return _given(name, function)
    return _module_constant(name, scope.module) or _imported(name, scope.module) or [ANY]


def _given(name: str, function: Scope) -> list[str]:
    """What a function is called with for a parameter, wherever it is called."""
    place, found = function.parameters.index(name), []
    for node, scope in calls().get(function.function.name, []):
        named = [keyword.value for keyword in node.keywords if keyword.arg == name]
        starred = any(isinstance(argument, ast.Starred) for argument in node.args)
        for argument in named or ([] if starred else node.args[place : place + 1]):
            known = type(argument) in _HANDLERS and not isinstance(argument, ast.Call)
            found += values(argument, scope) if known else [ANY]  # a call gives a number or an array
    return found or [ANY]


def _module_constant(name: str, module: sources.Path) -> list[str]:
    for node in tree_of(module).body:
        match node:
            case ast.Assign(targets=[ast.Name(id=given)], value=ast.Constant() as value) if given == name:
                return values(value, Scope(module, None))
    return []


def _imported(name: str, module: sources.Path) -> list[str]:
    for node in tree_of(module).body:
        if isinstance(node, ast.ImportFrom) and node.module and name in {alias.name for alias in node.names}:
            path = sources.ROOT.joinpath(*node.module.split(".")[1:]).with_suffix(".py")
            return _module_constant(name, path) if node.module.startswith("grader.") and path.exists() else []
    return []


_HANDLERS: dict[type[ast.expr], Callable[..., list[str]]] = {
    ast.Constant: _constant,
    ast.Tuple: _tuple,
    ast.JoinedStr: _joined,
    ast.FormattedValue: _formatted,
    ast.BinOp: _operation,
    ast.IfExp: _choice,
    ast.BoolOp: _choice,
    ast.Subscript: _element,
    ast.Attribute: _attribute,
    ast.Dict: _table,
    ast.GeneratorExp: _generator,
    ast.Call: _call,
    ast.Name: _name,
}
