"""Backward slices: the names and calls that flow into an expression, through assignments and the folder's functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from heredity.protocols.post_training.analysis.program import Program, Unit

_MOST_NODES = 20_000


@dataclass(slots=True)
class Slice:
    """The inputs of a value.

    Attributes:
        names: every name, attribute, keyword and key in it, in lower case.
        calls: calls, each with its unit of code.
        nodes: every visited expression, with its unit of code.
    """

    names: set[str] = field(default_factory=set[str])
    calls: list[tuple[Unit, ast.Call]] = field(default_factory=list["tuple[Unit, ast.Call]"])
    nodes: list[tuple[Unit, ast.AST]] = field(default_factory=list["tuple[Unit, ast.AST]"])


class Slicer:
    """Follows values backwards through the reachable code of a program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._assigned: dict[int, dict[str, list[ast.expr]]] = {}
        self._reached = {id(unit.node): unit for unit in program.units if unit.node is not None}

    def of(self, unit: Unit, *values: ast.expr) -> Slice:
        """Return the inputs of values in a unit."""
        flow = Slice()
        seen: set[tuple[int, str]] = set()
        functions: set[int] = set()
        stack = [(unit, value) for value in values]
        while stack and len(flow.nodes) < _MOST_NODES:
            where, value = stack.pop()
            for node in ast.walk(value):
                flow.nodes.append((where, node))
                if isinstance(node, ast.Name) and (id(where), node.id) not in seen:
                    seen.add((id(where), node.id))
                    stack += [(where, assigned) for assigned in self._assignments(where).get(node.id, ())]
                elif isinstance(node, ast.Call):
                    flow.calls.append((where, node))
                    stack += self._returned(where, node, functions)
                flow.names.update(name.lower() for name in names_of(node))
        return flow

    def _returned(self, unit: Unit, call: ast.Call, functions: set[int]) -> Iterator[tuple[Unit, ast.expr]]:
        for _, definition in self._program.definitions(unit.module, call.func):
            body = self._reached.get(id(definition))
            if body is None or id(definition) in functions or isinstance(definition, ast.ClassDef):
                continue
            functions.add(id(definition))
            yield from ((body, n.value) for n in body.live if isinstance(n, ast.Return) and n.value is not None)

    def _assignments(self, unit: Unit) -> dict[str, list[ast.expr]]:
        key = id(unit)
        if key not in self._assigned:
            self._assigned[key] = {}
            for node in unit.live:
                for target, value in _bindings(node):
                    for name in ast.walk(target):
                        if isinstance(name, ast.Name):
                            self._assigned[key].setdefault(name.id, []).append(value)
        return self._assigned[key]


def _bindings(node: ast.AST) -> Iterator[tuple[ast.AST, ast.expr]]:
    if isinstance(node, ast.Assign):
        yield from ((target, node.value) for target in node.targets)
    elif isinstance(node, ast.AugAssign | ast.NamedExpr) or (isinstance(node, ast.AnnAssign) and node.value):
        yield node.target, node.value  # pyright: ignore[reportReturnType]
    elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        yield node.target, node.iter
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield node.optional_vars, node.context_expr
    elif (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("append", "extend", "add")
        and isinstance(node.func.value, ast.Name)
    ):
        yield from ((node.func.value, argument) for argument in node.args)


def names_of(node: ast.AST) -> Iterator[str]:
    """Yield the names in a node: of a variable, an attribute, a keyword, or a string key."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.keyword) and node.arg:
        yield node.arg
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
        yield node.slice.value
