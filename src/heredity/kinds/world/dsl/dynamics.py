"""Worlds in rules: `Dynamics` compiled once and executed at the speed of Python, and `Levels` drawn by their generator.

Levels are bounded and solved by search unless the rules define both.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from heredity._core.errors import ConfigError, RefusedError
from heredity._core.ids import canonical_json
from heredity.kinds.world.contract import MAX_STEPS, Action, Dynamics, LevelData, Levels, Outcome, UpperBound
from heredity.kinds.world.description import Description, Parameter
from heredity.kinds.world.dsl import language
from heredity.kinds.world.dsl.bounded import (
    CHECKED,
    MAX_LEVEL_PASSES,
    PLAIN,
    Allowance,
    HookError,
    Making,
    RejectedError,
    RuleError,
    Turn,
    fitting,
    frozen,
    spending,
    thawed,
    weight,
)
from heredity.kinds.world.dsl.functions import FUNCTIONS
from heredity.kinds.world.dsl.language import Rule, Scope
from heredity.kinds.world.dsl.schema import Rules

if TYPE_CHECKING:
    from heredity.kinds.world.dsl.hooks import Hooks

_COUNTED = """
__turn.passes -= {}
if __turn.passes < 0: __turn.count(0)
"""
"""First statement of a function."""


def link(
    rules: Mapping[str, Rule],
    constants: Mapping[str, Any],
    fits: Mapping[str, Callable[[Any], Any]],
    hooks: Mapping[str, Callable[..., Any]],
) -> dict[str, Callable[..., Any]]:
    """Compile rules that may call each other by name; each takes the state, the level, the turn, and its parameters.

    Args:
        rules: by name; those of functions are `functions.NAME`.
        constants: by name.
        fits: by state variable, a function that returns a valid value and raises for others.
        hooks: Python functions by name, which take the turn first.

    Raises:
        ConfigError: if functions are recursive, directly or indirectly.
    """
    _check_order(rules)
    space: dict[str, Any] = {"__builtins__": {}, **CHECKED}
    space.update({f"__b_{name}": function for name, function in FUNCTIONS.items()})
    space.update({f"__k_{name}": value for name, value in constants.items()})
    space.update({f"__fit_{name}": fit for name, fit in fits.items()})
    space.update({f"__hook_{name}": hook for name, hook in hooks.items()})
    names = {key: f"__f_{number}" for number, key in enumerate(rules)}
    for key, rule in rules.items():
        tree = rule.tree
        tree.name = names[key]
        # Chains of functions that call two each grow exponentially; functions without calls are counted with their callers.
        if key.startswith("functions.") and rule.calls:
            tree.body[:0] = ast.parse(_COUNTED.format(1 + sum(1 for _ in ast.walk(tree)) // 20)).body
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id.startswith("__own_"):
                node.id = names["functions." + node.id.removeprefix("__own_")]
        module = ast.fix_missing_locations(ast.Module([tree], []))
        try:
            exec(compile(module, f"<{rule.path}>", "exec"), space)  # Every node was checked.
        except (SyntaxError, RecursionError, MemoryError) as error:
            line = f", line {error.lineno}" if isinstance(error, SyntaxError) else ""
            raise ConfigError(f"{rule.path}{line}: {getattr(error, 'msg', error)}") from error
    return {key: space[name] for key, name in names.items()}


def _check_order(rules: Mapping[str, Rule]) -> None:
    done: set[str] = set()

    def visit(key: str, way: tuple[str, ...]) -> None:
        if key in way:
            raise ConfigError(
                f"{key} calls itself, through {' and '.join(way[way.index(key) :])}; loops go through lists only"
            )
        if key not in done:
            for called in sorted(rules[key].calls):
                visit("functions." + called, (*way, key))
            done.add(key)

    for key in rules:
        visit(key, ())


FAILURES = (
    RuleError,
    TypeError,
    ValueError,
    LookupError,
    ArithmeticError,
    AttributeError,
    NameError,
    RecursionError,
    MemoryError,
)
"""Exceptions that a failing rule may raise."""


class State:
    """The variables of a world, by name; values are immutable, so a copy is cheap and hashable."""

    __slots__ = ("__dict__", "level")

    def __init__(self, level: Mapping[str, Any], values: Mapping[str, Any] | None = None) -> None:
        self.level = level
        self.__dict__.update(values or {})

    def __deepcopy__(self, memo: object) -> State:
        return State(self.level, self.__dict__)


class Compiled:
    """The rules of a description, checked and compiled.

    Attributes:
        run: a function for each rule: `state.NAME`, `actions.NAME`, `refused`, `observe`, `finish`, `levels.make` and
            so on.
        matters: variables of the state that affect the future; the others are only displayed.
        hooks: its Python functions, which have not run yet (None without any).

    Args:
        description: of the world.
        rules: its rules.
        folder: the world's folder, needed by its hooks.

    Raises:
        ConfigError: if a rule is not in the language, or uses an unknown name; the message has path and line.
    """

    def __init__(self, description: Description, rules: Rules, folder: Path | None = None) -> None:
        self.description, self.rules = description, rules
        constants = {name: frozen(value, f"rules.constants.{name}") for name, value in rules.constants.items()}
        self._check_names(description, rules)
        takes = {name: function.takes for name, function in rules.functions.items()}
        hooks = {name: (hook.takes, hook.reads) for name, hook in rules.hooks.items()}
        variables = frozenset(rules.state)
        fixed = frozenset(name for name, variable in rules.state.items() if variable.fixed)
        acting = Scope(variables, fixed, frozenset(constants), takes, hooks, frozenset({"level"}))
        making = replace(acting, state=frozenset(), fixed=frozenset(), draws=True)
        made: dict[str, Rule] = {}
        for name, function in rules.functions.items():
            path = f"rules.functions.{name}"
            made[f"functions.{name}"] = language.statements(function.do, path, acting, function.takes, effects=False)
        states: set[str] = set()
        for name, variable in rules.state.items():
            scope = replace(acting, state=frozenset(states), fixed=frozenset())
            made[f"state.{name}"] = language.expression(variable.start, f"rules.state.{name}.start", scope)
            states.add(name)
        for name, text in rules.actions.items():
            parameters = tuple(description.actions[name].params)
            made[f"actions.{name}"] = language.statements(text, f"rules.actions.{name}", acting, parameters)
        passing = replace(acting, refuses=False)
        made["after"] = language.statements(rules.after, "rules.after", passing)
        made["refused"] = language.statements(rules.refused, "rules.refused", passing)
        made["observe"] = self._observing(rules, acting)
        if rules.finish:
            made["finish"] = language.expression(rules.finish, "rules.finish", acting)
        levels = rules.levels
        made["levels.make"] = language.statements(
            levels.make, "rules.levels.make", replace(making, names=frozenset()), ("difficulty",), effects=False
        )
        if levels.bound is not None:
            made["levels.bound"] = language.expression(levels.bound.value, "rules.levels.bound.value", making)
        if levels.solve is not None:
            made["levels.solve"] = language.statements(levels.solve, "rules.levels.solve", making, (), effects=False)
        self.matters = _mattering(made, rules)
        self.hooks = _hooks(rules, folder)
        fits = {name: fitting(name, v) for name, v in rules.state.items()}
        self.run = link(made, constants, fits, self.hooks.functions() if self.hooks else {})

    @staticmethod
    def _observing(rules: Rules, scope: Scope) -> Rule:
        """Return the statements of `let`, followed by a table of the observed values."""
        shown = ", ".join(f"{name!r}: ({text.strip()})" for name, text in rules.observe.items())
        rule = language.statements(f"{rules.let}\nreturn {{{shown}}}", "rules.observe", scope, effects=False)
        last = rule.tree.body[-1]
        if isinstance(last, ast.Return) and isinstance(last.value, ast.Call):
            last.value = last.value.args[0]  # Each of its values is limited, and the table is not used further.
        return rule

    @staticmethod
    def _check_names(description: Description, rules: Rules) -> None:
        for what, one, other in (
            ("rules.actions lacks", description.actions, rules.actions),
            ("actions lacks", rules.actions, description.actions),
        ):
            lacking = [name for name in one if name not in other]
            if lacking:
                raise ConfigError(f"{what} {', '.join(lacking)}; describe every action, and give each its rule")
        taken = {"level", "difficulty", *FUNCTIONS, *language.EFFECTS}
        names = [*rules.state, *rules.functions, *rules.hooks]
        for name in names:
            if name in taken or names.count(name) > 1:
                raise ConfigError(f"rules: the name {name!r} is taken; give another")

    def follow(self, rule: str, state: Any, level: Any, turn: Turn, *values: Any) -> Any:
        """Execute a rule.

        Raises:
            RuleError: if it fails; the message names the rule.
        """
        try:
            return self.run[rule](state, level, turn, *values)
        except FAILURES as error:
            raise self.fault(rule, error) from error

    def fault(self, rule: str, error: Exception) -> RuleError:
        """Return an error that names the failed rule."""
        reason = f"there is no {error} in it" if isinstance(error, KeyError) else str(error)
        if isinstance(error, HookError):
            return type(error)(f"{self.description.meta.name}: rules.{rule}: {reason[:400]}", error.traceback)
        remedy = "" if isinstance(error, RuleError) else "; correct that rule"
        return RuleError(f"{self.description.meta.name}: rules.{rule}: {reason[:200]}{remedy}")


class RulesDynamics(Dynamics[State]):
    """A world's dynamics from its rules."""

    def __init__(self, compiled: Compiled) -> None:
        self.compiled, self._run = compiled, compiled.run
        self._acts = {name: compiled.run[f"actions.{name}"] for name in compiled.rules.actions}
        self._passes, self._goes_on = bool(compiled.rules.refused), bool(compiled.rules.after)
        self.hooks = compiled.hooks

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level.

        Raises:
            ConfigError: if the level is not a table of valid values, or its `steps` are not a horizon.
        """
        turn, data = Turn(), frozen(level, "the level")
        if not isinstance(data, dict):
            raise ConfigError(f"the level is {data!r:.60}; expected a table")
        checked_steps(data)
        state = State(data)
        for name, variable in self.compiled.rules.state.items():
            value = self.compiled.follow(f"state.{name}", state, data, turn)
            try:
                setattr(state, name, fitting(name, variable)(value))
            except RuleError as error:
                raise RuleError(f"{self.compiled.description.meta.name}: rules.state.{name}.start: {error}") from error
        return state

    def act(self, state: State, action: Action, turn: Turn | None = None) -> Outcome:
        """Execute an action's rule; pass `turn` to receive its counts."""
        turn = turn or Turn()
        try:
            self._acts[action.name](state, state.level, turn, *action.params.values())
        except FAILURES as error:
            raise self.compiled.fault(f"actions.{action.name}", error) from error
        if self._goes_on and not turn.done:
            self.compiled.follow("after", state, state.level, turn)
        return Outcome(float(turn.reward), turn.done, turn.message)

    def refuse(self, state: State) -> Outcome:
        """Let time pass."""
        if not self._passes:
            return Outcome()
        turn = Turn()
        self.compiled.follow("refused", state, state.level, turn)
        return Outcome(float(turn.reward), turn.done, turn.message)

    def finish(self, state: State) -> float:
        """Return the payment at the horizon."""
        paid = self.compiled.follow("finish", state, state.level, Turn()) if "finish" in self._run else 0.0
        return float(paid)

    def observe(self, state: State) -> dict[str, Any]:
        """Return the exposed values, as JSON values."""
        try:
            return thawed(self._run["observe"](state, state.level, Turn()))
        except FAILURES as error:
            raise self.compiled.fault("observe", error) from error


