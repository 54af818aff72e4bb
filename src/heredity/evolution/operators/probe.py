"""Probing: what controls do with observations drawn at random, to tell a change of text from a change of behaviour.

Programs are never run in this process: expressions of the vocabulary are interpreted, and any other is left alone.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from heredity.evolution.operators.expressions import parse_expression
from heredity.evolution.programs import Shape

_PROBES = 48
_OPERATORS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
}
_FUNCTIONS: Mapping[str, Callable[[float], float]] = {
    "sign": lambda v: 1.0 if v > 0 else -1.0,
    "abs": abs,
    "math.sin": math.sin,
    "math.tanh": math.tanh,
}


def probes(rng: np.random.Generator, shape: Shape) -> list[dict[str, list[float]]]:
    """Draw observations and memories: each maps `x`, `d` and `m` to their numbers, and `t` to a list of one."""
    sizes = {"x": (0.7, shape.features), "d": (0.1, shape.features), "m": (0.7, shape.features)}
    drawn = [{name: rng.normal(0, s, n).tolist() for name, (s, n) in sizes.items()} for _ in range(_PROBES)]
    return [{**probe, "t": [float(rng.integers(200))]} for probe in drawn]


def behaviour(
    controls: Sequence[str], shape: Shape, drawn: Sequence[Mapping[str, list[float]]]
) -> tuple[float, ...] | None:
    """Return what controls decide on each probe, or None if they hold anything but the vocabulary's plain expressions.

    Args:
        controls: the expressions that `control` returns.
        shape: sizes of the task: choices are compared as choices, other controls to two decimals.
        drawn: the result of `probes`.
    """
    trees = [parse_expression(text).body for text in controls]
    decided: list[float] = []
    try:
        for probe in drawn:
            decided += _decided([_value(tree, probe) for tree in trees], shape)
    except (_OpaqueError, OverflowError):
        return None
    return tuple(decided)


def _decided(u: list[float], shape: Shape) -> list[float]:
    clipped = [min(max(value, -1.0), 1.0) for value in u]
    if shape.choices and len(u) == shape.choices - 1:
        return [float(np.argmax([*u, 0.0]))]
    if shape.choices:
        return [float(min(int((clipped[0] + 1) / 2 * shape.choices), shape.choices - 1))]
    return [round(value, 2) for value in clipped]


class _OpaqueError(Exception):
    """An expression that cannot be interpreted."""


def _value(node: ast.expr, probe: Mapping[str, list[float]]) -> float:
    match node:
        case ast.Constant(value=int() | float() as value):
            return float(value)
        case ast.Name(id="t"):
            return probe["t"][0]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, probe)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left, probe), _value(right, probe))
        case ast.IfExp(test=ast.Compare(left=left, ops=[ast.Gt()], comparators=[right]), body=body, orelse=orelse):
            return _value(body if _value(left, probe) > _value(right, probe) else orelse, probe)
        case ast.Subscript(value=ast.Name(id="x" | "d" | "m" as name), slice=ast.Constant(value=int() as index)):
            if index < len(probe[name]):
                return probe[name][index]
        case ast.Call(func=func, args=[argument]) if ast.unparse(func) in _FUNCTIONS:
            return _FUNCTIONS[ast.unparse(func)](_value(argument, probe))
        case _:
            pass
    raise _OpaqueError
