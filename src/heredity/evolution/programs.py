"""Controllers as source: a `control` function that may evolve, between parts that a task's spaces dictate.

A program is `observe` (observation to numbers of about unit size), `control` (numbers to controls in [-1, 1]), `decide`
(controls to an action) and the memory that `control` asks for by the names of its parameters:

    x   the scaled observation            m   moving averages of it (over about ten steps)
    d   its change since the last step    t   steps taken so far
    p   a linear model of the task, fitted while the episode runs (see `Model`)
    g   a map of the cells seen so far (see `heredity.evolution.grids`)
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heredity.environments.space_numbers import Leaf, action_expression, count_controls, find_grid, leaves, space_of
from heredity.evolution.grids import MAP_SOURCE
from heredity.evolution.operators.constants import parse
from heredity.resources import SourceTree
from heredity.rollouts.episode.starter import POLICY

MEMORY = ("d", "m", "t", "p", "g")
"""Names by which `control` asks for memory."""

_SUPPORT = {
    "numbers": """
        def numbers(value):
            return np.asarray(value, dtype=float).ravel().tolist()
    """,
    "difference": """
        def difference(one, other):
            return [a - b for a, b in zip(numbers(one), numbers(other))]
    """,
    "one_hot": """
        def one_hot(index, n):
            return [float(i == int(index)) for i in range(n)]
    """,
    "pooled": """
        def pooled(image):
            grey = np.asarray(image, dtype=float)
            grey = grey.mean(axis=2) if grey.ndim == 3 else grey
            rows, columns = grey.shape[0] // 4, grey.shape[1] // 4
            return grey[: rows * 4, : columns * 4].reshape(4, rows, 4, columns).mean(axis=(1, 3)).ravel().tolist()
    """,
    "clip": """
        def clip(value, size=1):
            return min(max(value, -size), size)
    """,
    "sign": """
        def sign(value):
            return 1 if value > 0 else -1
    """,
    "level": """
        def level(u, n):
            return min(int((clip(u) + 1) / 2 * n), n - 1)
    """,
    "Model": '''
        class Model:
            """x_next - x = A x + B u + c, fitted by recursive least squares while the episode runs."""

            def __init__(self, controls):
                self.x, self.u = None, [0] * controls

            def update(self, x):
                if self.x is None:
                    size = len(x) + len(self.u) + 1
                    self.weights, self.spread = np.zeros((size, len(x))), np.eye(size) * 100
                else:
                    seen = np.array([*self.x, *self.u, 1])
                    gain = self.spread @ seen / (1 + seen @ self.spread @ seen)
                    self.weights += np.outer(gain, np.subtract(x, self.x) - seen @ self.weights)
                    self.spread -= np.outer(gain, seen @ self.spread)
                self.x = x

            def toward(self, k, i, target):
                """The k-th control that should bring x[i] to the target in one step, the others held."""
                known = np.array([*self.x, *self.u, 1])
                effect = self.weights[len(self.x) + k, i]
                known[len(self.x) + k] = 0
                missing = target - self.x[i] - known @ self.weights[:, i]
                return clip(missing / effect) if effect else sign(missing)
    ''',
}
_SUPPORT["Map"] = MAP_SOURCE
_CALLS = {"pooled": (), "numbers": (), "difference": ("numbers",), "level": ("clip",), "Model": ("clip", "sign")}


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a task as a controller sees it.

    Attributes:
        features: how many numbers `x` has.
        controls: how many controls `control` returns, one for each number of the action.
        choices: number of actions of a Discrete action space, whose control may instead be one score for each action but
            the last, which scores zero; 0 for other spaces.
        grid: whether the observation holds the cells of a symbolic grid and the actions are choices.
    """

    features: int
    controls: int
    choices: int = 0
    grid: bool = False


def shape_of(public: Mapping[str, Any]) -> Shape:
    """Return the sizes that a task's public information gives.

    Raises:
        ConfigError: if a space is missing, or actions are of a kind that a controller cannot write.
    """
    action = space_of(public, "action_space")
    observation = space_of(public, "obs_space")
    features = sum(len(leaf.centre) for leaf in leaves(observation))
    choices = int(action["n"]) if action["type"] == "Discrete" else 0
    grid = choices > 2 and find_grid(observation) is not None
    return Shape(features, count_controls(action), choices, grid)


def control_source(expressions: Sequence[str]) -> str:
    """Return the source of a `control` function that returns one value per expression."""
    lines = "".join(f"        {expression},\n" for expression in expressions)
    names = ["x", *(name for name in MEMORY if any(_mentions(e, name) for e in expressions))]
    return f"def control({', '.join(names)}):\n    return (\n{lines}    )\n"


def controls_of(control: str) -> list[str]:
    """Return the expressions that a `control` function returns.

    Raises:
        ConfigError: if it is not valid Python.
    """
    tree = parse(control)
    returned = next(node.value for node in ast.walk(tree) if isinstance(node, ast.Return))
    return [ast.unparse(item) for item in returned.elts] if isinstance(returned, ast.Tuple) else []