def _hooks(rules: Rules, folder: Path | None) -> Hooks | None:
    if not rules.hooks:
        return None
    if folder is None:
        raise ConfigError("rules.hooks are files next to the world.yaml; open the world as a folder")
    from heredity.kinds.world.dsl.hooks import Hooks

    return Hooks(folder, rules.hooks)


def checked_steps(level: Mapping[str, Any]) -> None:
    """Raise if a level's own horizon is invalid.

    Raises:
        ConfigError: if its `steps` is not an integer from 1 to 1000.
    """
    steps = level.get("steps", 1)
    if type(steps) is not int or not 1 <= steps <= MAX_STEPS:
        raise ConfigError(f"steps of the level is {steps!r:.60}; expected a whole number from 1 to {MAX_STEPS}")


def _mattering(made: Mapping[str, Rule], rules: Rules) -> tuple[str, ...]:
    waiting = [
        "refused",
        "after",
        *(f"actions.{name}" for name in rules.actions),
        *(["finish"] if rules.finish else []),
    ]
    seen: set[str] = set()
    while waiting:
        rule = waiting.pop()
        if rule not in seen:
            seen.add(rule)
            waiting += [f"functions.{name}" for name in made[rule].calls]
    read = {name for rule in seen for name in made[rule].reads}
    return tuple(name for name, variable in rules.state.items() if name in read and not variable.fixed)


