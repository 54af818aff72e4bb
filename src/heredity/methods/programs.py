"""Controllers as source: an evolvable `control` function between parts determined by the task's spaces.

A program is `observe` (observation to numbers of about unit size), `control` (numbers to controls in [-1, 1]), `decide`
(controls to an action) and the memory that `control` requests by its parameter names:

    x   the scaled observation            m   moving averages of it (over about ten steps)
    d   its change since the last step    t   steps taken so far
    p   a linear model of the task, fitted while the episode runs (see `Model`)
    g   a map of the cells seen so far (see `heredity.methods.programs`)
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heredity.engine.space_numbers import POLICY, Leaf, action_expression, count_controls, find_grid, leaves, space_of
from heredity.methods.operators.constants import parse
from heredity.resources import SourceTree

MAP_SOURCE = '''
class Map:
    """Cells remembered relative to the start; plans by breadth-first search to what is unknown."""

    AROUND = ((0, -1), (1, 0), (0, 1), (-1, 0))

    def __init__(self, actions):
        self.actions, self.cells, self.place, self.heading = actions, {}, (0, 0), 0
        self.walkable, self.useless, self.target, self.tries = set(), set(), None, 0
        self.aside, self.stuck = set(), 0
        self.view = self.held = self.last = None

    def look(self, view):
        """Learn from the view what the last action did, and remember the cells in it."""
        view = np.asarray(view)
        columns, rows = view.shape[:2]
        own = tuple(view[columns // 2, rows - 1].tolist())
        if self.view is None:
            self.floor = own
            self.walkable.add(own)
        elif self.last is not None:
            self.follow(*self.last, changed=not np.array_equal(view, self.view))
        released = self.last is not None and self.last[0] == "free" and own != self.held
        if own != self.held:
            self.useless.clear()
        self.view, self.held, self.last = view, own, None
        forward, right = self.AROUND[self.heading], self.AROUND[(self.heading + 1) % 4]
        for i in range(columns):
            for j in range(rows):
                code, a, b = tuple(view[i, j].tolist()), rows - 1 - j, i - columns // 2
                if code[0]:
                    at = (self.place[0] + a * forward[0] + b * right[0], self.place[1] + a * forward[1] + b * right[1])
                    self.cells[at] = code
        self.cells[self.place] = self.floor
        if released:
            self.aside.add(self.cells.get((self.place[0] + forward[0], self.place[1] + forward[1])))

    def follow(self, kind, value, size, changed):
        if kind == "turn":
            self.heading = (self.heading + value) % 4
        elif kind == "free":
            self.tries = 0
        elif kind == "walk" or (changed and self.tries == 0):
            self.walkable.add(self.cells[value])
            self.place = value
        elif changed:
            self.tries = 0
        else:
            self.tries += 1
            if self.tries >= size:
                self.useless.add(self.cells[value])
                self.tries = 0

    def search(self):
        """The cell to go to and what to face there: the nearest thing not understood, else the nearest place not seen."""
        queue, before, unseen = [self.place], {self.place: None}, None
        for cell in queue:
            for x, y in self.AROUND:
                other = (cell[0] + x, cell[1] + y)
                code = self.cells.get(other)
                if code in self.walkable:
                    if other not in before:
                        before[other] = cell
                        queue.append(other)
                elif code is None:
                    unseen = unseen or (cell, other)
                elif code not in self.useless and code not in self.aside:
                    return cell, other, before
        return (*unseen, before) if unseen else (None, None, before)

    def seek(self, left, right, ahead, uses):
        """The control of the next action: turn left or right, go ahead, or one of the uses on what is in front."""
        return (2 * self.step(left, right, (ahead, *uses)) + 1) / self.actions - 1

    def step(self, left, right, uses):
        cell, other, before = self.search()
        if cell is None:
            number = self.stuck % len(uses)
            self.stuck += 1
            if number == len(uses) - 1:
                self.last = ("turn", -1, 0)
                if self.stuck % (4 * len(uses)) == 0:
                    self.useless.clear()
                return left
            self.last = ("free", None, 0)
            return uses[number + 1]
        if other != self.target:
            self.target, self.tries = other, 0
        towards = other
        while cell != self.place:
            cell, towards = before[cell], cell
        turn = (self.AROUND.index((towards[0] - cell[0], towards[1] - cell[1])) - self.heading) % 4
        if turn:
            self.last = ("turn", -1 if turn == 3 else 1, 0)
            return left if turn == 3 else right
        if towards not in self.cells:
            self.cells[towards] = ()
            return self.step(left, right, uses)
        self.last = ("walk" if towards != other else "use", towards, len(uses))
        return uses[0] if towards != other else uses[min(self.tries, len(uses) - 1)]
'''


MEMORY = ("d", "m", "t", "p", "g")
"""Parameter names with which `control` requests memory."""

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
        features: number of numbers in `x`.
        controls: number of controls that `control` returns, one per number of the action.
        choices: number of actions of a Discrete action space; 0 for other spaces. `control` may then return one score
            per action except the last, which scores zero.
        grid: whether the observation holds the cells of a symbolic grid and the actions are choices.
    """

    features: int
    controls: int
    choices: int = 0
    grid: bool = False


def shape_of(public: Mapping[str, Any]) -> Shape:
    """Return the sizes given by a task's public information.

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

    Only constants and expressions may differ from the generated program, so an author's own code is never lost.
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
    """Return a module with the default title of `controller_program` in its docstring."""
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
    """Return the source of the class that holds `control`'s memory between steps."""
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
