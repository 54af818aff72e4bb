"""The rules of `underground_halls`.

Cells are numbered row by row, and sets of cells are bit masks. Row 0 is the surface; a cell's row is its depth. The
deeper a fan stands, the farther its draught carries through open cells: as many cells as it is deep.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome

DAYS = {":": 1, "%": 3}
"""Days to dig a cell; a hall takes one, and what is not named here cannot be dug."""


class Hall(NamedTuple):
    """A hall: its letter, its cell, and its value on day 0, which falls by one per day."""

    letter: str
    cell: int
    worth: int


@dataclass(frozen=True, slots=True)
class City:
    """Immutable part of the state: the cross-section, the days to dig each cell (0: impossible), the halls, and the last day."""

    plan: tuple[str, ...]
    costs: tuple[int, ...]
    halls: tuple[Hall, ...]
    days: int
    columns: int
    rightmost: int

    def around(self, cells: int) -> int:
        """Return cells together with their neighbours."""
        inner, outer = cells & ~self.rightmost, cells & ~(self.rightmost >> self.columns - 1)
        return (cells | inner << 1 | outer >> 1 | cells << self.columns | cells >> self.columns) & (
            1 << len(self.costs)
        ) - 1

    def aired(self, now: Now) -> int:
        """Return the cells that a draught reaches."""
        reached = 0
        for fan in now.fans:
            front = 1 << fan
            for _ in range(fan // self.columns):
                front = self.around(front) & now.dug
            reached |= front
        return reached


class Now(NamedTuple):
    """Mutable part of the state: the open cells, the fans, the settled and the ruined halls, charges and fans left, the day."""

    dug: int
    fans: tuple[int, ...]
    settled: int
    ruined: int
    charges: int
    spare: int
    day: int


@dataclass(slots=True)
class State:
    """A city, and its current state."""

    city: City
    now: Now

    def __deepcopy__(self, memo: object) -> State:
        """Return an independent copy; the city is shared."""
        return State(self.city, self.now)


def read_level(level: LevelData) -> State:
    """Return the initial state of a level."""
    plan: tuple[str, ...] = tuple(level["plan"])
    columns, cells = len(plan[0]), "".join(plan)
    halls = tuple(Hall(letter, cells.index(letter), worth) for letter, worth in level["halls"])
    costs = tuple(1 if symbol.islower() else DAYS.get(symbol, 0) for symbol in cells)
    rightmost = sum(1 << (row + 1) * columns - 1 for row in range(len(plan)))
    city = City(plan, costs, halls, level["steps"], columns, rightmost)
    return State(city, Now(1 << cells.index("="), (), 0, 0, level["charges"], level["fans"], 0))


def after(city: City, now: Now, verb: str, cell: int) -> tuple[Now, int]:
    """Return the state after an action, and its reward.

    Raises:
        RefusedError: if the action is impossible.
    """
    bit = 1 << cell
    if verb == "fan":
        if not now.spare:
            raise RefusedError("You have no fan left.")
        if not now.dug & bit:
            raise RefusedError("A fan needs an open cell.")
        days, then = 1, now._replace(fans=tuple(sorted((*now.fans, cell))), spare=now.spare - 1)
    else:
        days, then = _opened(city, now, verb, cell)
    if now.day + days > city.days:
        raise RefusedError(f"That takes {days} days, and there are not as many left.")
    return _settled(city, then._replace(day=now.day + days))


def _opened(city: City, now: Now, verb: str, cell: int) -> tuple[int, Now]:
    bit = 1 << cell
    if now.dug & bit:
        raise RefusedError("That cell is open already.")
    if not city.costs[cell]:
        raise RefusedError("Nothing opens that cell.")
    if not city.around(bit) & now.dug:
        raise RefusedError("No open cell is next to that one.")
    if verb == "dig":
        return city.costs[cell], now._replace(dug=now.dug | bit)
    if not now.charges:
        raise RefusedError("You have no charge left.")
    shaken = city.around(bit) & ~now.dug
    ruined = sum(1 << hall.cell for hall in city.halls if shaken >> hall.cell & 1)
    return 1, now._replace(dug=now.dug | bit, ruined=now.ruined | ruined, charges=now.charges - 1)


def _settled(city: City, now: Now) -> tuple[Now, int]:
    """Settle the open halls that have air, and pay for them."""
    fit = now.dug & ~now.settled & ~now.ruined
    pay = settled = 0
    if now.fans and any(fit >> hall.cell & 1 for hall in city.halls):
        fit &= city.aired(now)
        for hall in city.halls:
            if fit >> hall.cell & 1:
                settled |= 1 << hall.cell
                pay += max(0, hall.worth - now.day)
    return (now._replace(settled=now.settled | settled) if settled else now), pay


class UndergroundHalls(Dynamics[State]):
    """A mountain, a shaft, and halls that need air and settlers."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level."""
        return read_level(level)

    def act(self, state: State, action: Action) -> Outcome:
        """Dig, blast, or set up a fan."""
        city, before = state.city, state.now
        row, column = action.params["row"], action.params["column"]
        if row >= len(city.plan) or column >= city.columns:
            raise RefusedError(f"The mountain ends at row {len(city.plan) - 1} and column {city.columns - 1}.")
        now, pay = after(city, before, action.name, row * city.columns + column)
        state.now = now
        sentences = [f"It is day {now.day}."]
        sentences += [
            f"Hall {h.letter} is in ruins." for h in city.halls if (now.ruined & ~before.ruined) >> h.cell & 1
        ]
        settled = [h.letter for h in city.halls if (now.settled & ~before.settled) >> h.cell & 1]
        if settled:
            sentences.append(f"Settlers move into hall {' and '.join(settled)}.")
        return Outcome(float(pay), _over(city, now), " ".join(sentences))

    def refuse(self, state: State) -> Outcome:
        """Lose a day."""
        state.now = state.now._replace(day=state.now.day + 1)
        return Outcome(done=_over(state.city, state.now), message="A day is lost.")

    def observe(self, state: State) -> dict[str, Any]:
        """Show the whole cross-section, and every hall."""
        city, now = state.city, state.now
        aired, cells = city.aired(now), list("".join(city.plan))
        for cell, symbol in enumerate(cells):
            if now.dug >> cell & 1 and symbol != "=":
                cells[cell] = "+" if aired >> cell & 1 else "."
        for hall in city.halls:
            if (now.ruined | now.settled) >> hall.cell & 1:
                cells[hall.cell] = "x" if now.ruined >> hall.cell & 1 else "*"
            elif now.dug >> hall.cell & 1:
                cells[hall.cell] = hall.letter.upper()
        for fan in now.fans:
            cells[fan] = "F"
        text = "".join(cells)
        return {
            "grid": [text[i : i + city.columns] for i in range(0, len(text), city.columns)],
            "halls": [_told(city, now, hall) for hall in city.halls],
            "day": now.day,
            "days": city.days,
            "charges": now.charges,
            "fans": now.spare,
        }


def _over(city: City, now: Now) -> bool:
    halls = sum(1 << hall.cell for hall in city.halls)
    return now.day >= city.days or halls == now.settled | now.ruined


def _told(city: City, now: Now, hall: Hall) -> str:
    bit = 1 << hall.cell
    row, column = divmod(hall.cell, city.columns)
    if now.ruined & bit:
        stands = "in ruins"
    elif now.settled & bit:
        stands = "settled"
    else:
        stands = f"{'open, without air' if now.dug & bit else 'closed'}; worth {max(0, hall.worth - now.day)} today"
    return f"Hall {hall.letter} (row {row}, column {column}): {stands}"


DYNAMICS = UndergroundHalls()
