"""Structural search: islands of controllers that change their syntax trees."""

from __future__ import annotations

import ast
import asyncio
import copy
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from pydantic import Field

from heredity._core.errors import ConfigError
from heredity._core.ids import generator
from heredity._core.outside import python_tree
from heredity.methods.contract import EvolverContext, SessionContract
from heredity.methods.operators.constants import find_constants, literal, rewrite_constants
from heredity.methods.operators.draw import jitter, survivors, tournament
from heredity.methods.operators.evaluate import Evaluator, Proposal, episodes_per_candidate, until_closed
from heredity.methods.programs import Shape, control_source, controller_program, controls_of, find_control, shape_of
from heredity.methods.registry import MethodOptions, parse_options
from heredity.resources import Candidate

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


def _vocabulary_feature(rng: np.random.Generator, shape: Shape) -> int:
    return int(rng.integers(shape.features))


def _linear(rng: np.random.Generator, shape: Shape, control: int) -> str:
    count = min(int(rng.integers(1, 4)), shape.features)
    chosen = sorted(int(i) for i in rng.choice(shape.features, size=count, replace=False))
    return " + ".join(f"{_number(rng)} * x[{i}]" for i in chosen)


def _bang(rng: np.random.Generator, shape: Shape, control: int) -> str:
    return f"sign({_linear(rng, shape, control)})"


def _pd(rng: np.random.Generator, shape: Shape, control: int) -> str:
    i, j = _vocabulary_feature(rng, shape), _vocabulary_feature(rng, shape)
    return f"{_number(rng)} * ({_setpoint(rng)} - x[{i}]) - {_number(rng)} * x[{j}]"


def _pump(rng: np.random.Generator, shape: Shape, control: int) -> str:
    i, j, k = (_vocabulary_feature(rng, shape) for _ in range(3))
    return f"{_number(rng)} * x[{i}] * x[{j}] + {_number(rng)} * x[{k}]"


def _blend(rng: np.random.Generator, shape: Shape, control: int) -> str:
    count = int(rng.integers(2, 5))
    return " + ".join(draw_term(rng, shape) for _ in range(count))


def draw_term(rng: np.random.Generator, shape: Shape) -> str:
    """Draw a weighted feature or, more rarely the more products there are, a weighted product of two features."""
    if not shape.features:
        return _phase_alone(rng)
    if shape.features == 1 or rng.random() > 1 / max(shape.features - 1, 2):
        return f"{_number(rng)} * x[{_vocabulary_feature(rng, shape)}]"
    i, j = (int(k) for k in rng.choice(shape.features, size=2, replace=False))
    return f"{_number(rng)} * x[{i}] * x[{j}]"


def _tree(rng: np.random.Generator, shape: Shape, control: int) -> str:
    leaf = {"linear": 2.0, "bang": 2.0, "pd": 1.0, "pump": 1.0}
    then, other = (draw_piece(rng, shape, control, leaf) for _ in range(2))
    return f"({then}) if x[{_vocabulary_feature(rng, shape)}] > {_setpoint(rng)} else ({other})"


def _damped(rng: np.random.Generator, shape: Shape, control: int) -> str:
    i = _vocabulary_feature(rng, shape)
    return f"{_number(rng)} * ({_setpoint(rng)} - x[{i}]) - {_number(rng)} * d[{i}]"


def _average(rng: np.random.Generator, shape: Shape, control: int) -> str:
    i = _vocabulary_feature(rng, shape)
    return f"{_number(rng)} * (x[{i}] - m[{i}]) + {_linear(rng, shape, control)}"


def _phase(rng: np.random.Generator, shape: Shape, control: int) -> str:
    return f"{_phase_alone(rng)} + {_linear(rng, shape, control)}"


def _phase_alone(rng: np.random.Generator) -> str:
    period = 4 * math.exp(rng.uniform(0, math.log(20)))
    return f"{_gain(rng)} * math.sin({literal(2 * math.pi / period)} * t + {literal(rng.uniform(0, 2 * math.pi))})"


