"""Scalar expressions as syntax trees, and the places where one may replace another."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from heredity._core.errors import ConfigError
from heredity._core.outside import python_tree

MAX_NODES = 40
"""Maximum exchangeable places of a control; larger ones are unreadable and rejected."""

_WHOLE = (ast.GeneratorExp, ast.Tuple, ast.List)


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a tree that holds a scalar expression."""

    parent: ast.AST
    field: str
    index: int | None = None

    @property
    def node(self) -> ast.expr:
        """The expression at this place."""
        value = getattr(self.parent, self.field)
        return value if self.index is None else value[self.index]

    def put(self, node: ast.expr) -> None:
        """Replace the expression at this place."""
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


def parse_expression(text: str) -> ast.Expression:
    """Return the syntax tree of one expression.

    Raises:
        ConfigError: if it is not one.
    """
    try:
        return python_tree(text, "eval", shallow=True)
    except ValueError as error:
        raise ConfigError(f"{text[:80]!r} is not an expression: {error}; give one that Python accepts") from error


def slots(tree: ast.Expression) -> list[Slot]:
    """Return every place that holds a scalar, the whole expression first.

    Excludes indices, functions and the inside of comprehensions, whose meaning depends on their place.
    """
    return list(_slots(Slot(tree, "body")))


def size(text: str) -> int:
    """Return the number of exchangeable places in an expression."""
    return len(slots(parse_expression(text)))


def _slots(slot: Slot) -> Iterator[Slot]:
    yield slot
    node = slot.node
    match node:
        case ast.BinOp():
            inner = [Slot(node, "left"), Slot(node, "right")]
        case ast.UnaryOp():
            inner = [] if isinstance(node.operand, ast.Constant) else [Slot(node, "operand")]
        case ast.IfExp():
            inner = [Slot(node, "body"), Slot(node, "orelse")]
            if isinstance(node.test, ast.Compare):
                inner += [Slot(node.test, "left"), Slot(node.test, "comparators", 0)]
        case ast.Call():
            numbers = [i for i, a in enumerate(node.args) if not (isinstance(a, ast.Constant) and type(a.value) is int)]
            inner = [Slot(node, "args", i) for i in numbers if not isinstance(node.args[i], _WHOLE)]
        case _:
            inner = []
    for child in inner:
        yield from _slots(child)
