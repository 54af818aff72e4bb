"""Rules as `Levels`: drawn by the world's own generator, bounded and solved by search where nothing else is said."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np

from heredity.errors import ConfigError
from heredity.ids import canonical_json
from heredity.worlds.contract import Action, LevelData, Levels, UpperBound
from heredity.worlds.description import Description, Parameter
from heredity.worlds.dsl.bounded import MAX_LEVEL_PASSES, RejectedError, RuleError, Turn
from heredity.worlds.dsl.dynamics import RulesDynamics, State, frozen, thawed
from heredity.worlds.episode import Episode

TRIES = 500
"""How often a level is drawn anew that its generator rejects."""

MOST_SEARCHES = 12
"""How many levels are searched in vain before a world is said to be wrong."""

KEPT_PLANS = 64
"""Levels whose search is remembered."""

MOST_ACTIONS = 400
"""Different actions that a search can try in each."""

Plan = tuple[float, list[Action], Literal["exact", "declared"]]


class RulesLevels(Levels):
    """A world's levels from its rules."""

    def __init__(self, dynamics: RulesDynamics) -> None:
        self.dynamics, self.compiled = dynamics, dynamics.compiled
        self._plans: dict[bytes, Plan] = {}

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a level; where neither bound nor solution is stated, none on which search shows that nothing can be had.

        Raises:
            RuleError: if all of `TRIES` draws are rejected.
        """
        vain = 0
        for _ in range(TRIES):
            try:
                made = self.compiled.follow("levels.make", None, None, Turn(MAX_LEVEL_PASSES, rng), difficulty)
            except RejectedError:
                continue
            if not isinstance(made, dict):
                raise RuleError(f"{self._name}: rules.levels.make returns {made!r:.60}; expected a table")
            level = thawed(made)
            if not self._searched or self._settled(level):
                return level
            vain += 1
            if vain == MOST_SEARCHES:
                raise RuleError(
                    f"{self._name}: search fails on {vain} levels of rules.levels.make; make them smaller or easier"
                )
        raise RuleError(f"{self._name}: rules.levels.make rejects {TRIES} levels in a row; make `require` ask for less")

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return the bound that the rules state, or that search finds; one that search could not prove is called declared."""
        stated = self.compiled.rules.levels.bound
        if stated is not None:
            value = self.compiled.follow("levels.bound", None, frozen(level, "the level"), Turn(MAX_LEVEL_PASSES))
            binary = self.compiled.description.meta.reward == "binary"  # whose solution must succeed
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
        """Return the actions that the rules state, or that search finds."""
        if "levels.solve" not in self.compiled.run:
            return self.plan(level)[1]
        listed = self.compiled.follow("levels.solve", None, frozen(level, "the level"), Turn(MAX_LEVEL_PASSES))
        try:
            return [Action(name, dict(params)) for name, params in listed]
        except (TypeError, ValueError) as error:
            raise RuleError(
                f"{self._name}: rules.levels.solve returns {listed!r:.60}; expected a list of [name, {{…}}]"
            ) from error

    def plan(self, level: LevelData) -> Plan:
        """Return the most that a search collects on a level, how, and whether nothing better can be."""
        key = canonical_json(dict(level))
        if key not in self._plans:
            if len(self._plans) == KEPT_PLANS:
                self._plans.clear()
            self._plans[key] = search(self.compiled.description, self.dynamics, level)
        return self._plans[key]

    def _settled(self, level: LevelData) -> bool:
        """Return whether search finds something on a level, and proves that to be all where the rules ask for that."""
        value, _, kind = self.plan(level)
        return value > 0 if kind == "exact" else not self.compiled.rules.levels.exact

    @property
    def _searched(self) -> bool:
        return self.compiled.rules.levels.bound is None and self.compiled.rules.levels.solve is None

    @property
    def _name(self) -> str:
        return self.compiled.description.meta.name


def search(description: Description, dynamics: RulesDynamics, level: LevelData) -> Plan:
    """Search for the actions that collect most within the horizon, those first that have collected most so far.

    It is exact if it ends before `levels.most` situations were looked at. Of two ways to the same situation one is left out
    that has collected no more and taken no fewer steps (where something is paid at the horizon: as many). A refused action is
    tried only where time passes by it.

    Raises:
        ConfigError: if actions cannot be listed: a parameter is a text or a number with fractions, or there are too many.
    """
    actions = listed_actions(description)
    binary = description.meta.reward == "binary"
    first = Episode(description, dynamics, level)
    before: list[tuple[int, Action | None]] = [(-1, None)]
    best, best_at, pushed = 0.0, 0, 0
    queue: list[tuple[float, int, int, int, Episode]] = [(0.0, 0, 0, 0, first)]
    seen: dict[Any, list[tuple[int, float]]] = {}
    timed = bool(dynamics.compiled.rules.finish)
    looked = 0
    while queue:
        _, _, _, at, episode = heapq.heappop(queue)
        looked += 1
        if looked > dynamics.compiled.rules.levels.most:
            return best, _back(before, best_at), "declared"
        for action in actions:
            twin = episode.copy()
            step = twin.step(action)
            if step.refused and not dynamics.compiled.rules.refused:
                continue
            ways = seen.setdefault((twin.t if timed else 0, dynamics_key(twin)), [])
            if not twin.done and any(t <= twin.t and total >= twin.total for t, total in ways):
                continue
            ways.append((twin.t, twin.total))
            before.append((at, action))
            if twin.total > best or (twin.total == best and best_at == 0 and twin.total > 0):
                best, best_at = twin.total, len(before) - 1
                if binary and best >= 1.0:
                    return best, _back(before, best_at), "exact"
            if not twin.done:
                pushed += 1
                # Without rewards on the way, the shortest way is found first.
                heapq.heappush(queue, (twin.t - 1000.0 * twin.total, pushed, twin.t, len(before) - 1, twin))
    return best, _back(before, best_at), "exact"


def dynamics_key(episode: Episode) -> Any:
    """Return what tells a situation from others, the steps apart."""
    return State.key(episode.state)  # a variable may be called `key`


def listed_actions(description: Description) -> list[Action]:
    """Return every action with every value of its parameters. Raises as `search`."""
    listed: list[Action] = []
    for name, action in description.actions.items():
        values = [[(key, value) for value in _values(f"{name}.{key}", kind)] for key, kind in action.params.items()]
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


def _back(before: list[tuple[int, Action | None]], at: int) -> list[Action]:
    actions: list[Action] = []
    while at > 0:
        at, action = before[at]
        assert action is not None
        actions.append(action)
    return actions[::-1]
