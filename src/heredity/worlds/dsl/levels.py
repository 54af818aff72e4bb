"""Rules as `Levels`: drawn by the world's own generator, bounded and solved by search where nothing else is said."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from heredity.errors import ConfigError
from heredity.ids import canonical_json
from heredity.worlds.contract import Action, LevelData, Levels, UpperBound
from heredity.worlds.dsl.allowance import Allowance, spending
from heredity.worlds.dsl.bounded import MAX_LEVEL_PASSES, Making, RejectedError, RuleError, Turn
from heredity.worlds.dsl.dynamics import RulesDynamics, checked_steps
from heredity.worlds.dsl.search import SEARCH_WORK, Plan, Work, search
from heredity.worlds.dsl.values import frozen, thawed

TRIES = 500
"""How often a level is drawn anew that its generator rejects."""

MOST_SEARCHES = 12
"""How many levels are searched in vain before a world is said to be wrong."""

MOST_TOO_LARGE = 4
"""The same of levels whose search does not end, where that is asked for: each costs as much as a search may."""

LEVEL_WORK = 4 * SEARCH_WORK
"""What all searches for one level may come to, those on drafts included."""

LEVEL_S = 60.0
"""Processor seconds that hooks may take for one level, rejected drafts included."""

KEPT_PLANS = 64
"""Levels whose search is remembered."""


class RulesLevels(Levels):
    """A world's levels from its rules."""

    def __init__(self, dynamics: RulesDynamics) -> None:
        self.dynamics, self.compiled = dynamics, dynamics.compiled
        self._plans: dict[bytes, Plan] = {}

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a level; where neither bound nor solution is stated, none on which search shows that nothing can be had.

        Raises:
            RuleError: if all of `TRIES` draws are rejected, or searches and hooks take too much.
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

    def plan(self, level: LevelData, work: Work | None = None) -> Plan:
        """Return the most that a search collects on a level, how, and whether nothing better can be."""
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
