"""The rules of `alien_colony`.

Each resource and each building has a role that its name hides: foul-sounding ones feed and build, sweet-sounding ones
kill and spoil. A level assigns the roles:

- the food is eaten and pays per portion; a number of portions raises another colonist, fewer with a hatchery;
- the timber is only used for buildings;
- the poison kills a colonist whenever it is served; the solvent ruins half of the stored food;
- the hatchery and the press (which brings home more food) help; the trap and the drain act once like poison and
solvent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome

RESOURCES = ("honey", "balm", "venom", "rot")
BUILDINGS = ("nursery", "clinic", "crypt", "furnace")
MOST_COLONISTS = 8
PORTIONS = (5, 2)
"""How many portions eaten in all raise a colonist, without and with a hatchery."""
PRESSED = 6
"""How much more of the food a press brings home at a time."""
_TASTES = {
    "food": "The taster swells a little.",
    "timber": "The taster cannot break a bit off it.",
    "poison": "The taster shrinks a little.",
    "solvent": "The taster sneezes, and the food it stands on melts.",
}


@dataclass(frozen=True, slots=True)
class Rules:
    """Constants: the role of each resource and building, the initial colonists, the cost of a building, and the room."""

    parts: dict[str, str]
    names: dict[str, str]
    first: int
    cost: int
    room: int

    def __deepcopy__(self, memo: object) -> Rules:
        return self


@dataclass(slots=True)
class State:
    """The fields and stores by resource, the buildings, the lost colonists, and the portions eaten."""

    rules: Rules
    fields: dict[str, int]
    stores: dict[str, int]
    built: list[str]
    lost: int
    eaten: int

    def __deepcopy__(self, memo: object) -> State:
        """Return an independent copy; the rules is shared."""
        return State(self.rules, dict(self.fields), dict(self.stores), list(self.built), self.lost, self.eaten)


def colonists(first: int, eaten: int, hatchery: bool, lost: int = 0) -> int:
    """Return the number of colonists: 1 to 8."""
    return max(1, min(MOST_COLONISTS, first + eaten // PORTIONS[hatchery] - lost))


class AlienColony(Dynamics[State]):
    """A colony, four resources and four buildings with misleading names."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level."""
        parts: dict[str, str] = dict(level["parts"])
        names = {part: name for name, part in parts.items()}
        rules = Rules(parts, names, level["colonists"], level["cost"], level["room"])
        return State(rules, dict(level["fields"]), dict(level["stores"]), [], 0, 0)

    def act(self, state: State, action: Action) -> Outcome:
        """Gather, taste, serve or build."""
        if action.name == "build":
            return _build(state, action.params["building"])
        resource = action.params["resource"]
        if action.name == "gather":
            return _gather(state, resource)
        if not state.stores[resource]:
            raise RefusedError(f"There is no {resource} in store.")
        if action.name == "taste":
            state.stores[resource] -= 1
            return Outcome(message=f"One colonist tries the {resource}. {_TASTES[state.rules.parts[resource]]}")
        return _serve(state, resource)

    def observe(self, state: State) -> dict[str, Any]:
        """Show the colony, the stores and the buildings, but neither the fields nor any role."""
        rules, number = state.rules, _number(state)
        return {
            "colonists": number,
            "stores": dict(state.stores),
            "built": ", ".join(state.built) or "none",
            "credits": state.eaten,
            "cost": f"{rules.cost} {rules.names['timber']}",
            "room": rules.room,
            "gauges": {
                "colonists": [number, 0, MOST_COLONISTS],
                **{name: [held, 0, rules.room] for name, held in state.stores.items()},
            },
        }


def _number(state: State) -> int:
    return colonists(state.rules.first, state.eaten, state.rules.names["hatchery"] in state.built, state.lost)


def _gather(state: State, resource: str) -> Outcome:
    rules, left = state.rules, state.fields[resource]
    if not left:
        raise RefusedError(f"The field of {resource} is bare.")
    space = rules.room - state.stores[resource]
    if not space:
        raise RefusedError(f"There is no room for more {resource}.")
    pressed = PRESSED if rules.parts[resource] == "food" and rules.names["press"] in state.built else 0
    brought = min(_number(state) + pressed, left, space)
    state.fields[resource] -= brought
    state.stores[resource] += brought
    bare = "" if state.fields[resource] else " The field is bare now."
    return Outcome(message=f"The colonists bring in {brought} {resource}.{bare}")


def _serve(state: State, resource: str) -> Outcome:
    before, part = _number(state), state.rules.parts[resource]
    served = min(before, state.stores[resource])
    state.stores[resource] -= served
    if part == "food":
        state.eaten += served
        grown = _number(state) - before
        more = f" {_count(grown)} more crawl out of the ground." if grown > 0 else ""
        return Outcome(
            float(served), message=f"They shriek and gulp down {served} {resource}; {served} credited.{more}"
        )
    if part == "timber":
        return Outcome(message=f"They gnaw on {served} {resource} and spit it out. Nothing is credited.")
    return Outcome(message=f"They hum over {served} {resource}. Nothing is credited. {_harm(state, part == 'poison')}")


def _build(state: State, building: str) -> Outcome:
    rules = state.rules
    timber = rules.names["timber"]
    if building in state.built:
        raise RefusedError(f"There is a {building} already.")
    if state.stores[timber] < rules.cost:
        raise RefusedError(f"A {building} costs {rules.cost} {timber}; there is {state.stores[timber]}.")
    before, part = _number(state), rules.parts[building]
    state.stores[timber] -= rules.cost
    state.built.append(building)
    if part == "hatchery":
        grown = _number(state) - before
        effect = f"{_count(grown)} colonists come up from below." if grown > 0 else "Something stirs below."
    elif part == "press":
        effect = "Its jaws begin to turn, and carts line up before it."
    else:
        effect = _harm(state, part == "trap")
    return Outcome(message=f"The {building} stands. {effect}")


def _harm(state: State, deadly: bool) -> str:
    if not deadly:
        food = state.rules.names["food"]
        ruined = (state.stores[food] + 1) // 2
        state.stores[food] -= ruined
        return (
            f"{_count(ruined)} {food} in store turn to dust." if ruined else "A smell spreads through the empty store."
        )
    before = _number(state)
    state.lost += before > 1
    return "One colonist curls up for good." if before > 1 else "The last colonist trembles, and recovers."


def _count(number: int) -> str:
    return str(number) if number else "No"


DYNAMICS = AlienColony()
