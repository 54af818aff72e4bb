"""Small questions about syntax trees, and trees that are made."""

from __future__ import annotations

import ast


def calling(name: str, *arguments: ast.expr) -> ast.Call:
    """Return a call of a function by its name."""
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def as_load(target: ast.expr) -> ast.expr:
    """Return what reads the place that an assignment writes."""
    return ast.parse(ast.unparse(target), mode="eval").body


def is_number(node: ast.expr) -> bool:
    """Whether an expression surely is a number, so that a sum with it needs no check: what may be a text or list is called."""
    if isinstance(node, ast.BinOp):
        return not isinstance(node.op, ast.BitOr)
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def returns(body: list[ast.stmt]) -> bool:
    """Whether statements end with a return."""
    return bool(body) and isinstance(body[-1], ast.Return)


def refuses(body: list[ast.stmt]) -> bool:
    """Whether there is a refusal among statements."""
    return any(isinstance(n, ast.Name) and n.id == "refuse" for s in body for n in ast.walk(s))
