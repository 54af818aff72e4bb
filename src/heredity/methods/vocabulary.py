"""The vocabulary of structural search: the building blocks of controllers.

Every piece is a scalar expression in the names of `heredity.methods.programs`, independent of the task:

| piece     | form                                        | meaning                                                 |
|-----------|---------------------------------------------|---------------------------------------------------------|
| `linear`  | `a * x[i] + b * x[j]`                       | weighted sum of one to three features                    |
| `bang`    | `sign(linear)`                              | bang-bang control                                        |
| `pd`      | `a * (c - x[i]) - b * x[j]`                 | proportional-derivative control towards a setpoint       |
| `pump`    | `a * x[i] * x[j] + b * x[k]`                | push with or against a motion, as another feature says   |
| `blend`   | `a * x[i] + b * x[j] * x[k]`                | two to four features and products of features            |
| `tree`    | `A if x[i] > c else B`                      | threshold tree over other pieces                         |
| `damped`  | `a * (c - x[i]) - b * d[i]`                 | PD control with the remembered change as derivative      |
| `average` | `a * (x[i] - m[i]) + linear`                | deviation from a moving average                          |
| `phase`   | `a * math.sin(w * t + c) + linear`          | oscillator over a step counter                           |
| `planner` | `p.toward(k, i, c)`                         | one-step look-ahead with a model fitted in the episode   |
| `explorer`| `g.seek(0, 1, 2, (3, 5))`                   | breadth-first search over a remembered map (grids only)  |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from heredity.methods.operators.constants import literal
from heredity.methods.programs import Shape

Draw = Callable[[np.random.Generator, Shape, int], str]

NICHES: tuple[Mapping[str, float], ...] = (
    {"linear": 3, "bang": 1, "pd": 2, "blend": 3},
    {"linear": 1, "pd": 1, "damped": 2, "average": 1, "phase": 2, "bang": 1},
    {"tree": 3, "planner": 1, "pump": 2, "blend": 2},
)
"""Pieces that each island draws from: direct controllers; memory; decisions and planning. Further islands repeat the cycle."""


def draw_piece(rng: np.random.Generator, shape: Shape, control: int, niche: Mapping[str, float]) -> str:
    """Draw an expression for one control.

    Args:
        rng: source of randomness.
        shape: sizes of the task.
        control: index of the control that the expression is for.
        niche: name of a piece to its relative chance.
    """
    if not shape.features:
        return _phase_alone(rng)
    niche = {**niche, "explorer": sum(niche.values())} if shape.grid else niche
    names = list(niche)
    chances = np.array([niche[name] for name in names])
    return PIECES[str(rng.choice(names, p=chances / chances.sum()))](rng, shape, control)


def draw_controls(rng: np.random.Generator, shape: Shape, niche: Mapping[str, float]) -> list[str]:
    """Draw an expression per control; a choice among a few actions is scored or, half the time, cut into levels."""
    count = shape.controls
    if 2 < shape.choices <= 8 and not shape.grid and rng.random() < 0.5:
        count = shape.choices - 1
    return [draw_piece(rng, shape, k, niche) for k in range(count)]


def _number(rng: np.random.Generator) -> str:
    """Draw a weight: either sign, magnitudes spread around 2."""
    return literal(float(rng.choice([-1, 1]) * 2 * np.exp(rng.standard_normal())))


def _gain(rng: np.random.Generator) -> str:
    return literal(float(2 * np.exp(rng.standard_normal())))


def _setpoint(rng: np.random.Generator) -> str:
    return literal(0.0 if rng.random() < 0.5 else float(rng.normal(0, 0.5)))


def _feature(rng: np.random.Generator, shape: Shape) -> int:
    return int(rng.integers(shape.features))


def _linear(rng: np.random.Generator, shape: Shape, control: int) -> str:
    count = min(int(rng.integers(1, 4)), shape.features)
    chosen = sorted(int(i) for i in rng.choice(shape.features, size=count, replace=False))
    return " + ".join(f"{_number(rng)} * x[{i}]" for i in chosen)


def _bang(rng: np.random.Generator, shape: Shape, control: int) -> str:
    return f"sign({_linear(rng, shape, control)})"


def _pd(rng: np.random.Generator, shape: Shape, control: int) -> str:
    i, j = _feature(rng, shape), _feature(rng, shape)
    return f"{_number(rng)} * ({_setpoint(rng)} - x[{i}]) - {_number(rng)} * x[{j}]"


def _pump(rng: np.random.Generator, shape: Shape, control: int) -> str:
    i, j, k = (_feature(rng, shape) for _ in range(3))
    return f"{_number(rng)} * x[{i}] * x[{j}] + {_number(rng)} * x[{k}]"


def _blend(rng: np.random.Generator, shape: Shape, control: int) -> str:
    count = int(rng.integers(2, 5))
    return " + ".join(draw_term(rng, shape) for _ in range(count))


def draw_term(rng: np.random.Generator, shape: Shape) -> str:
    """Draw a weighted feature or, more rarely the more products there are, a weighted product of two features."""
    if not shape.features:
        return _phase_alone(rng)
    if shape.features == 1 or rng.random() > 1 / max(shape.features - 1, 2):
        return f"{_number(rng)} * x[{_feature(rng, shape)}]"
    i, j = (int(k) for k in rng.choice(shape.features, size=2, replace=False))
    return f"{_number(rng)} * x[{i}] * x[{j}]"


def _tree(rng: np.random.Generator, shape: Shape, control: int) -> str:
    leaf = {"linear": 2.0, "bang": 2.0, "pd": 1.0, "pump": 1.0}
    then, other = (draw_piece(rng, shape, control, leaf) for _ in range(2))
    return f"({then}) if x[{_feature(rng, shape)}] > {_setpoint(rng)} else ({other})"


def _damped(rng: np.random.Generator, shape: Shape, control: int) -> str:
    i = _feature(rng, shape)
    return f"{_number(rng)} * ({_setpoint(rng)} - x[{i}]) - {_number(rng)} * d[{i}]"


def _average(rng: np.random.Generator, shape: Shape, control: int) -> str:
    i = _feature(rng, shape)
    return f"{_number(rng)} * (x[{i}] - m[{i}]) + {_linear(rng, shape, control)}"


def _phase(rng: np.random.Generator, shape: Shape, control: int) -> str:
    return f"{_phase_alone(rng)} + {_linear(rng, shape, control)}"


def _phase_alone(rng: np.random.Generator) -> str:
    period = 4 * math.exp(rng.uniform(0, math.log(20)))
    return f"{_gain(rng)} * math.sin({literal(2 * math.pi / period)} * t + {literal(rng.uniform(0, 2 * math.pi))})"


def _planner(rng: np.random.Generator, shape: Shape, control: int) -> str:
    return f"p.toward({control}, {_feature(rng, shape)}, {_setpoint(rng)})"


def _explorer(rng: np.random.Generator, shape: Shape, control: int) -> str:
    """Draw the actions that turn left, turn right and go ahead, and those tried on objects, in random order."""
    order = list(range(shape.choices))
    if rng.random() < 0.3:
        order = [int(i) for i in rng.permutation(shape.choices)]
    rest = [order[3:][int(i)] for i in rng.permutation(len(order) - 3)]
    uses = rest[: int(rng.integers(len(rest) + 1))]
    return f"g.seek({order[0]}, {order[1]}, {order[2]}, ({''.join(f'{a}, ' for a in uses)}))"


PIECES: Mapping[str, Draw] = {
    "linear": _linear,
    "bang": _bang,
    "pd": _pd,
    "pump": _pump,
    "blend": _blend,
    "tree": _tree,
    "damped": _damped,
    "average": _average,
    "phase": _phase,
    "planner": _planner,
    "explorer": _explorer,
}
"""Pieces by name: `(generator, shape, control) -> expression`."""