MOST_ACTIONS = 400
"""Maximum number of different actions in a search."""

MOST_HOOKED = 10_000
"""Maximum number of states in a search if rules call hooks."""

SEARCH_WORK = 1_000_000_000
"""Work limit of a search: passes of rules, plus `ACTION_WORK` per action. A search stops there."""

ACTION_WORK = 50

SEARCH_S = 60.0
"""CPU seconds that hooks may use in a search."""

SEARCH_WEIGHT = 400_000_000
"""Approximate memory limit for the states of a search, in bytes."""

_INDUCTION, _VALUES = 2_000_000_000, 20_000_000
"""Maximum number of sums and values in the backward computation from the horizon."""

Plan = tuple[float, list[Action], Literal["exact", "declared"]]


@dataclass(slots=True)
class Work:
    """Remaining work of several searches; see `SEARCH_WORK`."""

    left: int


@dataclass(frozen=True, slots=True)
class _Way:
    """The result of an action (by number): another state, or the end (None)."""

    action: int
    to: int | None
    reward: float


def search(
    description: Description, dynamics: RulesDynamics, level: LevelData, most: int = 0, work: Work | None = None
) -> Plan:
    """Search for the actions that collect most within the horizon; in a binary world, for the fewest that succeed.

    States are the same if they agree in everything that the rules depend on; time is not part of them. The search is
    exact if at most `most` states can be reached (by default `levels.most`, fewer with hooks, many actions and a
    distant horizon), and executing actions takes at most `SEARCH_WORK`. Otherwise it prefers states that have collected
    most.

    Raises:
        ConfigError: if actions cannot be listed: a parameter is a text or a fractional number, or there are too many.
        RuleError: if all searches that share `work` exceed it, or hooks exceed `SEARCH_S`.
    """
    with spending(Allowance(SEARCH_S)):
        return _searched(description, dynamics, level, most, work or Work(SEARCH_WORK))


