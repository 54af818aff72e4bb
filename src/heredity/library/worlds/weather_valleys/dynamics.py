"""The rules of `weather_valleys`.

Every deed has a second, opposite effect on the next day. After seeded rain, cold air carries vapour off to the other
valley. A fire dries the ground, and then draws vapour in. After a veil against the sun, the sun takes twice as much.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome

VALLEYS = ("north", "south")
SOAKED = 5
"""The most water that ground holds."""
SATURATED = 4
"""The vapour that bursts out of the sky; `KEPT` measures of it stay in the ground, the rest runs off."""
KEPT = 2
SEEDED = 3
"""The most vapour that seeding turns into rain, all of which stays."""
CLOUDY = 2
GOOD = (2, 3)
"""Measures of water with which a crop grows."""
CALM, DRAWN, TORN = 0, 1, 3
"""What tomorrow brings: nothing; vapour drawn to valley i (`DRAWN + i`); a torn veil over valley i (`TORN + i`)."""
WINDS = ("no wind", "wind to the north valley", "wind to the south valley", "wind to both valleys")


class Air(NamedTuple):
    """Water in the ground of both valleys (0 to 5), vapour above them (0 to 4), and the pending effects for tomorrow."""

    north: int
    south: int
    above_north: int
    above_south: int
    tomorrow: int


class Night(NamedTuple):
    """End of a day: the air, the rain that reached the ground of each valley, and the bits of valleys with a cloudburst."""

    air: Air
    rain: tuple[int, int]
    bursts: int


def day(air: Air, deed: str, valley: int, wind: int) -> Night:
    """Return the end of a day.

    Args:
        air: air at the start of the day.
        deed: `seed`, `heat`, `veil`, or anything else for nothing.
        valley: valley of the deed.
        wind: bit 0: vapour comes to the north valley; bit 1: to the south valley.
    """
    ground, above = [air.north, air.south], [air.above_north, air.above_south]
    sun, rain, tomorrow, bursts = [1, 1], [0, 0], CALM, 0
    if air.tomorrow >= TORN:
        sun[air.tomorrow - TORN] = 2
    elif air.tomorrow >= DRAWN:
        to = air.tomorrow - DRAWN
        drawn = min(1, above[1 - to])
        above[1 - to], above[to] = above[1 - to] - drawn, above[to] + drawn
    if deed == "seed":
        rain[valley] = min(SEEDED, above[valley])
        above[valley] -= rain[valley]
        tomorrow = DRAWN + 1 - valley
    elif deed == "heat":
        dried = min(1, ground[valley])
        ground[valley], above[valley] = ground[valley] - dried, above[valley] + dried
        tomorrow = DRAWN + valley
    elif deed == "veil":
        sun[valley], tomorrow = 0, TORN + valley
    for i in (0, 1):
        above[i] = min(SATURATED, above[i] + (wind >> i & 1))
        if above[i] == SATURATED and not (deed == "veil" and valley == i):
            rain[i], above[i], bursts = rain[i] + KEPT, 0, bursts | 1 << i
        ground[i] = max(0, min(SOAKED, ground[i] + rain[i]) - sun[i])
    return Night(Air(ground[0], ground[1], above[0], above[1], tomorrow), (rain[0], rain[1]), bursts)


@dataclass(slots=True)
class State:
    """The air, the value of growth in each valley, the winds of all days, the rewards of idle days, and the day."""

    air: Air
    worth: tuple[int, int]
    winds: tuple[int, ...]
    usual: tuple[int, ...]
    today: int = 0

    def __deepcopy__(self, memo: object) -> State:
        """Return an independent copy; everything in it is immutable."""
        return State(self.air, self.worth, self.winds, self.usual, self.today)


def growing(air: Air, deed: str, valley: int) -> list[int]:
    """Return the valleys whose crop has grown on a day with this end: 2 or 3 measures of water, and no veil."""
    veiled = valley if deed == "veil" else None
    return [i for i in (0, 1) if GOOD[0] <= air[i] <= GOOD[1] and i != veiled]


class WeatherValleys(Dynamics[State]):
    """Two valleys under one sky."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level."""
        north, south, above_north, above_south = level["air"]
        air = Air(north, south, above_north, above_south, CALM)
        return State(air, (level["worth"][0], level["worth"][1]), tuple(level["winds"]), tuple(level["usual"]))

    def act(self, state: State, action: Action) -> Outcome:
        """Act on the weather, and let the day pass; growth pays, minus the reward of an idle day."""
        usual = state.usual[state.today]
        valley = VALLEYS.index(action.params["valley"]) if action.params else 0
        night = self._pass(state, action.name, valley)
        sentences = [_rain(name, night.bursts >> i & 1) for i, name in enumerate(VALLEYS) if night.rain[i]]
        if action.name == "balloon":
            above = (night.air.above_north, night.air.above_south)[valley]
            sentences.append(f"In the evening the balloon finds vapour {above} above the {VALLEYS[valley]} valley.")
        grown = growing(night.air, action.name, valley)
        sentences += [f"The {VALLEYS[i]} crop grows." for i in grown]
        return Outcome(
            float(sum(state.worth[i] for i in grown) - usual),
            message=" ".join(sentences) or "No rain falls, and nothing grows.",
        )

    def refuse(self, state: State) -> Outcome:
        """Waste the day: the weather goes on, and the crops are untended."""
        usual = state.usual[state.today]
        self._pass(state, "", 0)
        return Outcome(float(-usual), message="The day goes by, and nobody tends the crops.")

    def observe(self, state: State) -> dict[str, Any]:
        """Show the ground, the visible sky, and today's wind, but not the amount of vapour."""
        air = state.air
        valleys = zip(VALLEYS, air[:2], air[2:4], state.worth, strict=True)
        return {
            "valleys": [
                f"{name} valley: water in the ground {water}; sky {'clear' if above < CLOUDY else 'cloudy'};"
                f" a day of growth pays {worth}"
                for name, water, above, worth in valleys
            ],
            "wind": WINDS[state.winds[state.today]] if state.today < len(state.winds) else "the season is over",
            "usual": state.usual[state.today] if state.today < len(state.usual) else 0,
            "gauges": {"north": [air.north, 0, SOAKED], "south": [air.south, 0, SOAKED]},
        }

    def _pass(self, state: State, deed: str, valley: int) -> Night:
        night = day(state.air, deed, valley, state.winds[state.today])
        state.air, state.today = night.air, state.today + 1
        return night


def _rain(name: str, burst: int) -> str:
    return (
        f"A cloudburst over the {name} valley; most of it runs off." if burst else f"Rain falls on the {name} valley."
    )


DYNAMICS = WeatherValleys()