def _planner(rng: np.random.Generator, shape: Shape, control: int) -> str:
    return f"p.toward({control}, {_vocabulary_feature(rng, shape)}, {_setpoint(rng)})"


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


MAX_NODES = 40
"""Maximum exchangeable places of a control; larger ones are unreadable and rejected."""

_WHOLE = (ast.GeneratorExp, ast.Tuple, ast.List)


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a tree that holds a scalar expression."""

    parent: ast.AST
    field: str
    index: int | None = None

    @property
    def node(self) -> ast.expr:
        """The expression at this place."""
        value = getattr(self.parent, self.field)
        return value if self.index is None else value[self.index]

    def put(self, node: ast.expr) -> None:
        """Replace the expression at this place."""
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


def parse_expression(text: str) -> ast.Expression:
    """Return the syntax tree of one expression.

    Raises:
        ConfigError: if it is not one.
    """
    try:
        return python_tree(text, "eval", shallow=True)
    except ValueError as error:
        raise ConfigError(f"{text[:80]!r} is not an expression: {error}; give one that Python accepts") from error


def slots(tree: ast.Expression) -> list[Slot]:
    """Return every place that holds a scalar, the whole expression first.

    Excludes indices, functions and the inside of comprehensions, whose meaning depends on their place.
    """
    return list(_slots(Slot(tree, "body")))


def size(text: str) -> int:
    """Return the number of exchangeable places in an expression."""
    return len(slots(parse_expression(text)))


def _slots(slot: Slot) -> Iterator[Slot]:
    yield slot
    node = slot.node
    match node:
        case ast.BinOp():
            inner = [Slot(node, "left"), Slot(node, "right")]
        case ast.UnaryOp():
            inner = [] if isinstance(node.operand, ast.Constant) else [Slot(node, "operand")]
        case ast.IfExp():
            inner = [Slot(node, "body"), Slot(node, "orelse")]
            if isinstance(node.test, ast.Compare):
                inner += [Slot(node.test, "left"), Slot(node.test, "comparators", 0)]
        case ast.Call():
            numbers = [i for i, a in enumerate(node.args) if not (isinstance(a, ast.Constant) and type(a.value) is int)]
            inner = [Slot(node, "args", i) for i in numbers if not isinstance(node.args[i], _WHOLE)]
        case _:
            inner = []
    for child in inner:
        yield from _slots(child)


Niche = Mapping[str, float]
Mutation = Callable[[np.random.Generator, str, Shape, int, Niche], str]

_MUTATE_ATTEMPTS = 8
_INDEXED = ("x", "d", "m")


def mutate(rng: np.random.Generator, controls: Sequence[str], shape: Shape, niche: Niche) -> tuple[list[str], str]:
    """Mutate one control, or the constants of all of them.

    Args:
        rng: source of randomness.
        controls: the expressions that `control` returns.
        shape: sizes of the task.
        niche: pieces that new parts are drawn from.

    Returns:
        The new expressions and the name of the mutation. If a few attempts find nothing new, fresh ones are drawn.
    """
    # A program with one constant has little to tune; it lacks structure.
    tunable = sum(len(find_constants(text)) for text in controls)
    names, chances = (
        list(MUTATIONS),
        np.array([min(_CHANCES[name], tunable if name == "constants" else 99) for name in MUTATIONS]),
    )
    for _ in range(_MUTATE_ATTEMPTS):
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
"""Mutations by name."""
_CHANCES = {"constants": 5, "replace": 1, "add": 1, "term": 3, "gate": 1, "hoist": 1, "feature": 1, "flip": 1}


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
    """Return the decisions of controls on each probe; None if they contain more than the vocabulary's plain expressions.

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


_CROSSOVER_ATTEMPTS = 8


