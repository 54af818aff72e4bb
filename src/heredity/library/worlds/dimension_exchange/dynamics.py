"""The rules of `dimension_exchange`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome

DIMENSIONS = ("mass", "entropy", "history")
GOODS = ("ore", "spark", "echo")
GLUT = 4
"""The most sales since arriving that count against a price."""
QUOTED = 40
"""No price, and no quote, is higher."""


@dataclass(slots=True)
class State:
    """Position of the trader, the hold, and the markets."""

    dimension: int
    stock: list[int]
    sold: int
    clock: int
    credits: int
    level: Rules


@dataclass(frozen=True)
class Rules:
    """Constants of an episode: true prices and quotes by step, dimension and good, and the barter rings."""

    prices: tuple[tuple[tuple[int, ...], ...], ...]
    quotes: tuple[tuple[tuple[int, ...], ...], ...]
    rings: tuple[tuple[int, ...], ...]
    slope: int

    def __deepcopy__(self, memo: object) -> Rules:
        return self


def true_prices(level: LevelData) -> list[list[list[int]]]:
    """Return the prices by step, dimension and good: a good's value there, times the tide, in quarters."""
    return [
        [
            [worth * tide[t % len(tide)] // 4 for worth in worths]
            for worths, tide in zip(level["worths"], level["tides"], strict=True)
        ]
        for t in range(level["steps"] + 3)
    ]


def payment(price: int, sold: int, slope: int) -> int:
    """Return the price of one unit after a number of sales since arrival; at least 0."""
    return max(0, price - slope * min(sold, GLUT))


class DimensionExchange(Dynamics[State]):
    """Three markets with separate tides, seen through a blur."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level."""
        prices = tuple(tuple(tuple(row) for row in at) for at in true_prices(level))
        blur: list[list[int]] = level["blur"]
        quotes = tuple(
            tuple(
                tuple(
                    min(QUOTED, max(0, price + blur[(t + 3 * d) % len(blur)][g]))
                    for g, price in enumerate(prices[t][d])
                )
                for d in range(len(DIMENSIONS))
            )
            for t in range(len(prices))
        )
        rules = Rules(prices, quotes, tuple(map(tuple, level["rings"])), level["slope"])
        return State(level["dimension"], list(level["stock"]), 0, 0, 0, rules)

    def act(self, state: State, action: Action) -> Outcome:
        """Cross, sell, barter, survey or wait."""
        outcome = Outcome(message="You wait.")
        if action.name == "cross":
            target = DIMENSIONS.index(action.params["dimension"])
            if target == state.dimension:
                raise RefusedError(f"You are in the dimension of {action.params['dimension']} already.")
            state.dimension, state.sold = target, 0
            outcome = Outcome(message=f"You cross into the dimension of {action.params['dimension']}.")
        elif action.name == "sell":
            outcome = self._sell(state, action.params["good"])
        elif action.name == "barter":
            outcome = self._barter(state, action.params["good"])
        elif action.name == "survey":
            outcome = Outcome(message=self._survey(state))
        state.clock += 1
        return outcome

    def _sell(self, state: State, good: str) -> Outcome:
        kind = self._held(state, good)
        paid = payment(state.level.prices[state.clock][state.dimension][kind], state.sold, state.level.slope)
        state.stock[kind] -= 1
        state.sold += 1
        state.credits += paid
        done = not any(state.stock)
        return Outcome(
            float(paid), done, f"One {good} is sold for {paid}." + (" The hold is empty: you go home." if done else "")
        )

    def _barter(self, state: State, good: str) -> Outcome:
        kind = self._held(state, good)
        taken = state.level.rings[state.dimension][kind]
        state.stock[kind] -= 1
        state.stock[taken] += 1
        return Outcome(message=f"They take one {good} and give you one {GOODS[taken]}.")

    @staticmethod
    def _held(state: State, good: str) -> int:
        kind = GOODS.index(good)
        if not state.stock[kind]:
            raise RefusedError(f"There is no {good} in your hold.")
        return kind

    @staticmethod
    def _survey(state: State) -> str:
        coming = [
            ", ".join(
                f"{good} {price}" for good, price in zip(GOODS, state.level.prices[t][state.dimension], strict=True)
            )
            for t in range(state.clock + 1, state.clock + 4)
        ]
        return f"True prices here, before any glut: now {coming[0]}; a step later {coming[1]}; then {coming[2]}."

    def refuse(self, state: State) -> Outcome:
        """Let the tides go on."""
        state.clock += 1
        return Outcome()

    def observe(self, state: State) -> dict[str, Any]:
        """Show the hold, and the blurred quotes of this dimension."""
        ore, spark, echo = state.level.quotes[state.clock][state.dimension]
        held = state.stock
        return {
            "dimension": DIMENSIONS[state.dimension],
            "sold": state.sold,
            "slope": state.level.slope,
            "credits": state.credits,
            "hold": {"ore": held[0], "spark": held[1], "echo": held[2]},
            "quote_ore": ore,
            "quote_spark": spark,
            "quote_echo": echo,
            "gauges": {
                "quote of ore": [ore, 0, QUOTED],
                "quote of spark": [spark, 0, QUOTED],
                "quote of echo": [echo, 0, QUOTED],
                "ore": [held[0], 0, 8],
                "spark": [held[1], 0, 8],
                "echo": [held[2], 0, 8],
            },
        }


DYNAMICS = DimensionExchange()