def _searched(description: Description, dynamics: RulesDynamics, level: LevelData, most: int, work: Work) -> Plan:
    checked_steps(level)
    horizon, actions = level.get("steps", description.max_steps), listed_actions(description)
    most = most or dynamics.compiled.rules.levels.most
    if dynamics.hooks is not None:
        most = min(most, MOST_HOOKED)
    most = min(most, _INDUCTION // (horizon * (len(actions) + 1)), _VALUES // horizon)
    graph = _Graph(dynamics, actions, level, most)
    for t in range(horizon):
        more = graph.grow(horizon - t)
        if graph.won is not None:
            return 1.0, graph.back(), "exact"
        if not more:
            break
    work.left -= SEARCH_WORK - graph.work
    if work.left < 0:
        raise RuleError(
            "the search for a level exceeds its work limit; make levels smaller, or call `solution` less often"
        )
    value, plan = graph.best(horizon)
    return value, plan, "exact" if graph.complete else "declared"


def hashable(value: Any) -> Any:
    """Return a list or a table of a state as a hashable key; equal values have equal keys."""
    if type(value) is dict:
        try:
            return frozenset(value.items())
        except TypeError:  # It contains tables.
            return frozenset([(name, hashable(inner)) for name, inner in value.items()])
    if type(value) is tuple:
        try:
            hash(value)
        except TypeError:
            return tuple(map(hashable, value))
    return value


class _Graph:
    """The states reachable from a level's start, in layers by distance."""

    def __init__(self, dynamics: RulesDynamics, actions: list[Action], level: LevelData, most: int) -> None:
        self.dynamics, self.actions, self.most, self.work = dynamics, actions, most, SEARCH_WORK
        self.weight, self.matters = 0, dynamics.compiled.matters
        self.binary = dynamics.compiled.description.meta.reward == "binary"
        start = dynamics.start(level)
        self.states, self.numbers = [start], {self.key(start): 0}
        self.ways: dict[int, list[_Way]] = {}
        self.before, self.gained = [(-1, -1)], [0.0]
        self.layer, self.complete = [0], True
        self.won: tuple[int, int] | None = None
        """State and action by which a binary world was won."""

    def key(self, state: State) -> tuple[Any, ...]:
        values = state.__dict__
        return tuple([v if type(v) in PLAIN else hashable(v) for v in map(values.__getitem__, self.matters)])

    def grow(self, left: int) -> bool:
        """Execute all actions from the last layer; return True if there is another layer. `left` layers remain."""
        width = max(1, (self.most - len(self.states)) // left)
        if len(self.states) > 5 * self.most // 6 and len(self.layer) > width:
            self.layer = sorted(self.layer, key=lambda number: -self.gained[number])[:width]
            self.complete = False
        layer, self.layer = self.layer, []
        for number in layer:
            if self.work <= 0:
                self.complete = False
                break
            self.ways[number] = list(self.followed(number))
            if self.won:
                break
        return bool(self.layer)

    def followed(self, number: int) -> Iterator[_Way]:
        state, refused = self.states[number], False
        for index, action in enumerate(self.actions):
            twin, turn = State(state.level, state.__dict__), Turn()
            try:
                outcome = self.dynamics.act(twin, action, turn)
                self.work -= ACTION_WORK + turn.most - turn.passes
            except RefusedError:
                self.work -= ACTION_WORK + turn.most - turn.passes
                if refused or not self.dynamics.compiled.rules.refused:
                    continue
                refused = True  # All refused actions have the same result.
                passed = self.dynamics.refuse(twin)
                outcome = Outcome(min(0.0, passed.reward), passed.done)
            if self.binary and outcome.reward >= 1.0:
                self.won = self.won or (number, index)
            to = None if outcome.done else self.numbered(twin, number, index, outcome.reward)
            if outcome.done or to is not None:
                yield _Way(index, to, outcome.reward)

    def numbered(self, state: State, before: int, action: int, reward: float) -> int | None:
        key = self.key(state)
        number = self.numbers.get(key)
        if number is None and (len(self.states) >= self.most or self.weight > SEARCH_WEIGHT):
            self.complete = False
        elif number is None:
            number = self.numbers[key] = len(self.states)
            self.states.append(state)
            old = self.states[before].__dict__
            self.weight += sum([weight(value) for name, value in state.__dict__.items() if value is not old[name]])
            self.before.append((before, action))
            self.gained.append(self.gained[before] + reward)
            self.layer.append(number)
        return number

    def back(self) -> list[Action]:
        """Return the actions that led to success."""
        assert self.won is not None
        at, index = self.won
        plan = [self.actions[index]]
        while at:
            at, index = self.before[at]
            plan.append(self.actions[index])
        return plan[::-1]

    def best(self, horizon: int) -> tuple[float, list[Action]]:
        """Return the greatest total and its actions, by backward induction over all states."""
        count, width = len(self.states), max(map(len, self.ways.values()), default=0) + 1
        to, paid = np.full((count, width), count), np.full((count, width), -np.inf)
        paid[:, 0] = 0.0  # No further actions.
        for number, ways in self.ways.items():
            for column, way in enumerate(ways, 1):
                to[number, column] = count if way.to is None else way.to
                paid[number, column] = way.reward
        values = [self.finished()]
        if "finish" in self.dynamics.compiled.run:
            # Without further actions a state stays as it is, unless refused actions let time pass.
            paid[:, 0] = -np.inf if self.dynamics.compiled.rules.refused else values[0][:-1]
        for _ in range(horizon):
            values.append(np.append((paid + values[-1][to]).max(axis=1), 0.0))
        at, plan = 0, list[Action]()
        for later in reversed(values[:-1]):
            column = int((paid[at] + later[to[at]]).argmax())
            if column == 0:
                break
            way = self.ways[at][column - 1]
            plan.append(self.actions[way.action])
            if way.to is None:
                break
            at = way.to
        return float(values[-1][0]), plan

    def finished(self) -> Any:
        """Return the payment at the horizon in each state, and 0 after the end."""
        if "finish" not in self.dynamics.compiled.run:
            return np.zeros(len(self.states) + 1)
        return np.array([*map(self.dynamics.finish, self.states), 0.0])


def listed_actions(description: Description) -> list[Action]:
    """Return every action with every value of its parameters. Raises like `search`."""
    listed: list[Action] = []
    for name, action in description.actions.items():
        values = [
            [(key, value) for value in itertools.islice(_values(f"{name}.{key}", kind), MOST_ACTIONS + 1)]
            for key, kind in action.params.items()
        ]
        listed += [
            Action(name, dict(chosen)) for chosen in itertools.islice(itertools.product(*values), MOST_ACTIONS + 1)
        ]
    if len(listed) > MOST_ACTIONS:
        raise ConfigError(
            f"more than {MOST_ACTIONS} different actions cannot be searched; write rules.levels.bound and solve"
        )
    return listed


def _values(where: str, kind: Parameter) -> Iterator[Any]:
    if kind.type == "choice":
        return iter(kind.of)
    if kind.type == "integer":
        return iter(range(int(kind.low or 0), int(kind.high or 0) + 1))
    raise ConfigError(f"{where} is a {kind.type}, whose values cannot be listed; write rules.levels.bound and solve")


TRIES = 500
"""Maximum number of rejected draws per level."""

MOST_SEARCHES = 12
"""Failed searches before the world is reported as wrong."""

MOST_TOO_LARGE = 4
"""The same for levels whose search does not finish, with `exact`; each costs a full search."""

LEVEL_WORK = 4 * SEARCH_WORK
"""Work limit of all searches for one level, including those on drafts."""

LEVEL_S = 60.0
"""CPU seconds that hooks may use for one level, rejected drafts included."""

KEPT_PLANS = 64
"""Number of levels whose search is cached."""


class RulesLevels(Levels):
    """A world's levels from its rules."""

    def __init__(self, dynamics: RulesDynamics) -> None:
        self.dynamics, self.compiled = dynamics, dynamics.compiled
        self._plans: dict[bytes, Plan] = {}

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a level; without a stated bound and solution, levels that search proves worthless are rejected.

        Raises:
            RuleError: if all of `TRIES` draws are rejected, or searches and hooks exceed their limits.
        """
        with spending(Allowance(LEVEL_S)):
            return self._generated(rng, difficulty)

    def _generated(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        vain, too_large, work = 0, 0, Work(LEVEL_WORK)
        for _ in range(TRIES):
            try:
                turn = Making(rng, partial(self._solution, work))
                made = self.compiled.follow("levels.make", None, None, turn, difficulty)
            except RejectedError:
                continue
            if not isinstance(made, dict):
                raise RuleError(f"{self._name}: rules.levels.make returns {made!r:.60}; expected a table")
            level = thawed(made)
            try:
                checked_steps(level)
            except ConfigError as error:
                raise RuleError(f"{self._name}: rules.levels.make: {error}") from error
            if not self._searched:
                return level
            value, _, kind = self.plan(level, work)
            if value > 0 if kind == "exact" else not self.compiled.rules.levels.exact:
                return level
            vain, too_large = vain + 1, too_large + (kind != "exact")
            if vain == MOST_SEARCHES or too_large == MOST_TOO_LARGE:
                raise RuleError(
                    f"{self._name}: search fails on {vain} levels of rules.levels.make; make them smaller or easier"
                )
        raise RuleError(f"{self._name}: rules.levels.make rejects {TRIES} levels in a row; relax `require`")

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return the bound stated by the rules or found by search; a bound that search could not prove is called declared."""
        stated = self.compiled.rules.levels.bound
        if stated is not None:
            value = self.compiled.follow("levels.bound", None, frozen(level, "the level"), Turn(MAX_LEVEL_PASSES))
            binary = self.compiled.description.meta.reward == "binary"  # Its solution must succeed.
            return UpperBound(float(value), "exact" if binary else "proven", stated.reason)
        value, _, kind = self.plan(level)
        if self.compiled.description.meta.reward == "binary":
            return UpperBound(1.0, "exact" if value == 1.0 else "declared", "success pays 1 once")
        reason = {
            "exact": "everything that can happen within the horizon was searched",
            "declared": "the best that a search found",
        }
        return UpperBound(value, kind, reason[kind])

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return the actions stated by the rules or found by search."""
        if "levels.solve" not in self.compiled.run:
            return self.plan(level)[1]
        listed = self.compiled.follow("levels.solve", None, frozen(level, "the level"), Turn(MAX_LEVEL_PASSES))
        try:
            return [Action(name, dict(params)) for name, params in listed]
        except (TypeError, ValueError) as error:
            raise RuleError(
                f"{self._name}: rules.levels.solve returns {listed!r:.60}; expected a list of [name, {{…}}]"
            ) from error

    def plan(self, level: LevelData, work: Work | None = None) -> Plan:
        """Return a search's greatest total on a level, its actions, and whether they are optimal."""
        key = canonical_json(dict(level))
        if key not in self._plans:
            if len(self._plans) == KEPT_PLANS:
                self._plans.clear()
            self._plans[key] = search(self.compiled.description, self.dynamics, level, work=work)
        return self._plans[key]

    @property
    def _searched(self) -> bool:
        return self.compiled.rules.levels.bound is None and self.compiled.rules.levels.solve is None

    def _solution(self, work: Work, draft: LevelData) -> Any:
        actions = search(self.compiled.description, self.dynamics, draft, work=work)[1]
        return frozen([[action.name, action.params] for action in actions], "the solution")

    @property
    def _name(self) -> str:
        return self.compiled.description.meta.name
