"""The rules of `fog_skirmish`.

Each step gives one order to one of two units; then every enemy acts, in the order of the level. Enemies are simple and
deterministic. They strike adjacent units. A raider that notices a unit approaches it, and otherwise marches to and fro.
A keeper does not move.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome
from heredity.kinds.world.mechanics.grids import DIRECTIONS, Cell, moved

UNITS = ("guard", "archer")
HEALTH = (4, 2)
RANGE = 3
SIGHT = 3
"""How far units see, and how far a raider notices a unit in the open; one in a wood it does not notice."""
WORTH = {"raider": 3, "keeper": 5}
STRENGTH = {"raider": 1, "keeper": 2}
DEPOT = 2
_SEEN = [(r, c) for r in range(-SIGHT, SIGHT + 1) for c in range(abs(r) - SIGHT, SIGHT - abs(r) + 1)]
_OPPOSITE = {"north": "south", "south": "north", "west": "east", "east": "west"}


class Enemy(NamedTuple):
    """An enemy: its kind, its cell, its health (0 when beaten), and a raider's direction."""

    kind: str
    at: Cell
    health: int
    heading: str


class Now(NamedTuple):
    """Mutable state: the units' cells and health (0 when lost), the arrows, the enemies, and the depots not yet taken."""

    cells: tuple[Cell, ...]
    health: tuple[int, ...]
    arrows: int
    enemies: tuple[Enemy, ...]
    depots: tuple[Cell, ...]


@dataclass(slots=True)
class State:
    """The ground, the current state, and the flares left."""

    ground: tuple[str, ...]
    now: Now
    flares: int

    def __deepcopy__(self, memo: object) -> State:
        """Return an independent copy; the contents are immutable."""
        return State(self.ground, self.now, self.flares)


def left_to_win(now: Now) -> int:
    """Return the remaining reward for beating every enemy and taking every depot."""
    return sum(WORTH[e.kind] for e in now.enemies if e.health) + DEPOT * len(now.depots)


def ordered(ground: tuple[str, ...], now: Now, verb: str, unit: int = 0, direction: str = "") -> Now:
    """Return the state after an order, before the enemies act.

    Raises:
        RefusedError: if the order is impossible.
    """
    if verb == "hold":
        return now
    if not now.health[unit]:
        raise RefusedError(f"The {UNITS[unit]} is lost.")
    if verb == "march":
        return _marched(ground, now, unit, direction)
    if unit == 1 and not now.arrows:
        raise RefusedError("The archer has no arrows left.")
    target = _aimed_at(ground, now, unit, direction)
    if target is None:
        if unit == 0:
            raise RefusedError(f"There is no enemy beside the guard to the {direction}.")
        return now._replace(arrows=now.arrows - 1)
    hit = now.enemies[target]
    hurt = _with(now.enemies, target, hit._replace(health=hit.health - 1))
    return now._replace(enemies=hurt, arrows=now.arrows - (unit == 1))


def answered(ground: tuple[str, ...], now: Now) -> Now:
    """Return the state after every enemy has acted."""
    for index, enemy in enumerate(now.enemies):
        if enemy.health:
            now = _acted(ground, now, index, enemy)
    return now


def _marched(ground: tuple[str, ...], now: Now, unit: int, direction: str) -> Now:
    to = moved(now.cells[unit], direction)
    if ground[to[0]][to[1]] == "#":
        raise RefusedError(f"Rocks stop the {UNITS[unit]}.")
    if _taken(now, to):
        raise RefusedError(f"Somebody stands in the way of the {UNITS[unit]}.")
    depots = tuple(d for d in now.depots if d != to) if to in now.depots else now.depots
    return now._replace(cells=_with(now.cells, unit, to), depots=depots)


def _aimed_at(ground: tuple[str, ...], now: Now, unit: int, direction: str) -> int | None:
    cell = now.cells[unit]
    for _ in range(RANGE if unit == 1 else 1):
        cell = moved(cell, direction)
        if ground[cell[0]][cell[1]] == "#":
            return None
        for index, enemy in enumerate(now.enemies):
            if enemy.health and enemy.at == cell:
                return index
    return None


def _acted(ground: tuple[str, ...], now: Now, index: int, enemy: Enemy) -> Now:
    near = [(_apart(enemy.at, cell), unit) for unit, cell in enumerate(now.cells) if now.health[unit]]
    beside = [unit for apart, unit in near if apart == 1]
    if beside:
        return now._replace(health=_with(now.health, beside[0], now.health[beside[0]] - 1))
    if enemy.kind == "keeper":
        return now
    noticed = [(a, unit) for a, unit in near if a <= SIGHT and ground[now.cells[unit][0]][now.cells[unit][1]] != "T"]
    ways = _towards(enemy.at, now.cells[min(noticed)[1]]) if noticed else (enemy.heading, _OPPOSITE[enemy.heading])
    for way in ways:
        to = moved(enemy.at, way)
        if ground[to[0]][to[1]] != "#" and not _taken(now, to):
            return now._replace(enemies=_with(now.enemies, index, enemy._replace(at=to, heading=way)))
    return now


