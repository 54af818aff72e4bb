"""Rules as `Levels`: drawn by the world's generator, and bounded and solved by search unless the rules define both."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from heredity._core.errors import ConfigError, RefusedError
from heredity._core.ids import canonical_json
from heredity.kinds.world.contract import Action, LevelData, Levels, Outcome, UpperBound
from heredity.kinds.world.description import Description, Parameter
from heredity.kinds.world.dsl.bounded import (
    MAX_LEVEL_PASSES,
    PLAIN,
    Allowance,
    Making,
    RejectedError,
    RuleError,
    Turn,
    frozen,
    spending,
    thawed,
    weight,
)
from heredity.kinds.world.dsl.dynamics import RulesDynamics, State, checked_steps

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
