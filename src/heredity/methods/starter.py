"""Initial candidates: defaults for runs that name none, and linear controllers for parametric search."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from heredity.engine.kind import KINDS
from heredity.methods.operators.constants import literal
from heredity.methods.programs import Shape, control_source, controller_program, shape_of
from heredity.resources import Candidate, SourceTree
from heredity.tasks import TasksetInfo

_PRODUCTS_UP_TO = 3


def starter_candidate(info: TasksetInfo) -> Candidate:
    """Return the default initial candidate of a run, given the kind of its tasks."""
    return KINDS.load(info.kind).candidates.starter(info)


def linear_program(
    public: Mapping[str, Any], weights: np.ndarray | None = None, *, products: bool | None = None
) -> SourceTree:
    """Return a linear controller with literal weights, the starting point of parametric search.

    Each control is a weighted sum of the scaled observation, optionally its pairwise products, and 1.

    Args:
        public: the taskset's public information, with `obs_space` and `action_space`.
        weights: shape `linear_shape(public, products)`; zeros if None.
        products: whether to include products of two features; the default is yes with at most three features.

    Raises:
        ConfigError: if a space is missing, or actions are of a kind that a controller cannot write.
    """
    shape = shape_of(public)
    terms = _terms(shape, products)
    rows = _rows(shape)
    values = np.zeros((rows, len(terms) + 1)) if weights is None else np.reshape(weights, (rows, len(terms) + 1))
    expressions = [_weighted(row, terms) for row in values.tolist()]
    return controller_program(public, control_source(expressions), "A linear controller")


def linear_shape(public: Mapping[str, Any], products: bool | None = None) -> tuple[int, int]:
    """Return the shape of a linear controller's weights: controls, and terms plus one for the bias (the last)."""
    shape = shape_of(public)
    return _rows(shape), len(_terms(shape, products)) + 1


def _rows(shape: Shape) -> int:
    """Return the number of controls: one score per action except the last for few choices, else one per number."""
    return shape.choices - 1 if 2 <= shape.choices <= 8 else shape.controls


def _terms(shape: Shape, products: bool | None) -> list[str]:
    terms = [f"x[{i}]" for i in range(shape.features)]
    if products or (products is None and shape.features <= _PRODUCTS_UP_TO):
        terms += [f"x[{i}] * x[{j}]" for i, j in combinations(range(shape.features), 2)]
    return terms


def _weighted(row: list[float], terms: list[str]) -> str:
    """Write a weighted sum; long ones become a loop over a row of weights, for readability and the parser."""
    plain = all("*" not in term for term in terms)
    if plain and len(terms) > 8:
        numbers = ", ".join(literal(value) for value in row[:-1])
        return f"sum(w * v for w, v in zip(({numbers}), x)) + {literal(row[-1])}"
    return " + ".join(
        [*(f"{literal(value)} * {term}" for value, term in zip(row, terms, strict=False)), literal(row[-1])]
    )