def _towards(at: Cell, to: Cell) -> list[str]:
    """Return the directions that lead closer, the longer axis first."""
    rows, columns = to[0] - at[0], to[1] - at[1]
    ways = [(abs(rows), "south" if rows > 0 else "north"), (abs(columns), "east" if columns > 0 else "west")]
    return [way for length, way in sorted(ways, key=lambda w: -w[0]) if length]


def _taken(now: Now, cell: Cell) -> bool:
    return any(h and c == cell for h, c in zip(now.health, now.cells, strict=True)) or any(
        e.health and e.at == cell for e in now.enemies
    )


def _apart(a: Cell, b: Cell) -> int:
    return abs(a[0] - b[0]) + abs(a[1] - b[1])


def _with(values: tuple[Any, ...], index: int, value: Any) -> tuple[Any, ...]:
    return (*values[:index], value, *values[index + 1 :])


class FogSkirmish(Dynamics[State]):
    """Two units, and enemies in the fog."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level."""
        enemies = tuple(Enemy(kind, (r, c), STRENGTH[kind], heading) for kind, r, c, heading in level["enemies"])
        cells, depots = (tuple((r, c) for r, c in level[name]) for name in ("units", "depots"))
        return State(tuple(level["ground"]), Now(cells, HEALTH, level["arrows"], enemies, depots), level["flares"])

    def act(self, state: State, action: Action) -> Outcome:
        """Give an order, or fire a flare; then the enemies act."""
        before = state.now
        if action.name == "flare":
            if not state.flares:
                raise RefusedError("There is no flare left.")
            state.flares -= 1
            message, now = _lit(before), before
        else:
            unit = UNITS.index(action.params["unit"]) if "unit" in action.params else 0
            now = ordered(state.ground, before, action.name, unit, action.params.get("direction", ""))
            message = _order_told(before, now, action.name, unit)
        return _round(state, now, before, message)

    def refuse(self, state: State) -> Outcome:
        """Let the enemies act."""
        return _round(state, state.now, state.now, "")

    def observe(self, state: State) -> dict[str, Any]:
        """Show the units' view."""
        ground, now = state.ground, state.now
        rows, size = [["~"] * len(row) for row in ground], len(ground)
        for (row, column), health in zip(now.cells, now.health, strict=True):
            for down, right in _SEEN if health else ():
                r, c = row + down, column + right
                if 0 <= r < size and 0 <= c < size:
                    rows[r][c] = ground[r][c]
        things = [("D", cell) for cell in now.depots]
        things += [("r" if e.kind == "raider" else "k", e.at) for e in now.enemies if e.health]
        for symbol, (r, c) in things:
            if rows[r][c] != "~":
                rows[r][c] = symbol
        for symbol, (r, c), health in zip("GA", now.cells, now.health, strict=True):
            if health:
                rows[r][c] = symbol
        return {
            "grid": ["".join(row) for row in rows],
            "guard": _unit(now, 0),
            "archer": _unit(now, 1),
            "arrows": now.arrows,
            "flares": state.flares,
            "left": f"{sum(e.health > 0 for e in now.enemies)} enemies and {len(now.depots)} depots",
        }


def _unit(now: Now, unit: int) -> str:
    (row, column), health = now.cells[unit], now.health[unit]
    return f"at row {row}, column {column}, health {health} of {HEALTH[unit]}" if health else "lost"


def _lit(now: Now) -> str:
    seen = [f"a {e.kind} at row {e.at[0]}, column {e.at[1]}" for e in now.enemies if e.health]
    return f"The flare shows {', '.join(seen)}."


def _order_told(before: Now, now: Now, verb: str, unit: int) -> str:
    name = UNITS[unit].capitalize()
    if len(now.depots) < len(before.depots):
        return f"{name} takes a depot: {DEPOT} earned."
    if verb != "strike":
        return ""
    for old, new in zip(before.enemies, now.enemies, strict=True):
        if new.health < old.health:
            return f"{name} hits a {old.kind}; " + (
                "it staggers." if new.health else f"it falls: {WORTH[old.kind]} earned."
            )
    return "The arrow hits nothing."


def _round(state: State, now: Now, before: Now, message: str) -> Outcome:
    after = state.now = answered(state.ground, now)
    earned = left_to_win(before) - left_to_win(now)
    lines = [message] if message else []
    for name, had, has in zip(UNITS, now.health, after.health, strict=True):
        if has < had:
            lines.append(f"The {name} is struck and {'falls' if not has else f'has {has} health left'}.")
    if not left_to_win(after):
        return Outcome(float(earned), done=True, message=" ".join([*lines, "The field is yours."]))
    if not any(after.health):
        return Outcome(float(earned), done=True, message=" ".join([*lines, "Nobody is left to fight."]))
    return Outcome(float(earned), message=" ".join(lines))


DYNAMICS = FogSkirmish()
ORDERS = (
    *(
        (verb, unit, direction)
        for verb in ("strike", "march")
        for unit in range(len(UNITS))
        for direction in DIRECTIONS
    ),
    ("hold", 0, ""),
)
"""Every order: what is done, by which unit, and in which direction."""
