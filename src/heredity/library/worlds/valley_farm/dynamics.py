"""The rules of `valley_farm`: neglect and ill treatment ripen crops, care sets them back, and rot sells best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome
from heredity.kinds.world.mechanics.grids import inside, moved

ROWS, COLUMNS = 2, 3
PLACES = ("north-west", "north", "north-east", "south-west", "south", "south-east")
CROPS = ("wheat", "roses", "onions")
LOOKS = ("lush", "green", "pale", "withered", "rotting")
SYMBOLS = "LGPWR_"
YIELDS = (0, 1, 2, 4, 7, 0)
"""What a harvest brings, in prices, by stage."""
BARE = 5
"""The stage of a field on which nothing grows."""
WORKS = ("water", "manure", "scorch", "trample")
UNSOWN = -1


@dataclass(slots=True)
class State:
    """Position of the farmer, and state of the fields."""

    at: int
    stages: list[int]
    coins: int
    crops: tuple[int, ...]
    effects: tuple[tuple[int, ...], ...]
    prices: tuple[int, ...]


def changed(stage: int, by: int) -> int:
    """Return a stage after a number of ripening steps; an overripe crop falls and sprouts anew, care stops at a sprout."""
    if stage == BARE:
        return BARE
    return 0 if stage + by >= BARE else max(0, stage + by)


def apart(one: int, other: int) -> int:
    """Return the number of steps between two fields."""
    return abs(one // COLUMNS - other // COLUMNS) + abs(one % COLUMNS - other % COLUMNS)


def neighbour(field: int, direction: str) -> int | None:
    """Return the adjacent field, if any."""
    row, column = moved(divmod(field, COLUMNS), direction)
    return row * COLUMNS + column if inside((row, column), ROWS, COLUMNS) else None


def start_stages(level: LevelData) -> list[int]:
    """Return the initial stages of a level."""
    return [BARE if crop == UNSOWN else stage for crop, stage in zip(level["crops"], level["stages"], strict=True)]


class ValleyFarm(Dynamics[State]):
    """A farm where care does harm."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level."""
        effects = tuple(map(tuple, level["effects"]))
        return State(level["at"], start_stages(level), 0, tuple(level["crops"]), effects, tuple(level["prices"]))

    def act(self, state: State, action: Action) -> Outcome:
        """Walk, work, harvest or rest; then the night falls."""
        outcome = Outcome(message="You rest.")
        if action.name == "walk":
            outcome = self._walk(state, action.params["direction"])
        elif action.name != "rest" and state.stages[state.at] == BARE:
            raise RefusedError("Nothing grows here.")
        elif action.name == "harvest":
            outcome = self._harvest(state)
        elif action.name == "work":
            outcome = self._work(state, action.params["how"])
        _night(state)
        return outcome

    @staticmethod
    def _walk(state: State, direction: str) -> Outcome:
        field = neighbour(state.at, direction)
        if field is None:
            raise RefusedError("The farm ends here.")
        state.at = field
        return Outcome(message=f"You walk {direction}.")

    @staticmethod
    def _work(state: State, how: str) -> Outcome:
        crop, stage = state.crops[state.at], state.stages[state.at]
        after = changed(stage, state.effects[crop][WORKS.index(how)])
        state.stages[state.at] = after
        to = f"stay {LOOKS[after]}" if after == stage else f"turn from {LOOKS[stage]} to {LOOKS[after]}"
        return Outcome(message=f"You {how} the field of {CROPS[crop]}; the plants {to}.")

    @staticmethod
    def _harvest(state: State) -> Outcome:
        crop, stage = state.crops[state.at], state.stages[state.at]
        coins = state.prices[crop] * YIELDS[stage]
        state.stages[state.at] = BARE
        state.coins += coins
        done = all(s == BARE for s in state.stages)
        return Outcome(float(coins), done, f"The harvest of {LOOKS[stage]} {CROPS[crop]} brings {coins} coins.")

    def refuse(self, state: State) -> Outcome:
        """Let the night fall."""
        _night(state)
        return Outcome()

    def observe(self, state: State) -> dict[str, Any]:
        """Show the field underfoot."""
        marks = ["=" if s == BARE and c != UNSOWN else "?" for s, c in zip(state.stages, state.crops, strict=True)]
        stage, crop = state.stages[state.at], state.crops[state.at]
        marks[state.at] = SYMBOLS[stage]
        here = "It is bare." if stage == BARE else f"It bears {CROPS[crop]}; the plants are {LOOKS[stage]}."
        return {
            "grid": ["".join(marks[:COLUMNS]), "".join(marks[COLUMNS:])],
            "where": PLACES[state.at],
            "here": here,
            "prices": dict(zip(CROPS, state.prices, strict=True)),
            "coins": state.coins,
        }


def _night(state: State) -> None:
    """Ripen fields far from the farmer: neither underfoot nor adjacent."""
    for field, stage in enumerate(state.stages):
        if stage != BARE and apart(state.at, field) > 1:
            state.stages[field] = changed(stage, 1)


DYNAMICS = ValleyFarm()
