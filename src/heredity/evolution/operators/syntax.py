"""Edits of any Python program at its syntax tree, which leave every other byte of the text as it is."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np

from heredity.errors import ConfigError
from heredity.evolution.operators.constants import literal, parse
from heredity.outside import python_tree
from heredity.tasks.programs.blocks import is_open, open_lines

T = TypeVar("T")

_TRIES = 24
_ARITHMETIC = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.FloorDiv: "//", ast.Mod: "%"}
_COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_MOST_CHARS = 200_000


@dataclass(frozen=True)
class _Program:
    """A program's text with its tree, and which of it may change."""

    source: str
    data: bytes
    starts: tuple[int, ...]
    expressions: tuple[ast.expr, ...]
    statements: tuple[ast.stmt, ...]
    bodies: tuple[Sequence[ast.stmt], ...]

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Return where a node stands in `data`."""
        first, last = self.starts[node.lineno - 1], self.starts[(node.end_lineno or node.lineno) - 1]
        return first + node.col_offset, last + (node.end_col_offset or 0)

    def text(self, node: ast.expr | ast.stmt) -> str:
        """Return a node's own text."""
        start, end = self.span(node)
        return self.data[start:end].decode()

    def put(self, node: ast.expr | ast.stmt, text: str) -> str:
        """Return the program with another text in the place of a node."""
        start, end = self.span(node)
        return (self.data[:start] + text.encode() + self.data[end:]).decode()


def edited(rng: np.random.Generator, source: str, donor: str | None = None) -> tuple[str, str] | None:
    """Return a program that differs in one place, and what was done; None if nothing could be found to do.

    Args:
        rng: where to draw from.
        source: the program.
        donor: another program, whose functions of the same names may give theirs.

    Raises:
        ConfigError: if `source` is not valid Python.
    """
    program = _read(source)
    for _ in range(_TRIES):
        name = str(rng.choice(list(_EDITS))) if donor is None else "a function of another"
        try:
            changed = _EDITS[name](rng, program) if donor is None else _given(rng, program, donor)
        except _NothingError:
            continue
        if changed != source and len(changed) < _MOST_CHARS and _valid(changed):
            return changed, name
    return None


class _NothingError(Exception):
    """The edit that was drawn finds no place in this program."""


def _read(source: str) -> _Program:
    tree, data = parse(source), source.encode()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    blocks = open_lines(source)
    bodies = [list(body) for node in ast.walk(tree) for body in _bodies(node)]
    statements = [node for body in bodies for node in body if _open(node, blocks)]
    inside = [node for node in ast.walk(tree) if isinstance(node, ast.expr) and _open(node, blocks)]
    hidden = _annotations(tree) | {
        id(part) for node in inside if isinstance(node, ast.JoinedStr) for part in ast.walk(node)
    }
    expressions = [n for n in inside if id(n) not in hidden and isinstance(getattr(n, "ctx", ast.Load()), ast.Load)]
    expressions = [n for n in expressions if not isinstance(n, ast.Starred | ast.Slice)]
    return _Program(source, data, tuple(starts), tuple(expressions), tuple(statements), tuple(bodies))


def _bodies(node: ast.AST) -> list[list[ast.stmt]]:
    return [
        body for name in ("body", "orelse", "finalbody") if isinstance(body := getattr(node, name, None), list) and body
    ]


def _open(node: ast.expr | ast.stmt, blocks: list[range]) -> bool:
    return is_open(node.lineno, blocks) and is_open(node.end_lineno or node.lineno, blocks)


def _annotations(tree: ast.AST) -> set[int]:
    """Return what only looks like an expression: annotations, decorators, names that are called, docstrings."""
    hidden: set[int] = set()
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        if isinstance(node, ast.arg | ast.AnnAssign):
            parts.append(node.annotation)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            parts += [*node.decorator_list, getattr(node, "returns", None)]
        elif isinstance(node, ast.Call):
            parts.append(node.func)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            parts.append(node.value)
        elif isinstance(node, ast.pattern):
            parts.append(node)
        hidden |= {id(inner) for part in parts if part is not None for inner in ast.walk(part)}
    return hidden


def _pick(rng: np.random.Generator, choices: Sequence[T]) -> T:
    if not choices:
        raise _NothingError
    return choices[int(rng.integers(len(choices)))]


