"""The rules of `shadow_theatre`.

Seen from above, the stage has lanes before the screen, and the lamp moves along the floor before all of them. A puppet
in lane k casts a shadow k + 1 times its size (a true perspective: a point at column x falls on column (k + 1) * x - k *
lamp, and a height h on (k + 1) * h). Shadows off the screen are lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome

WIDTH, HEIGHT, LANES = 18, 9, 3
"""Columns of stage and screen, rows of the screen, and lanes from the screen to the lamp."""
SHAPES: tuple[tuple[str, ...], ...] = (
    ("#.", "##"),
    ("##.", ".##"),
    ("#", "#", "#"),
    (".#.", "###"),
    ("##", "##", ".#"),
)
"""Cut-outs, in rows from the top."""
_STEPS = {"left": (-1, 0), "right": (1, 0), "closer": (0, -1), "farther": (0, 1)}
_MARKS = (".", "x", "o", "#")

Screen = tuple[int, ...]
"""Rows from the top, each a number whose bit c is set if column c is dark."""


class Puppet(NamedTuple):
    """A puppet: its cut-out, quarter turns to the right, the column of its left edge, and its lane (0 is at the screen)."""

    shape: int
    turns: int
    column: int
    lane: int


class Scene(NamedTuple):
    """Mutable part of the state: the lamp's column, and the puppets."""

    lamp: int
    puppets: tuple[Puppet, ...]


@dataclass(slots=True)
class State:
    """The wanted silhouette, and the scene."""

    wanted: Screen
    scene: Scene

    def __deepcopy__(self, memo: object) -> State:
        """Return an independent copy; the contents are immutable."""
        return State(self.wanted, self.scene)


@lru_cache(maxsize=64)
def cut(shape: int, turns: int) -> tuple[str, ...]:
    """Return the rows of a cut-out after some quarter turns to the right."""
    rows = SHAPES[shape]
    for _ in range(turns):
        rows = tuple("".join(column) for column in zip(*rows[::-1], strict=True))
    return rows


@lru_cache(maxsize=4096)
def shadow(puppet: Puppet, lamp: int) -> Screen:
    """Return the shadow of one puppet."""
    scale, rows = puppet.lane + 1, cut(puppet.shape, puppet.turns)
    left = scale * puppet.column - puppet.lane * lamp
    dark = [0] * HEIGHT
    for index, row in enumerate(reversed(rows)):
        bits = sum(((1 << scale) - 1) << (scale * c) for c, symbol in enumerate(row) if symbol == "#")
        shifted = (bits << left if left >= 0 else bits >> -left) & ((1 << WIDTH) - 1)
        for height in range(scale * index, min(HEIGHT, scale * (index + 1))):
            dark[HEIGHT - 1 - height] = shifted
    return tuple(dark)


def shadows(scene: Scene) -> Screen:
    """Return the cells darkened by all puppets together."""
    dark = [0] * HEIGHT
    for puppet in scene.puppets:
        for row, bits in enumerate(shadow(puppet, scene.lamp)):
            dark[row] |= bits
    return tuple(dark)


def after(scene: Scene, puppet: int, what: str) -> Scene:
    """Return the scene after a puppet moved (`left`, `right`, `closer`, `farther`) or turned (`turn left`, `turn right`).

    Puppets of the same lane may not overlap, and none may stick out of the stage.

    Raises:
        RefusedError: if it cannot move.
    """
    if puppet >= len(scene.puppets):
        raise RefusedError(f"There is no puppet {puppet + 1}; there are {len(scene.puppets)}.")
    before = scene.puppets[puppet]
    if what.startswith("turn"):
        moved = before._replace(turns=(before.turns + (1 if what == "turn right" else 3)) % 4)
    else:
        across, away = _STEPS[what]
        moved = before._replace(column=before.column + across, lane=before.lane + away)
    if not 0 <= moved.lane < LANES:
        raise RefusedError(f"Puppet {puppet + 1} is in the last lane on that side.")
    left, right = _edges(moved)
    if left < 0 or right > WIDTH:
        raise RefusedError(f"Puppet {puppet + 1} would stick out of the stage.")
    for other, standing in enumerate(scene.puppets):
        if (
            other != puppet
            and standing.lane == moved.lane
            and left < _edges(standing)[1]
            and _edges(standing)[0] < right
        ):
            raise RefusedError(f"Puppet {other + 1} is in the way.")
    return scene._replace(puppets=(*scene.puppets[:puppet], moved, *scene.puppets[puppet + 1 :]))


def lamp_moved(scene: Scene, direction: str) -> Scene:
    """Return the scene after the lamp moved one column.

    Raises:
        RefusedError: if it stands at the end.
    """
    lamp = scene.lamp + _STEPS[direction][0]
    if not 0 <= lamp <= WIDTH:
        raise RefusedError("The lamp is at the end of its rail.")
    return scene._replace(lamp=lamp)


def read_scene(level: LevelData) -> Scene:
    """Return the initial scene of a level."""
    return Scene(level["lamp"], tuple(Puppet(*puppet) for puppet in level["puppets"]))


class ShadowTheatre(Dynamics[State]):
    """A lamp, puppets and a screen."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level."""
        return State(tuple(level["wanted"]), read_scene(level))

    def act(self, state: State, action: Action) -> Outcome:
        """Move or turn a puppet, or move the lamp."""
        direction: str = action.params["direction"]
        if action.name == "lamp":
            state.scene = lamp_moved(state.scene, direction)
        else:
            what = f"turn {direction}" if action.name == "turn" else direction
            state.scene = after(state.scene, action.params["puppet"] - 1, what)
        dark = shadows(state.scene)
        if dark == state.wanted:
            return Outcome(1.0, done=True, message="The shadows make the silhouette. The audience claps.")
        return Outcome(message=f"{_wrong(dark, state.wanted)} cells of the screen are not as wanted.")

    def observe(self, state: State) -> dict[str, Any]:
        """Show the screen with the silhouette, and the stage."""
        scene, dark = state.scene, shadows(state.scene)
        return {
            "grid": [_row(*rows) for rows in zip(dark, state.wanted, strict=True)],
            "wrong": _wrong(dark, state.wanted),
            "lamp": scene.lamp,
            "puppets": [_words(number, puppet) for number, puppet in enumerate(scene.puppets, 1)],
        }


def _edges(puppet: Puppet) -> tuple[int, int]:
    return puppet.column, puppet.column + len(cut(puppet.shape, puppet.turns)[0])


def _wrong(dark: Screen, wanted: Screen) -> int:
    return sum((a ^ b).bit_count() for a, b in zip(dark, wanted, strict=True))


@lru_cache(maxsize=8192)
def _row(dark: int, wanted: int) -> str:
    return "".join(_MARKS[(dark >> c & 1) + 2 * (wanted >> c & 1)] for c in range(WIDTH))


@lru_cache(maxsize=4096)
def _words(number: int, puppet: Puppet) -> str:
    shape = " / ".join(cut(puppet.shape, puppet.turns))
    return f"Puppet {number}: cut-out {shape}, left edge at column {puppet.column}, lane {puppet.lane}"


DYNAMICS = ShadowTheatre()
