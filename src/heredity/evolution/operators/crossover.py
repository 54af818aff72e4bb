"""Crossover of syntax trees: part of one program takes the place of part of another."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

import numpy as np

from heredity.evolution.operators.expressions import MAX_NODES, parse_expression, size, slots

_ATTEMPTS = 8


def crossover(rng: np.random.Generator, controls: Sequence[str], donor: Sequence[str]) -> list[str]:
    """Return `controls` with one subtree replaced by one of the donor's.

    Args:
        rng: where to draw from.
        controls: expressions of the parent that is changed.
        donor: expressions of the parent that gives; their number may differ.
    """
    for _ in range(_ATTEMPTS):
        changed = list(controls)
        k = int(rng.integers(len(changed)))
        # The same control of the donor, where it has one: controls are not interchangeable.
        given = parse_expression(donor[k] if k < len(donor) else donor[int(rng.integers(len(donor)))])
        tree = parse_expression(changed[k])
        places, gifts = slots(tree), slots(given)
        gift = copy.deepcopy(gifts[int(rng.integers(len(gifts)))].node)
        places[int(rng.integers(len(places)))].put(gift)
        changed[k] = addressed(ast.unparse(tree), k)
        if changed != list(controls) and size(changed[k]) <= MAX_NODES:
            return changed
    return list(controls)


def addressed(text: str, control: int) -> str:
    """Return an expression in which planners plan for the control that it now belongs to."""
    tree = parse_expression(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "toward":
            node.args[0] = ast.Constant(control)
    return ast.unparse(tree)
