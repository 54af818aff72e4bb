"""Mutation of syntax trees: one small change to one control of a program."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from heredity.evolution.operators.constants import find_constants, rewrite_constants
from heredity.evolution.operators.draw import jitter
from heredity.evolution.operators.expressions import MAX_NODES, Slot, parse_expression, size, slots
from heredity.evolution.programs import Shape
from heredity.evolution.vocabulary import draw_piece, draw_term

Niche = Mapping[str, float]
Mutation = Callable[[np.random.Generator, str, Shape, int, Niche], str]

_ATTEMPTS = 8
_INDEXED = ("x", "d", "m")


def mutate(rng: np.random.Generator, controls: Sequence[str], shape: Shape, niche: Niche) -> tuple[list[str], str]:
    """Change one control, or the constants of all of them.

    Args:
        rng: where to draw from.
        controls: the expressions that `control` returns.
        shape: sizes of the task.
        niche: pieces that new parts are drawn from.

    Returns:
        The new expressions and the name of the mutation. If nothing new was found in a few attempts, fresh ones are drawn.
    """
    # A program of one constant has little to tune; what it lacks is structure.
    tunable = sum(len(find_constants(text)) for text in controls)
    names, chances = (
        list(MUTATIONS),
        np.array([min(_CHANCES[name], tunable if name == "constants" else 99) for name in MUTATIONS]),
    )
    for _ in range(_ATTEMPTS):
        name = str(rng.choice(names, p=chances / chances.sum()))
        changed = list(controls)
        chosen = range(len(controls)) if name == "constants" else [int(rng.integers(len(controls)))]
        for k in chosen:
            changed[k] = MUTATIONS[name](rng, changed[k], shape, k, niche)
        if changed != list(controls) and all(size(text) <= MAX_NODES for text in changed):
            return changed, name
    return [draw_piece(rng, shape, k, niche) for k in range(len(controls))], "fresh"


def _constants(rng: np.random.Generator, text: str, shape: Shape, control: int, niche: Niche) -> str:
    values = np.array([constant.value for constant in find_constants(text)])
    if not values.size:
        return text
    return rewrite_constants(text, jitter(rng, values, 0.5).tolist())


def _replace(rng: np.random.Generator, text: str, shape: Shape, control: int, niche: Niche) -> str:
    tree = parse_expression(text)
    _pick(rng, slots(tree)).put(parse_expression(draw_piece(rng, shape, control, niche)).body)
    return ast.unparse(tree)


def _add(rng: np.random.Generator, text: str, shape: Shape, control: int, niche: Niche) -> str:
    return ast.unparse(parse_expression(f"({text}) + ({draw_piece(rng, shape, control, niche)})"))


def _term(rng: np.random.Generator, text: str, shape: Shape, control: int, niche: Niche) -> str:
    return ast.unparse(parse_expression(f"({text}) + {draw_term(rng, shape)}"))


def _gate(rng: np.random.Generator, text: str, shape: Shape, control: int, niche: Niche) -> str:
    other = draw_piece(rng, shape, control, niche)
    if not shape.features:
        return text
    threshold = round(float(rng.normal(0, 0.5)), 3)
    then, otherwise = (text, other) if rng.random() < 0.5 else (other, text)
    return ast.unparse(
        parse_expression(f"({then}) if x[{int(rng.integers(shape.features))}] > {threshold} else ({otherwise})")
    )


def _hoist(rng: np.random.Generator, text: str, shape: Shape, control: int, niche: Niche) -> str:
    tree = parse_expression(text)
    outer = _pick(rng, slots(tree))
    inner = slots(ast.Expression(outer.node))[1:]
    if inner:
        outer.put(_pick(rng, inner).node)
    return ast.unparse(tree)


def _feature(rng: np.random.Generator, text: str, shape: Shape, control: int, niche: Niche) -> str:
    """Exchange the feature that one place reads."""
    tree = parse_expression(text)
    places: list[ast.Constant] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in _INDEXED:
            places += [node.slice] if isinstance(node.slice, ast.Constant) else []
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "toward":
            places += [a for a in node.args[1:2] if isinstance(a, ast.Constant)]
    if places and shape.features:
        places[int(rng.integers(len(places)))].value = int(rng.integers(shape.features))
    return ast.unparse(tree)


def _flip(rng: np.random.Generator, text: str, shape: Shape, control: int, niche: Niche) -> str:
    tree = parse_expression(text)
    chosen = _pick(rng, slots(tree))
    chosen.put(ast.UnaryOp(ast.USub(), chosen.node))
    return ast.unparse(tree)


def _pick(rng: np.random.Generator, places: Sequence[Slot]) -> Slot:
    return places[int(rng.integers(len(places)))]


MUTATIONS: Mapping[str, Mutation] = {
    "constants": _constants,
    "replace": _replace,
    "add": _add,
    "term": _term,
    "gate": _gate,
    "hoist": _hoist,
    "feature": _feature,
    "flip": _flip,
}
"""Every mutation by its name."""
_CHANCES = {"constants": 5, "replace": 1, "add": 1, "term": 3, "gate": 1, "hoist": 1, "feature": 1, "flip": 1}
