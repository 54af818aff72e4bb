"""Tunable numeric constants of a program, and rewriting them without touching anything else.

Tunable are finite float literals, including a leading minus, and integers next to a float in a literal list or tuple
(`(1, 0.5)` is a row of weights). All other integers are excluded, because they index or count. Also excluded are
literals in f-strings, annotations, default arguments, statements whose first line ends with the comment `# fixed`, and
anything outside a program's evolvable blocks (`heredity.resources.evolve_blocks`).
"""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from dataclasses import dataclass

from heredity._core.errors import ConfigError
from heredity._core.outside import python_tree
from heredity.resources.evolve_blocks import is_open, open_lines

_FIXED = "# fixed"
_SIGNIFICANT = 6


@dataclass(frozen=True, slots=True)
class Constant:
    """One tunable literal.

    Attributes:
        value: current value.
        start: offset of its first byte in the UTF-8 source, including a leading minus.
        end: offset after its last byte.
        line: line number, from 1.
        operand: whether it is part of an arithmetic expression, where a new minus needs parentheses.
    """

    value: float
    start: int
    end: int
    line: int
    operand: bool


def find_constants(source: str) -> list[Constant]:
    """Return the tunable constants of a program in source order.

    Raises:
        ConfigError: if `source` is not valid Python.
    """
    finder, blocks = _Finder(source), open_lines(source)
    finder.visit(parse(source))
    constants = [constant for constant in finder.listed if is_open(constant.line, blocks)]
    return sorted(constants, key=lambda constant: constant.start)


def rewrite_constants(source: str, values: Sequence[float]) -> str:
    """Return the program with new values for its tunable constants; every other byte is unchanged.

    A constant whose value is unchanged keeps its spelling.

    Args:
        source: the program.
        values: one finite number for each of `find_constants(source)`, in that order.

    Raises:
        ConfigError: if the number of values differs from the number of constants, or one is not finite.
    """
    constants = find_constants(source)
    if len(constants) != len(values):
        raise ConfigError(f"{len(values)} values were given for {len(constants)} tunable constants; give one for each")
    data = source.encode()
    for constant, value in reversed(list(zip(constants, values, strict=True))):
        if not math.isfinite(value):
            raise ConfigError(f"line {constant.line}: {value} cannot be written as a constant; give a finite number")
        if value != constant.value:
            data = data[: constant.start] + _spelled(value, constant.operand).encode() + data[constant.end :]
    return data.decode()


def literal(value: float) -> str:
    """Return a float as the shortest literal with six significant digits."""
    return repr(float(f"{value:.{_SIGNIFICANT}g}"))


def parse(source: str) -> ast.Module:
    """Return the syntax tree of a program.

    Raises:
        ConfigError: if it is not valid Python.
    """
    try:
        return python_tree(source, shallow=True)
    except ValueError as error:
        raise ConfigError(f"the program is not valid Python: {error}; correct it before it is evolved") from error


def _spelled(value: float, operand: bool) -> str:
    text = literal(value)
    return f"({text})" if operand and text.startswith("-") else text


class _Finder(ast.NodeVisitor):
    def __init__(self, source: str) -> None:
        # As in the parser, only \n, \r\n and \r end a line, and columns count bytes.
        self._lines = source.encode().splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))
        self.listed: list[Constant] = []
        self._operand = False

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.stmt) and self._is_fixed(node):
            return
        operand, self._operand = self._operand, isinstance(node, ast.BinOp | ast.Attribute | ast.UnaryOp)
        if isinstance(node, ast.Constant):
            self._add(node, node.value, operand)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            self._add(node, node.operand.value, operand, sign=-1.0)
        elif isinstance(node, ast.List | ast.Tuple):
            self._visit_row(node)
        elif not isinstance(node, ast.JoinedStr | ast.Slice):
            for child in self._children(node):
                self.visit(child)
        self._operand = operand

    def _children(self, node: ast.AST) -> list[ast.AST]:
        children = list(ast.iter_child_nodes(node))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return [*node.decorator_list, *node.body]
        if isinstance(node, ast.Lambda):
            return [node.body]
        if isinstance(node, ast.AnnAssign):
            return [node.value] if node.value else []
        if isinstance(node, ast.MatchValue):
            return []
        return children

    def _visit_row(self, node: ast.List | ast.Tuple) -> None:
        row = any(isinstance(_number(item), float) for item in node.elts)
        for item in node.elts:
            value = _number(item)
            if row and type(value) is int:
                self._add(item, float(value), operand=False)
            else:
                self._operand = False
                self.visit(item)

    def _add(self, node: ast.expr, value: object, operand: bool, sign: float = 1.0) -> None:
        if type(value) is not float or not math.isfinite(value):
            return
        start, end = (
            self._offset(node.lineno, node.col_offset),
            self._offset(node.end_lineno, node.end_col_offset),
        )
        self.listed.append(Constant(sign * value, start, end, node.lineno, operand))

    def _offset(self, line: int | None, column: int | None) -> int:
        return self._starts[(line or 1) - 1] + (column or 0)

    def _is_fixed(self, node: ast.stmt) -> bool:
        return self._lines[node.lineno - 1].rstrip().decode("utf-8", "replace").endswith(_FIXED)


def _number(node: ast.expr) -> float | int | None:
    """Return the value of a numeric literal, optionally with a minus, or None."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value  # pyright: ignore[reportReturnType]
    return None
