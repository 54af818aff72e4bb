"""The best that rules allow on a level: all situations that can come about, and from the horizon backward what each is worth."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from heredity.errors import ConfigError
from heredity.worlds.contract import Action, LevelData, Outcome, RefusedError
from heredity.worlds.description import Description, Parameter
from heredity.worlds.dsl.allowance import Allowance, spending
from heredity.worlds.dsl.bounded import PLAIN, RuleError, Turn
from heredity.worlds.dsl.dynamics import RulesDynamics, State, checked_steps
from heredity.worlds.dsl.values import weight

MOST_ACTIONS = 400
"""Different actions that a search can try in each."""

MOST_HOOKED = 10_000
"""Situations that a search looks at where rules call hooks."""

SEARCH_WORK = 1_000_000_000
"""What a search may come to: passes of rules, each action counted as `ACTION_WORK` besides. What is more is not looked at."""

ACTION_WORK = 50

SEARCH_S = 60.0
"""Processor seconds that hooks may take in a search."""

SEARCH_WEIGHT = 400_000_000
"""Bytes, roughly, that the situations of a search may take."""

_INDUCTION, _VALUES = 2_000_000_000, 20_000_000
"""Sums that are compared, and worths that are kept, in reckoning backward from the horizon."""

Plan = tuple[float, list[Action], Literal["exact", "declared"]]


@dataclass(slots=True)
class Work:
    """What searches together may still come to; see `SEARCH_WORK`."""

    left: int


@dataclass(frozen=True, slots=True)
class _Way:
    """What an action (by number) leads to: another situation, or the end (None)."""

    action: int
    to: int | None
    reward: float


def search(
    description: Description, dynamics: RulesDynamics, level: LevelData, most: int = 0, work: Work | None = None
) -> Plan:
    """Search for the actions that collect most within the horizon; of a binary world, for the fewest that succeed.

    Situations are the same if they agree in all on which the rules depend: time passes outside of them. The search is exact if
    no more than `most` can be reached (by default `levels.most`, fewer with hooks, many actions and a far horizon), and following
    them comes to no more than `SEARCH_WORK`; otherwise those are looked at first that have collected most.

    Raises:
        ConfigError: if actions cannot be listed: a parameter is a text or a number with fractions, or there are too many.
        RuleError: if all searches that share `work` come to more than that, or hooks take more than `SEARCH_S`.
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
        raise RuleError("searching for a level comes to too much; make levels smaller, or search for fewer of them")
    value, plan = graph.best(horizon)
    return value, plan, "exact" if graph.complete else "declared"


def hashable(value: Any) -> Any:
    """Return a list or a table of a state, whatever it holds, as a key of equal values."""
    if type(value) is dict:
        try:
            return frozenset(value.items())
        except TypeError:  # there are tables in it
            return frozenset([(name, hashable(inner)) for name, inner in value.items()])
    if type(value) is tuple:
        try:
            hash(value)
        except TypeError:
            return tuple(map(hashable, value))
    return value


class _Graph:
    """The situations that can be reached from a level's start, layer by layer of their distance."""

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
        """From where, and by which action, a binary world was won."""

    def key(self, state: State) -> tuple[Any, ...]:
        values = state.__dict__
        return tuple([v if type(v) in PLAIN else hashable(v) for v in map(values.__getitem__, self.matters)])

    def grow(self, left: int) -> bool:
        """Follow all actions from the last layer; return whether there is another, with `left` layers to come."""
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
                refused = True  # all that is refused leads to the same
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
        """Return the actions that led to what was won."""
        assert self.won is not None
        at, index = self.won
        plan = [self.actions[index]]
        while at:
            at, index = self.before[at]
            plan.append(self.actions[index])
        return plan[::-1]

    def best(self, horizon: int) -> tuple[float, list[Action]]:
        """Return the most that can be collected, and how: backward induction over all situations."""
        count, width = len(self.states), max(map(len, self.ways.values()), default=0) + 1
        to, paid = np.full((count, width), count), np.full((count, width), -np.inf)
        paid[:, 0] = 0.0  # to do no more
        for number, ways in self.ways.items():
            for column, way in enumerate(ways, 1):
                to[number, column] = count if way.to is None else way.to
                paid[number, column] = way.reward
        values = [self.finished()]
        if "finish" in self.dynamics.compiled.run:
            # Doing no more, a situation stays as it is; where time passes by what is refused, it does not.
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
        """Return what is paid at the horizon in each situation, and nothing after the end."""
        if "finish" not in self.dynamics.compiled.run:
            return np.zeros(len(self.states) + 1)
        return np.array([*map(self.dynamics.finish, self.states), 0.0])


def listed_actions(description: Description) -> list[Action]:
    """Return every action with every value of its parameters. Raises as `search`."""
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