def _operator(rng: np.random.Generator, program: _Program) -> str:
    node = _pick(rng, [n for n in program.expressions if isinstance(n, ast.BinOp | ast.Compare | ast.BoolOp)])
    if isinstance(node, ast.BinOp):
        sign = _pick(rng, [s for kind, s in _ARITHMETIC.items() if not isinstance(node.op, kind)])
        return program.put(node, f"({program.text(node.left)}) {sign} ({program.text(node.right)})")
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        sign = _pick(rng, [s for kind, s in _COMPARISONS.items() if not isinstance(node.ops[0], kind)])
        return program.put(node, f"({program.text(node.left)}) {sign} ({program.text(node.comparators[0])})")
    if isinstance(node, ast.BoolOp):
        word = " or " if isinstance(node.op, ast.And) else " and "
        return program.put(node, "(" + word.join(f"({program.text(v)})" for v in node.values) + ")")
    raise _NothingError


def _integer(rng: np.random.Generator, program: _Program) -> str:
    node = _pick(rng, [n for n in program.expressions if isinstance(n, ast.Constant) and type(n.value) is int])
    assert isinstance(node, ast.Constant)
    value = int(node.value)  # pyright: ignore[reportArgumentType]
    return program.put(node, str(_pick(rng, [value + 1, max(value - 1, 0), value * 2, value // 2])))


def _replacement(rng: np.random.Generator, program: _Program) -> str:
    node, gift = _pick(rng, program.expressions), _pick(rng, program.expressions)
    return program.put(node, f"({program.text(gift)})")


def _wrapped(rng: np.random.Generator, program: _Program) -> str:
    node = _pick(
        rng, [n for n in program.expressions if isinstance(n, ast.BinOp | ast.Name | ast.Call | ast.Subscript)]
    )
    number = literal(float(np.exp(0.5 * rng.standard_normal())))
    form = _pick(
        rng, ["({0} * {1})", "({0} + {1})", "({0} - {1})", "abs({0})", "max({0}, {1})", "min({0}, {1})", "({0} ** {1})"]
    )
    return program.put(node, form.format(program.text(node), number))


def _unwrapped(rng: np.random.Generator, program: _Program) -> str:
    node = _pick(rng, [n for n in program.expressions if isinstance(n, ast.BinOp | ast.Call | ast.IfExp | ast.UnaryOp)])
    parts = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
    parts = parts[1:] if isinstance(node, ast.Call) else parts
    return program.put(node, f"({program.text(_pick(rng, parts))})")


def _negated(rng: np.random.Generator, program: _Program) -> str:
    tests = [n.test for n in program.statements if isinstance(n, ast.If | ast.While)]
    node = _pick(rng, tests)
    return program.put(node, f"not ({program.text(node)})")


def _deleted(rng: np.random.Generator, program: _Program) -> str:
    node = _pick(rng, [n for n in program.statements if not isinstance(n, ast.FunctionDef | ast.ClassDef | ast.Import)])
    return program.put(node, "pass")


def _swapped(rng: np.random.Generator, program: _Program) -> str:
    own = {id(node) for node in program.statements}
    pairs = [(a, b) for body in program.bodies for a, b in pairwise(body) if {id(a), id(b)} <= own]
    first, second = _pick(rng, pairs)
    (a, b), (c, d) = program.span(first), program.span(second)
    data = program.data
    return (data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]).decode()


def _repeated(rng: np.random.Generator, program: _Program) -> str:
    kinds = ast.Assign | ast.AugAssign | ast.For | ast.Expr | ast.If
    node = _pick(rng, [n for n in program.statements if isinstance(n, kinds)])
    start, end = program.span(node)
    return (program.data[:end] + b"\n" + b" " * node.col_offset + program.data[start:]).decode()


def _given(rng: np.random.Generator, program: _Program, donor: str) -> str:
    """Take the body of a function from another program."""
    try:
        other = _read(donor)
    except ConfigError as error:
        raise _NothingError from error
    mine = {n.name: n for n in program.statements if isinstance(n, ast.FunctionDef)}
    theirs = {n.name: n for n in other.statements if isinstance(n, ast.FunctionDef)}
    shared = [name for name in mine if name in theirs and program.text(mine[name]) != other.text(theirs[name])]
    name = _pick(rng, shared)
    if mine[name].col_offset != theirs[name].col_offset:
        raise _NothingError
    return program.put(mine[name], other.text(theirs[name]))


def _valid(source: str) -> bool:
    try:
        python_tree(source)
    except ValueError:
        return False
    return True


_EDITS: dict[str, Callable[[np.random.Generator, _Program], str]] = {
    "another operator": _operator,
    "another whole number": _integer,
    "an expression in another's place": _replacement,
    "an expression wrapped": _wrapped,
    "an expression unwrapped": _unwrapped,
    "a condition negated": _negated,
    "a statement left out": _deleted,
    "two statements swapped": _swapped,
    "a statement twice": _repeated,
}
