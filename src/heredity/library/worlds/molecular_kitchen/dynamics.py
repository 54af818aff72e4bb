"""The rules of `molecular_kitchen`.

A brew has three tastes. The effect of a molecule depends on its shape (hidden, the same everywhere) and on its taste
and strength (hidden, different in every level). A fork acts on the next molecule, so the order matters.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome
from heredity.kinds.world.mechanics.grids import Cell, cells_of, moved, window

TASTES = ("sweet", "sour", "bitter")
STRONGEST = 9
HOLDS = 6
RADIUS = 1
Taste = tuple[int, int, int]


class Molecule(NamedTuple):
    """A molecule: its name, its shape (ring, hook, chain or fork), the taste it acts on (0 to 2), and its strength."""

    name: str
    shape: str
    taste: int
    strength: int


class Brew(NamedTuple):
    """Content of the flask: its taste, and how many times the next molecule acts."""

    taste: Taste = (0, 0, 0)
    times: int = 1


def stirred(brew: Brew, molecule: Molecule) -> Brew:
    """Return the brew after a molecule was added.

    A ring adds its strength to its taste, a hook takes it away, a chain exchanges its taste with the one after it, and
    a fork lets the next molecule act twice as often.
    """
    if molecule.shape == "fork":
        return Brew(brew.taste, 2 * brew.times)
    taste, at = list(brew.taste), molecule.taste
    after = (at + 1) % len(TASTES)
    for _ in range(brew.times):
        if molecule.shape == "chain":
            taste[at], taste[after] = taste[after], taste[at]
        else:
            change = molecule.strength if molecule.shape == "ring" else -molecule.strength
            taste[at] = min(STRONGEST, max(0, taste[at] + change))
    return Brew((taste[0], taste[1], taste[2]))


@dataclass(frozen=True, slots=True)
class Pantry:
    """Immutable part of the state: the floor plan, the table, the places of molecules, and the ordered taste."""

    plan: tuple[str, ...]
    table: Cell
    shelves: dict[Cell, Molecule]
    order: Taste


@dataclass(slots=True)
class State:
    """Position of the cook, and content of the flask."""

    pantry: Pantry
    at: Cell
    brew: Brew = field(default_factory=Brew)
    held: tuple[str, ...] = ()

    def __deepcopy__(self, memo: object) -> State:
        """Return an independent copy; the pantry is shared."""
        return State(self.pantry, self.at, self.brew, self.held)


def read_pantry(level: LevelData) -> Pantry:
    """Return the pantry of a level."""
    plan: tuple[str, ...] = tuple(level["plan"])
    shelves = {cells_of(plan, name[0])[0]: Molecule(name, *rest) for name, *rest in level["molecules"]}
    sweet, sour, bitter = level["order"]
    return Pantry(plan, cells_of(plan, "T")[0], shelves, (sweet, sour, bitter))


class MolecularKitchen(Dynamics[State]):
    """A pantry with shelves of molecules, a flask, and a table with a guest."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level."""
        pantry = read_pantry(level)
        return State(pantry, pantry.table)

    def act(self, state: State, action: Action) -> Outcome:
        """Walk, add the molecule here, taste, empty the flask, or serve it."""
        if action.name == "move":
            return _move(state, action.params["direction"])
        if action.name == "add":
            return _add(state)
        if not state.held:
            raise RefusedError("The flask is empty.")
        if action.name == "taste":
            return Outcome(message=f"The brew tastes {_words(state.brew.taste)}.")
        if action.name == "empty":
            state.brew, state.held = Brew(), ()
            return Outcome(message="You rinse the flask.")
        if state.at != state.pantry.table:
            raise RefusedError("The guest sits at the table, and you are not there.")
        if state.brew.taste == state.pantry.order:
            return Outcome(1.0, done=True, message="The guest smiles: this is the taste that was ordered.")
        return Outcome(done=True, message=f"The guest puts the glass down: it tastes {_words(state.brew.taste)}.")

    def observe(self, state: State) -> dict[str, Any]:
        """Show the cells around, the molecule here, and the flask, but not its taste."""
        pantry, (row, column) = state.pantry, state.at
        rows = [list(line) for line in window(pantry.plan, state.at, RADIUS, "#")]
        rows[RADIUS][RADIUS] = "@"
        molecule = pantry.shelves.get(state.at)
        return {
            "grid": ["".join(line) for line in rows],
            "row": row,
            "column": column,
            "table": f"row {pantry.table[0]}, column {pantry.table[1]}",
            "size": f"{len(pantry.plan)} by {len(pantry.plan[0])}",
            "here": f"a shelf of {molecule.name}, a {molecule.shape}" if molecule else "nothing to take",
            "flask": " - ".join(state.held) or "nothing",
            "order": _words(pantry.order),
        }


def _move(state: State, direction: str) -> Outcome:
    row, column = target = moved(state.at, direction)
    plan = state.pantry.plan
    if not (0 <= row < len(plan) and 0 <= column < len(plan[0])) or plan[row][column] == "#":
        raise RefusedError("A wall stops you.")
    state.at = target
    return Outcome()


def _add(state: State) -> Outcome:
    molecule = state.pantry.shelves.get(state.at)
    if molecule is None:
        raise RefusedError("There is nothing to take here.")
    if len(state.held) == HOLDS:
        raise RefusedError(f"The flask is full: it holds {HOLDS} molecules.")
    state.brew = stirred(state.brew, molecule)
    state.held = (*state.held, molecule.name)
    return Outcome(message=f"You stir in some {molecule.name}.")


def _words(taste: Taste) -> str:
    return ", ".join(f"{name} {amount}" for name, amount in zip(TASTES, taste, strict=True))


DYNAMICS = MolecularKitchen()