def crossover(rng: np.random.Generator, controls: Sequence[str], donor: Sequence[str]) -> list[str]:
    """Return `controls` with one subtree replaced by one of the donor's.

    Args:
        rng: source of randomness.
        controls: expressions of the parent that is changed.
        donor: expressions of the donor parent; their number may differ.
    """
    for _ in range(_CROSSOVER_ATTEMPTS):
        changed = list(controls)
        k = int(rng.integers(len(changed)))
        # Take the donor's same control if it exists: controls are not interchangeable.
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
    """Retarget the planners in an expression to its new control."""
    tree = parse_expression(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "toward":
            node.args[0] = ast.Constant(control)
    return ast.unparse(tree)


_ATTEMPTS = 12


class StructuralOptions(MethodOptions):
    """Options of structural search."""

    candidates: int = Field(42, ge=2, le=10_000, description="programs to try; the budget is shared among them")
    islands: int = Field(3, ge=1, le=64, description="populations that breed separately")
    founders: int = Field(7, ge=1, le=1_000, description="initial programs of each island")
    members: int = Field(3, ge=1, le=1_000, description="programs that an island keeps")
    brood: int = Field(3, ge=1, le=1_000, description="offspring of an island in one round")
    migrate: int = Field(2, ge=0, le=1_000, description="rounds between migrations; 0 for none")
    crossover: float = Field(0.25, ge=0, le=1, description="probability that an offspring has two parents")


@dataclass(slots=True)
class _Member:
    """A surviving program and its mean score over its rounds, each corrected for task difficulty."""

    controls: tuple[str, ...]
    proposal: Proposal
    score: float
    rounds: int = 1

    @property
    def digest(self) -> str:
        return self.proposal.candidate.digest

    def add(self, score: float) -> None:
        self.rounds += 1
        self.score += (score - self.score) / self.rounds


@dataclass(slots=True)
class _Child:
    """A program of a brood; `member` is set for an existing program that is evaluated again."""

    controls: list[str]
    proposal: Proposal
    member: _Member | None = None


@dataclass
class _Island:
    niche: Mapping[str, float]
    rng: np.random.Generator
    members: list[_Member] = field(default_factory=list[_Member])

    @property
    def best(self) -> _Member | None:
        return max(self.members, key=lambda m: m.score, default=None)

    def keep(self, count: int) -> None:
        self.members = survivors(self.members, [m.score for m in self.members], count)


class Structural:
    """Evolves the syntax trees of controllers by mutation and crossover, on islands with migration.

    The pieces are those of the vocabulary. Each island draws founders from a separate niche of the vocabulary. In each
    round all islands submit their best again and a brood, concurrently and on the same train tasks. Tasks are new in
    every round, so selection does not favour lucky starts. The change in the best programs' scores measures task
    difficulty and is subtracted. An offspring must decide differently from its parent on some random observation. Every
    few rounds the best of each island joins the next one. An initial program whose `control` function has the form of
    `heredity.methods.programs` is a founder on every island.
    """

    name = "structural"
    options_model = StructuralOptions
    asks_model = False

    async def evolve(self, session: SessionContract, context: EvolverContext) -> None:
        """Evolve until the budget is exhausted.

        Raises:
            ConfigError: if an option or a space is invalid, or the initial program is not valid Python.
        """
        options = parse_options(StructuralOptions, self.name, context.options)
        search = _Search(Evaluator(session, context, self.name), context, options)
        with until_closed():
            await search.round([search.founders(island) for island in search.islands], 0)
            number = 1
            while not search.evaluator.exhausted:
                await search.round([search.offspring(island) for island in search.islands], number)
                if options.migrate and number % options.migrate == 0:
                    search.migrate()
                number += 1


class _Search:
    def __init__(self, evaluator: Evaluator, context: EvolverContext, options: StructuralOptions) -> None:
        self.evaluator, self.options = evaluator, options
        self._public: Mapping[str, Any] = context.taskset.public
        self._shape: Shape = shape_of(self._public)
        self._episodes = episodes_per_candidate(evaluator.total, options.candidates)
        self._probes = probes(generator(context.seed, "method", Structural.name, "probes"), self._shape)
        given = find_control(context.initial.agent, self._public) if "agent" in context.initial.parts else None
        self._given = controls_of(given) if given else None
        self.islands = [
            _Island(NICHES[i % len(NICHES)], generator(context.seed, "method", Structural.name, i))
            for i in range(options.islands)
        ]

    def founders(self, island: _Island) -> list[_Child]:
        """Draw an island's first programs."""
        drawn = [draw_controls(island.rng, self._shape, island.niche) for _ in range(self.options.founders)]
        children = [self._child(controls, (), "founder") for controls in drawn]
        if self._given:
            children[0] = self._child(self._given, (), "the initial program")
        return children

    def offspring(self, island: _Island) -> list[_Child]:
        """Breed an island's next brood."""
        if not island.members:
            return self.founders(island)[: self.options.brood]
        best = island.best
        again = (
            [_Child(list(best.controls), replace(best.proposal, note="best of its island, again"), best)]
            if best
            else []
        )
        return [*again, *(self._offspring(island) for _ in range(self.options.brood))]

    def _offspring(self, island: _Island) -> _Child:
        rng, scores = island.rng, [m.score for m in island.members]
        parent = island.members[tournament(rng, scores, 3)]
        if len(island.members) > 1 and rng.random() < self.options.crossover:
            donor = island.members[tournament(rng, scores)]
            controls = crossover(rng, parent.controls, donor.controls)
            if self._differs(controls, parent.controls):
                parents = tuple(dict.fromkeys((parent.digest, donor.digest)))
                return self._child(controls, parents, "crossover")
        controls, name = mutate(rng, parent.controls, self._shape, island.niche)
        for _ in range(_ATTEMPTS):
            if self._differs(controls, parent.controls):
                break
            controls, name = mutate(rng, parent.controls, self._shape, island.niche)
        return self._child(controls, (parent.digest,), f"mutation: {name}")

    def _differs(self, controls: Sequence[str], parent: Sequence[str]) -> bool:
        if list(controls) == list(parent):
            return False
        one, other = (behaviour(expressions, self._shape, self._probes) for expressions in (controls, parent))
        return one is None or other is None or one != other

    async def round(self, broods: list[list[_Child]], number: int) -> None:
        """Evaluate the broods of all islands concurrently and keep the best."""
        # Most founders are hopeless, and a few episodes show it.
        episodes = self._episodes if number else max(1, 2 * self._episodes // 3)
        tasks = self.evaluator.tasks(episodes, first=number * self._episodes)
        requests = [self.evaluator.reserve([c.proposal for c in brood], tasks) for brood in broods]
        answers = await asyncio.gather(*(self.evaluator.run(request) for request in requests))
        pairs = [
            (island, child, result.mean)
            for island, brood, results in zip(self.islands, broods, answers, strict=True)
            for child, result in zip(brood, results, strict=False)
            if result.tasks == tasks
        ]
        repeated = [(score, child.member.score) for _, child, score in pairs if child.member]
        finite = [score - before for score, before in repeated if np.isfinite(score) and np.isfinite(before)]
        hardness = float(np.mean(finite)) if finite else 0.0
        for island, child, score in pairs:
            if child.member:
                child.member.add(score - hardness)
            else:
                island.members.append(_Member(tuple(child.controls), child.proposal, score - hardness))
        for island in self.islands:
            island.keep(self.options.members)

    def migrate(self) -> None:
        """Let the best of each island join the next one, around a ring."""
        travellers = [island.best for island in self.islands]
        for traveller, target in zip(travellers, [*self.islands[1:], self.islands[0]], strict=True):
            if traveller is not None and traveller.digest not in {m.digest for m in target.members}:
                target.members.append(replace(traveller))
                target.keep(self.options.members)

    def _child(self, controls: list[str], parents: tuple[str, ...], note: str) -> _Child:
        tree = controller_program(self._public, control_source(controls))
        return _Child(controls, Proposal(Candidate.program(tree), parents, note))
