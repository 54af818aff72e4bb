"""Moments: snapshots of an environment that can be restored and compared, so that a search need not replay prefixes."""

from __future__ import annotations

import hashlib
import json
import marshal
import pickle
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

Action = dict[str, Any]
Path = tuple[Any, ...]
Choose = Callable[[Any], Action]
_ASIDE = frozenset({"_history", "_last_action_result"})
"""Attributes that do not distinguish moments: the history, and the last action's result, which the next step clears."""
_RECALLED = 2
"""Number of last history entries that distinguish moments, in addition to its length: environments compare with the
previous state.
"""


@dataclass(frozen=True, slots=True)
class Moment:
    """A snapshot of everything that affects the future; with `held` None, the actions must be replayed."""

    held: bytes | None
    chance: Any
    past: int
    actions: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class Taken:
    """The result of an action: reward, end of the episode, exception."""

    reward: float = 0.0
    done: bool = False
    failed: str = ""


class Moments:
    """The environment of a world on one level, after a few plays that showed which parts change.

    Args:
        world: the guest's `World`.
        level: level to start; None generates a level.
        seed: seed of the level's chance.
        plays: for each initial play, a function that chooses an action from the environment.
        horizon: maximum length of a play, in steps.

    Attributes:
        steps: total number of steps taken.
        played: the actions of these plays.
        uses_chance: True if a global generator was used after the level started; `uses_numpy`: True if it was numpy's.
        clock: leaves that change by the same amount in every step.
    """

    def __init__(self, world: Any, level: str | None, seed: int, plays: Sequence[Choose], horizon: int) -> None:
        self._world, self._level, self._seed = world, level, seed
        self.steps = 0
        self.played: list[list[Action]] = []
        self.uses_chance = self.uses_numpy = False
        self._random_states: Any = None
        self.clock: frozenset[Path] = frozenset()
        self._still: dict[str, Any] = {}
        self._moving: tuple[str, ...] = ()
        self._learn(plays, horizon)

    @property
    def env(self) -> Any:
        """The environment."""
        return self._world.env

    def begin(self) -> bool:
        """Start the level; return True if it is over at once."""
        over = bool(self._world.reset(self._level, self._seed)["done"])
        self._random_states = random.getstate(), _numpy_at()
        return over

    def step(self, action: Action) -> Taken:
        """Take an action."""
        self.steps += 1
        try:
            _, reward, done, _ = self.env.step(action)
            if not self.uses_chance:
                self.uses_numpy = _numpy_at() != self._random_states[1]
                self.uses_chance = self.uses_numpy or random.getstate() != self._random_states[0]
            elif not self.uses_numpy:
                self.uses_numpy = _numpy_at() != self._random_states[1]
            return Taken(float(reward), bool(done))
        except Exception as error:  # noqa: BLE001 - whatever a world raises is what is asked for
            return Taken(failed=self._world.described(error))

    def take(self, actions: Sequence[Action]) -> Moment:
        """Return a snapshot; `actions` lead to it from the start."""
        values = {name: value for name, value in vars(self.env).items() if name not in self._still}
        past = values.get("_history")
        length = len(past) if isinstance(past, list) else 0
        if length > _RECALLED:
            values["_history"] = past[-_RECALLED:]  # type: ignore[index]
        try:
            held = pickle.dumps(values, 5)
        except Exception:  # noqa: BLE001 - what cannot be pickled raises anything
            held = None
        return Moment(held, self._chance(), length, tuple(actions))

    def put(self, moment: Moment) -> None:
        """Restore a snapshot."""
        if moment.held is None:
            self.begin()
            for action in moment.actions:
                self.step(action)
            return
        values: dict[str, Any] = pickle.loads(moment.held)
        if moment.past > _RECALLED:
            recalled = values["_history"]
            values["_history"] = [recalled[0]] * (moment.past - _RECALLED) + recalled
        own = vars(self.env)
        own.clear()
        own.update(self._still)
        own.update(values)
        if moment.chance is not None:
            random.setstate(moment.chance[0])
            if moment.chance[1] is not None:
                np.random.set_state(moment.chance[1])

    def key(self, *, timed: bool = False) -> bytes:
        """Return a key of the current moment: everything except the history and, unless `timed`, clocks."""
        values = {name: value for name, value in vars(self.env).items() if name in self._moving}
        held: list[tuple[Any, Any, Any]] = []
        if not timed:
            for path in self.clock:
                inside: Any = values
                for part in path[:-1]:
                    inside = inside[part]
                held.append((inside, path[-1], inside[path[-1]]))
                inside[path[-1]] = None
        try:
            data = marshal.dumps(values, 2)
        except ValueError:
            data = json.dumps(self._world.plain(values), sort_keys=True).encode("utf-8", "backslashreplace")
        finally:
            for inside, part, value in held:
                inside[part] = value
        if self.uses_chance:
            data += hash(random.getstate()).to_bytes(8, "big", signed=True)
        if self.uses_numpy:
            numpy_state: Any = np.random.get_state()
            data += numpy_state[1].tobytes() + repr(numpy_state[2:]).encode()
        return hashlib.blake2b(data, digest_size=12).digest()

    def leaves(self) -> dict[Path, Any]:
        """Return the single values that distinguish moments, by path."""
        return dict(leaves_of({name: value for name, value in vars(self.env).items() if name in self._moving}))

    def _chance(self) -> tuple[Any, Any] | None:
        numpy_state = np.random.get_state() if self.uses_numpy else None
        return (random.getstate(), numpy_state) if self.uses_chance else None

    def _learn(self, plays: Sequence[Choose], horizon: int) -> None:
        changed: set[str] = set()
        series: dict[Path, list[list[Any]]] = {}
        for choose in plays:
            over = self.begin()
            first = {name: _pickled(value) for name, value in vars(self.env).items()}
            played: list[Action] = []
            seen: list[dict[Path, Any]] = [dict(leaves_of(_data(self.env)))]
            for _ in range(horizon):
                if over:
                    break
                action = choose(self.env)
                taken = self.step(action)
                if taken.failed:
                    break
                played.append(action)
                seen.append(dict(leaves_of(_data(self.env))))
                over = taken.done
            self.played.append(played)
            changed |= {n for n, v in vars(self.env).items() if n not in first or _pickled(v) != first[n]}
            for path, value in seen[0].items():
                if isinstance(value, int | float) and not isinstance(value, bool):
                    series.setdefault(path, []).append([moment.get(path) for moment in seen])
        self.clock = frozenset(path for path, plays in series.items() if _is_clock(plays))
        plain = set(_data(self.env)) - {"configs"}
        moving = (changed | plain) - _ASIDE
        self._still = {n: v for n, v in vars(self.env).items() if n not in moving and n not in _ASIDE}
        self._moving = tuple(sorted(moving))
        self.clock = frozenset(path for path in self.clock if path[0] in moving)


def leaves_of(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield the single values in dictionaries and lists, with their paths."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves_of(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from leaves_of(inner, (*path, index))
    else:
        yield path, value


def _data(env: Any) -> dict[str, Any]:
    kinds: tuple[Any, ...] = (dict, list, tuple, str, int, float, type(None))
    return {n: v for n, v in vars(env).items() if n not in _ASIDE and isinstance(v, kinds)}


def _is_clock(plays: Sequence[Sequence[Any]]) -> bool:
    """Return True if a number changes by the same amount in every step of all plays."""
    if not all(isinstance(value, int | float) for values in plays for value in values):
        return False
    steps = {b - a for values in plays for a, b in pairwise(values)}
    return len(steps) == 1 and steps != {0}


def _pickled(value: Any) -> bytes:
    try:
        return pickle.dumps(value, 5)
    except Exception:  # noqa: BLE001 - what cannot be pickled raises anything
        return b""


def _numpy_at() -> int:
    state: Any = np.random.get_state()
    return int(state[2])
