"""Scorers that evaluate an answer: which ones do, and which answers they may be shown.

Several scorers of reasoning-gym give an answer to `eval` or to sympy's parser, which evaluates it too. An answer is a stranger's
text: only literals, and for sympy plain arithmetic, may get that far.
"""

from __future__ import annotations

import ast
import inspect
import math
import re
import sys
from collections.abc import Iterator
from functools import cache
from types import CodeType, FunctionType
from typing import Any

_MAX_EXPRESSION = 600
_MAX_NODES = 300
_MAX_POWERS = 2
_MAX_EXPONENT = 64
_MAX_CONSTANT = 1e15

_EVALUATE = frozenset({"eval", "exec", "compile"})
_PARSE = frozenset({"parse_expr", "sympify", "parse_latex", "S"})
_LARGE = re.compile(r"[0-9.][eE][-+]?[0-9]{4,}")
"""`Fraction("1e999999999")` would fill the memory."""

_NODES = (
    *(ast.Expression, ast.BinOp, ast.UnaryOp, ast.Constant, ast.Name, ast.Load, ast.Call),
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.UAdd, ast.USub),
)
_FUNCTIONS = frozenset(
    (
        *("sin", "cos", "tan", "cot", "sec", "csc", "asin", "acos", "atan", "acot", "asec", "acsc"),
        *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp", "log", "ln", "sqrt", "Abs"),
    )
)
_NAME = re.compile(r"[A-Za-z]|pi|Abs")


def may_take_hours(scorer: type) -> bool:
    """Whether a scorer simplifies formulas."""
    return "simplify" in _names_used(scorer)


def problem_of(scorer: type, answer: str) -> str:
    """Return why an answer must not be shown to a scorer, one line; `""` if it may be.

    Args:
        scorer: the class of the data set, with its `score_answer`.
        answer: the answer, just as the scorer would get it.
    """
    uses = _names_used(scorer)
    if uses & _PARSE:
        return "" if _is_arithmetic(answer) else "the answer is no plain expression"
    if uses & _EVALUATE:
        return "" if _is_literal(answer) else "the answer is no plain value"
    if "Fraction" in uses and _LARGE.search(answer):
        return "the answer holds a number too large to score"
    return ""


@cache
def _names_used(scorer: type) -> frozenset[str]:
    """Return every name that the scoring code uses, in the functions of its package that it calls as well."""
    package = scorer.__module__.partition(".")[0]
    pending, seen, names = ["score_answer"], set[str](), set[str]()
    while pending:
        name = pending.pop()
        if name in seen:
            continue
        seen.add(name)
        for function in _functions(scorer, name, package):
            used = {used for code in _codes(function.__code__) for used in code.co_names}
            names |= used
            pending += used
    return frozenset(names)


def _functions(scorer: type, name: str, package: str) -> Iterator[FunctionType]:
    for owner in (scorer, sys.modules[scorer.__module__]):
        function: Any = inspect.unwrap(getattr(owner, name)) if callable(getattr(owner, name, None)) else None
        if inspect.isfunction(function) and function.__module__.partition(".")[0] == package:
            yield function


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _is_literal(answer: str) -> bool:
    """Whether `eval` would give a literal or nothing at all: a single name, or an error of syntax."""
    try:
        tree = ast.parse(answer.lstrip(" \t"), mode="eval")
    except (SyntaxError, ValueError):
        return True
    except (RecursionError, MemoryError):
        return False
    if isinstance(tree.body, ast.Name):
        return True
    try:
        ast.literal_eval(tree.body)
    except (ValueError, TypeError, RecursionError, MemoryError):
        return False
    return True


def _is_arithmetic(answer: str) -> bool:
    """Whether an expression consists of numbers, letters, `+ - * / **` and functions such as `sin`, and is small."""
    if len(answer) > _MAX_EXPRESSION:
        return False
    try:
        tree = ast.parse(answer.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    nodes = list(ast.walk(tree))
    return len(nodes) <= _MAX_NODES and all(map(_is_plain, nodes)) and _powers(tree) <= _MAX_POWERS


def _is_plain(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        named = isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS
        return named and len(node.args) == 1 and not node.keywords
    if isinstance(node, ast.Constant):
        return type(node.value) in (int, float) and _magnitude(node) < _MAX_CONSTANT
    if isinstance(node, ast.Name):
        return node.id in _FUNCTIONS or _NAME.fullmatch(node.id) is not None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        constants = [_magnitude(n) for n in ast.walk(node.right) if isinstance(n, ast.Constant)]
        return len(constants) <= 2 and all(value <= _MAX_EXPONENT for value in constants)
    return isinstance(node, _NODES)


def _magnitude(node: ast.Constant) -> float:
    return abs(node.value) if isinstance(node.value, int | float) else math.inf


def _powers(node: ast.AST) -> int:
    """Return how deep powers of powers go."""
    deepest = max((_powers(child) for child in ast.iter_child_nodes(node)), default=0)
    return deepest + (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow))
