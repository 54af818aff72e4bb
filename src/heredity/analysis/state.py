"""Persistent state of a policy program: what its code carries from one call to the next (EvoPolicyGym, table 3)."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_OWN_SCOPES = (*_FUNCTIONS, ast.Lambda, ast.ClassDef)
_CONSTRUCTORS = frozenset({"__init__", "__new__", "__post_init__"})
_MUTATORS = frozenset(
    {"add", "append", "appendleft", "clear", "discard", "difference_update", "extend", "extendleft", "fill", "insert"}
    | {"intersection_update", "pop", "popitem", "popleft", "push", "put", "remove", "reverse", "rotate", "setdefault"}
    | {"sort", "symmetric_difference_update", "update"}
)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in the program a statement stands.

    Attributes:
        owner: the class whose instance `instance` names, or "".
        instance: name of the instance in a method (by custom `self`), or "".
        constructing: whether this is a constructor, whose assignments are initial values rather than state.
        function: dotted name of the enclosing function, "" at module level.
        hidden: names bound by enclosing functions, which hide those of the module.
    """

    owner: str = ""
    instance: str = ""
    constructing: bool = False
    function: str = ""
    hidden: frozenset[str] = frozenset()


def persistent_state(tree: ast.Module) -> set[tuple[str, str]]:
    """Return the names in which a module keeps state between calls, as (scope, name).

    Counted are: attributes of the instance that a method other than a constructor assigns or changes in place; names of
    the module that a function rebinds (`global`) or changes in place; names that an inner function rebinds
    (`nonlocal`). Changing in place is assigning to an item or an attribute, or calling a method such as `append`.
    """
    nodes = _own_nodes(tree.body)
    return set(_scan(nodes, _Place(), frozenset(_bound(nodes))))


def _scan(nodes: Iterable[ast.AST], scope: _Place, shared: frozenset[str]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        if isinstance(node, _FUNCTIONS):
            inner = _own_nodes(node.body)
            yield from _scan(inner, _inside(node, inner, scope), shared)
        elif isinstance(node, ast.ClassDef):
            inside = _Place(owner=node.name, function=scope.function, hidden=scope.hidden)
            yield from _scan(_own_nodes(node.body), inside, shared)
        elif isinstance(node, ast.Lambda):
            yield from _scan(_own_nodes([node.body]), _with_hidden(scope, _arguments(node.args)), shared)
        elif isinstance(node, ast.Global):
            yield from (("module", name) for name in node.names if scope.function)
        elif isinstance(node, ast.Nonlocal):
            around = f"{scope.owner}.{scope.function.rpartition('.')[0]}"
            yield from ((around, name) for name in node.names)
        else:
            for changed in _changed(node):
                yield from _attribute_to_scope(changed, scope, shared)


def _inside(node: ast.FunctionDef | ast.AsyncFunctionDef, own: Iterable[ast.AST], scope: _Place) -> _Place:
    names = _arguments(node.args)
    rebound = {n for g in own if isinstance(g, ast.Global | ast.Nonlocal) for n in g.names}
    hidden = scope.hidden | ((frozenset(names) | frozenset(_bound(own))) - rebound)
    function = f"{scope.function}.{node.name}" if scope.function else node.name
    # A function right inside a class is a method; one inside a method still sees its instance, unless it hides it.
    if scope.owner and not scope.instance:
        static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in node.decorator_list)
        instance = names[0] if names and not static else ""
        return _Place(scope.owner, instance, node.name in _CONSTRUCTORS, function, hidden)
    instance = "" if scope.instance in names else scope.instance
    return _Place(scope.owner, instance, False, function, hidden)


def _with_hidden(scope: _Place, names: Iterable[str]) -> _Place:
    hidden = scope.hidden | frozenset(names)
    return _Place(scope.owner, scope.instance, scope.constructing, scope.function, hidden)


def _attribute_to_scope(target: ast.expr, scope: _Place, shared: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Name the state that changing `target` in place changes: walk from `self.a.b[0]` down to `self.a`."""
    attribute = ""
    while isinstance(target, ast.Attribute | ast.Subscript):
        attribute = target.attr if isinstance(target, ast.Attribute) else attribute
        target = target.value
    if not isinstance(target, ast.Name) or not scope.function:
        return
    if scope.instance and target.id == scope.instance:
        if attribute and not scope.constructing:
            yield scope.owner, attribute
    elif target.id in shared and target.id not in scope.hidden:
        yield "module", target.id


def _changed(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what a statement or a call changes in place; names that it merely binds are left out."""
    if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
        yield node
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _MUTATORS:
        yield node.func.value


def _own_nodes(body: Iterable[ast.AST]) -> list[ast.AST]:
    """Walk nodes, stopping at those that open a scope of their own (which are listed, not entered)."""
    nodes: list[ast.AST] = []
    stack = list(body)
    while stack:
        node = stack.pop()
        nodes.append(node)
        if isinstance(node, _OWN_SCOPES):
            continue
        for field in node._fields:
            value = getattr(node, field, None)
            if isinstance(value, ast.AST):
                stack.append(value)
            elif isinstance(value, list):
                stack.extend(child for child in value if isinstance(child, ast.AST))
    return nodes


def _bound(own: Iterable[ast.AST]) -> Iterator[str]:
    for node in own:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.ExceptHandler)) and node.name:
            yield node.name


def _arguments(arguments: ast.arguments) -> list[str]:
    named = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return [a.arg for a in (*named, arguments.vararg, arguments.kwarg) if a is not None]
