"""The rules of `mind_chorus`.

Every mind thinks of dawn or of dusk. In each round all minds listen simultaneously to those they hear, and change or
not by temper. All thoughts form one number: bit i is set if mind i thinks of dawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome

NEEDED = {"follower": 1, "stubborn": 3, "contrary": -1}
"""How far the pull of one side must be above that of the other for a mind to turn; less than 0: it turns the other way."""
THOUGHTS = ("dusk", "dawn")
Thoughts = TypeVar("Thoughts", int, NDArray[np.int64])


@dataclass(frozen=True, slots=True)
class Village:
    """Immutable part of the state.

    Attributes:
        names: names of the minds.
        depths: weight of each mind in the agreement, and its cost of being whispered to.
        needed: each mind's temper, as in `NEEDED`.
        heard: for each mind the minds it hears, each with the strength of its voice.
        lines: text about each mind before and after its thought.
    """

    names: tuple[str, ...]
    depths: tuple[int, ...]
    needed: tuple[int, ...]
    heard: tuple[tuple[tuple[int, int], ...], ...]
    lines: tuple[tuple[str, str], ...]

    def listened(self, thoughts: Thoughts, hushed: int | None = None) -> Thoughts:
        """Return the thoughts after a round of listening.

        Args:
            thoughts: thoughts before it; an array of them gives an array of results.
            hushed: a mind that is not heard in this round.
        """
        after = thoughts & 0
        for mind, voices in enumerate(self.heard):
            pull = thoughts & 0
            for other, strength in voices:
                if other != hushed:
                    pull = pull + strength * (2 * (thoughts >> other & 1) - 1)
            needed = self.needed[mind]
            if needed < 0:
                pull, needed = -pull, -needed
            turned_or_kept = (pull >= needed) | ((pull > -needed) & (thoughts >> mind & 1))
            after = after | turned_or_kept << mind
        return after

    def agreement(self, thoughts: int) -> int:
        """Return the larger of the two sides' depths."""
        dawn = sum(depth for mind, depth in enumerate(self.depths) if thoughts >> mind & 1)
        return max(dawn, sum(self.depths) - dawn)

    def after(self, thoughts: Thoughts, verb: str, mind: int) -> Thoughts:
        """Return the thoughts (number or array) after an action on a mind and the following round of listening."""
        bit = 1 << mind
        if verb == "hush":
            return self.listened(thoughts, mind)
        if verb == "steady":
            return self.listened(thoughts) & ~bit | thoughts & bit
        return self.listened(thoughts ^ bit if verb == "whisper" else thoughts)

    def cost(self, verb: str, mind: int) -> int:
        """Return the influence that an action on a mind costs."""
        return self.depths[mind] if verb == "whisper" else 0 if verb == "listen" else 1


@dataclass(slots=True)
class State:
    """The thoughts, the influence left, and the best agreement so far or without intervention."""

    village: Village
    thoughts: int
    influence: int
    best: int

    def __deepcopy__(self, memo: object) -> State:
        """Return an independent copy; the village is shared."""
        return State(self.village, self.thoughts, self.influence, self.best)


def read_village(level: LevelData) -> Village:
    """Return the village of a level."""
    minds = level["minds"]
    names = tuple(mind["name"] for mind in minds)
    return Village(
        names,
        tuple(mind["depth"] for mind in minds),
        tuple(NEEDED[mind["temper"]] for mind in minds),
        tuple(tuple((other, strength) for other, strength in mind["hears"]) for mind in minds),
        tuple(
            (
                f"{mind['name']}: thinks of ",
                f"; depth {mind['depth']}, {mind['temper']}, hears "
                + ", ".join(f"{names[other]} ({strength})" for other, strength in mind["hears"]),
            )
            for mind in minds
        ),
    )


class MindChorus(Dynamics[State]):
    """A village of minds, and an agent that may whisper, steady and hush."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level."""
        village, thoughts = read_village(level), level["thoughts"]
        return State(village, thoughts, level["influence"], level["idle"])

    def act(self, state: State, action: Action) -> Outcome:
        """Act on a mind, or on none, and let all listen; a new best agreement pays its improvement."""
        village, verb, mind = state.village, action.name, 0
        if verb != "listen":
            name = action.params["mind"]
            if name not in village.names:
                raise RefusedError(f"Nobody here is called {name}.")
            mind = village.names.index(name)
        cost = village.cost(verb, mind)
        if cost > state.influence:
            raise RefusedError(f"That takes {cost} influence, and you have {state.influence} left.")
        before, state.thoughts = state.thoughts, village.after(state.thoughts, verb, mind)
        state.influence -= cost
        agreement = village.agreement(state.thoughts)
        gain, state.best = max(0, agreement - state.best), max(agreement, state.best)
        done = agreement == sum(village.depths)
        message = "All think as one." if done else _told(village, before, state.thoughts)
        return Outcome(float(gain), done, message)

    def observe(self, state: State) -> dict[str, Any]:
        """Show every mind and its thought."""
        village, thoughts = state.village, state.thoughts
        words = [THOUGHTS[thoughts >> mind & 1] for mind in range(len(village.names))]
        whole = sum(village.depths)
        return {
            "minds": [f"{head}{word}{tail}" for word, (head, tail) in zip(words, village.lines, strict=True)],
            "grid": ["".join(["o" if word == "dawn" else "x" for word in words])],
            "agreement": village.agreement(thoughts),
            "best": state.best,
            "whole": whole,
            "influence": state.influence,
            "gauges": {"agreement": [village.agreement(thoughts), 0, whole], "influence": [state.influence, 0, whole]},
        }


def _told(village: Village, before: int, after: int) -> str:
    """List the minds that changed."""
    turned: dict[str, list[str]] = {"dawn": [], "dusk": []}
    for mind, name in enumerate(village.names):
        if (before ^ after) >> mind & 1:
            turned[THOUGHTS[after >> mind & 1]].append(name)
    parts = [f"{', '.join(names)} turned to {thought}" for thought, names in turned.items() if names]
    return f"{'; '.join(parts)}." if parts else "Nobody turned."


DYNAMICS = MindChorus()