def find_control(tree: SourceTree, public: Mapping[str, Any]) -> str | None:
    """Return the `control` function of a program that `controller_program` wrote for the same spaces, else None.

    Only its constants and expressions may differ from what was written then: nothing of an author's own is ever lost.
    """
    if POLICY not in tree or len(tree) != 1:
        return None
    source = tree.text(POLICY)
    module = parse(source)
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and node.name == "control" and len(node.body) == 1:
            control = ast.unparse(node) + "\n"
            expressions = controls_of(control)
            if expressions and ast.dump(parse(controller_program(public, control).text(POLICY))) == ast.dump(
                _retitled(module)
            ):
                return control
    return None


def _retitled(module: ast.Module) -> ast.Module:
    """Return a module without the title in its docstring, as `controller_program` gives it by default."""
    first = module.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        first.value.value = f"A controller for{first.value.value.partition(' for')[2]}"
    return module


def controller_program(public: Mapping[str, Any], control: str, title: str = "A controller") -> SourceTree:
    """Return a policy program around a `control` function.

    Args:
        public: the taskset's public information, with `obs_space` and `action_space`.
        control: source of the function, from `control_source`.
        title: first words of the program's docstring.

    Raises:
        ConfigError: if a space is missing, or actions are of a kind that a controller cannot write.
    """
    read = leaves(space_of(public, "obs_space"))
    memory = [name for name in MEMORY if _mentions(control, name)]
    count = len(controls_of(control))
    decide = _decide(public, count)
    support = _support([need for leaf in read for need in leaf.needs], control + decide, memory)
    parts = [_observe(read), *support, control, decide, _policy(public, memory, count)]
    body = "\n\n".join(part.strip("\n") + "\n" for part in parts)
    imports = "\n".join(
        f"import {line}\n" for line, used in (("math", "math."), ("numpy as np", "np.")) if used in body
    )
    heading = f'"""{title} for {public.get("env", "a task")}."""\n\n'
    return SourceTree({POLICY: heading + imports + "\n" + body})


def _mentions(source: str, name: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(ast.parse(source)))


def _support(needs: Sequence[str], body: str, memory: Sequence[str]) -> list[str]:
    wanted = {*needs, "clip"} | {name for name in _SUPPORT if f"{name}(" in body}
    wanted |= {name for letter, name in (("p", "Model"), ("g", "Map")) if letter in memory}
    for name in list(wanted):
        wanted.update(_CALLS.get(name, ()))
    return [textwrap.dedent(text) for name, text in _SUPPORT.items() if name in wanted]


def _observe(read: Sequence[Leaf]) -> str:
    if not read:
        return "def observe(obs):\n    return []\n"
    centre = _row([value for leaf in read for value in leaf.centre])
    scale = _row([value for leaf in read for value in leaf.scale])
    return (
        f"CENTRE = {centre}  # fixed\nSCALE = {scale}  # fixed\n\n\n"
        'def observe(obs):\n    """Flatten an observation into numbers of about unit size."""\n'
        f"    raw = {' + '.join(leaf.expression for leaf in read)}\n"
        "    return [clip((v - c) * s, 10) for v, c, s in zip(raw, CENTRE, SCALE)]\n"
    )


def _row(values: Sequence[float]) -> str:
    if len(values) > 1 and len(set(values)) == 1:
        return f"({values[0]:.8g},) * {len(values)}"
    return "(" + ", ".join(f"{v:.8g}" for v in values) + (",)" if len(values) == 1 else ")")


def _decide(public: Mapping[str, Any], count: int) -> str:
    action = space_of(public, "action_space")
    if action["type"] == "Discrete" and count > 1:
        start = int(action.get("start", 0))
        doc = "Take the action that scores best; the last one scores zero."
        body = f"scores = [*u, 0]\n    return {f'{start} + ' if start else ''}scores.index(max(scores))"
    else:
        doc = "Turn controls in [-1, 1] into an action."
        body = f"return {action_expression(action)}  # fixed"
    return f'def decide(u):\n    """{doc}"""\n    {body}\n'


def _policy(public: Mapping[str, Any], memory: Sequence[str], controls: int) -> str:
    """Return the class that keeps what `control` remembers from one step to the next."""
    grid, choices = find_grid(space_of(public, "obs_space")), space_of(public, "action_space").get("n")
    start = {
        "d": "self.last = None",
        "m": "self.mean = None",
        "t": "self.t = 0",
        "p": f"self.model = Model({controls})",
        "g": f"self.map = Map({choices})",
    }
    before = {
        "d": ["d = [a - b for a, b in zip(x, self.last or x)]", "self.last = x"],
        "m": ["self.mean = m = [0.9 * a + 0.1 * b for a, b in zip(self.mean or x, x)]  # fixed"],
        "t": ["t = self.t", "self.t += 1"],
        "p": ["p = self.model", "p.update(x)"],
        "g": ["g = self.map", f"g.look({grid})"],
    }
    reset = [start[name] for name in memory] or ["pass"]
    act = ["x = observe(obs)", *(line for name in memory for line in before[name])]
    call = f"control({', '.join(['x', *memory])})"
    if "p" in memory:
        act += [f"p.u = [clip(u) for u in {call}]", "return decide(p.u)"]
    else:
        act.append(f"return decide({call})")
    indent = "\n        "
    return (
        "class Policy:\n    def __init__(self, obs_space, action_space, env_meta):\n        self.reset(0)\n\n"
        f"    def reset(self, episode_index):\n        {indent.join(reset)}\n\n"
        f"    def act(self, obs):\n        {indent.join(act)}\n"
    )
