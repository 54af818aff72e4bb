"""Actions to try in a state: those read from the folder by the host, and values taken from the state.

Types are often prose ("the item to trade", "ID of the stream"): likely values are in the state under matching words.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from world_folder_moments import Action, Path, leaves_of

_WORD = re.compile(r"[a-z]+|\d+")
_NUMBERS = (1, 2, 3, 5, 10, 20, 50)
_MOST_POOL = 12
_MOST_FIXED = 48
_FRESH = 3
_WANTED: Mapping[str, Any] = {"integer": int, "number": int | float, "text": str, "dict": str | int}
"""Python types of each kind of parameter; others may be texts or numbers."""
_REMEMBERED = 10
_DULL = frozenset(
    (
        "the",
        "of",
        "to",
        "a",
        "in",
        "for",
        "from",
        "is",
        "be",
        "must",
        "and",
        "or",
        "id",
        "type",
        "name",
        "value",
        "exact",
    )
)


class Choices:
    """Actions to try.

    Args:
        actions: actions read by the host: `name`, and `params`, each with `tried`, `complete` (there are no others),
            `closed` (others are like them), `kind`, `text` and `elements` of a list.
        examples: complete actions that the folder's texts give.
        draws: source of chance.
    """

    def __init__(self, actions: Sequence[Mapping[str, Any]], examples: Sequence[Action], draws: random.Random) -> None:
        self._draws = draws
        closed = [a for a in actions if all(p["closed"] for p in a["params"].values())]
        self._all = all(p["complete"] for a in actions for p in a["params"].values())
        self._open = [a for a in actions if a not in closed]
        fixed = [action for listed in closed for action in _product(listed)]
        self.fixed: list[Action] = [*fixed, *(e for e in examples if e not in fixed)]
        self.useful: dict[str, Action] = {}

    @property
    def complete(self) -> bool:
        """True if the fixed actions are complete, and few enough to try everywhere."""
        return self._all and len(self.fixed) <= _MOST_FIXED

    def here(self, state: Any) -> list[Action]:
        """Return actions to try in a state: fixed ones, some useful earlier ones, and new ones with values of the state."""
        fixed = self.fixed if len(self.fixed) <= _MOST_FIXED else self._draws.sample(self.fixed, _MOST_FIXED)
        if not self._open:
            return list(fixed)
        useful = list(self.useful.values())
        if len(useful) > _REMEMBERED:
            useful = self._draws.sample(useful, _REMEMBERED)
        standing = _Standing(list(leaves_of(state)))
        fresh = [self._fresh(listed, standing) for listed in self._open for _ in range(_FRESH)]
        return [*fixed, *{repr(action): action for action in (*useful, *fresh)}.values()]

    def keep(self, action: Action) -> None:
        """Remember an action that had an effect."""
        if action not in self.fixed and len(self.useful) < 400:
            self.useful[repr(action)] = action

    def random(self, state: Any) -> Action:
        """Return a random action."""
        return self._draws.choice(self.here(state))

    def _fresh(self, listed: Mapping[str, Any], standing: _Standing) -> Action:
        given: Mapping[str, Any] = listed["params"]
        length = self._draws.randint(2, 6)
        drawn = {name: self._value(name, declared, standing, length) for name, declared in given.items()}
        lists = [value for value in drawn.values() if isinstance(value, list)]
        if lists and all(isinstance(e, str) for e in lists[0]):
            drawn.update({name: length for name in drawn if re.search("length|count|number", name)})
        return {"action": listed["name"], "params": drawn}

    def _value(self, name: str, declared: Mapping[str, Any], standing: _Standing, length: int) -> Any:
        if declared["closed"]:
            return self._draws.choice(declared["tried"])
        kind = declared["kind"]
        if kind == "list" and declared["elements"]:
            return self._list(declared["elements"], standing.leaves, length)
        if kind == "list":
            return self._draws.choice(declared["tried"])
        if kind == "dict":
            names = standing.pool(name, declared["text"], "dict")
            return {str(key): self._draws.choice(_NUMBERS) for key in names[:2]}
        harvested = standing.pool(name, declared["text"], kind)
        numbers = (
            list(_NUMBERS) if kind in ("integer", "number") or re.search("amount|quantity|volume|units", name) else []
        )
        tried = [value for value in declared["tried"] if kind or not harvested]
        options = [group for group in (harvested, numbers, tried) if group]
        return self._draws.choice(self._draws.choice(options)) if options else 1

    def _list(self, elements: Sequence[Any], leaves: Sequence[tuple[Path, Any]], length: int) -> list[Any]:
        columns: dict[Path, list[Any]] = {}
        for path, value in leaves:
            if value in elements and len(path) > 2 and isinstance(path[-2], int):
                columns.setdefault((*path[:-2], path[-1]), []).append(value)
        fitting = [column for column in columns.values() if len(column) == length]
        if fitting and self._draws.random() < 0.7:
            shift = self._draws.randrange(len(elements))
            column = self._draws.choice(fitting)
            return [elements[(list(elements).index(value) + shift) % len(elements)] for value in column]
        return [self._draws.choice(elements) for _ in range(length)]


class _Standing:
    """The values in a state, with the words of their paths.

    Args:
        leaves: the single values of the state, with their paths.
    """

    def __init__(self, leaves: Sequence[tuple[Path, Any]]) -> None:
        self.leaves = leaves
        self._pools: dict[tuple[str, str, str], list[Any]] = {}
        self._nameable: list[tuple[Any, frozenset[str]]] | None = None

    def pool(self, name: str, text: str, kind: str) -> list[Any]:
        """Return likely values of a parameter: those under words in its name or description, best first."""
        key = name, text, kind
        if key not in self._pools:
            self._pools[key] = self._matches(name, text, _WANTED.get(kind, str | int | float))
        return self._pools[key]

    def _matches(self, name: str, text: str, wanted: Any) -> list[Any]:
        if self._nameable is None:
            self._nameable = list(_nameable_values(self.leaves))
        words = _words(name) * 2 + _words(text)
        scores: dict[frozenset[str], int] = {}
        scored: dict[Any, int] = {}
        for value, under in self._nameable:
            if isinstance(value, wanted):
                if under not in scores:
                    scores[under] = sum(words.count(word) for word in under)
                if scores[under]:
                    scored[value] = max(scores[under], scored.get(value, 0))
        best = sorted(scored, key=lambda value: -scored[value])
        return best[:_MOST_POOL]


def _nameable_values(leaves: Sequence[tuple[Path, Any]]) -> Iterator[tuple[Any, frozenset[str]]]:
    """Yield leaves and dictionary keys that actions may name, once each, with the words of their paths."""
    seen: set[tuple[Any, ...]] = set()
    for path, value in leaves:
        under, keys = _standing_under(path)
        for one, words in ((value, under), *keys):
            if isinstance(one, bool) or not isinstance(one, str | int | float) or one == "":
                continue
            entry = type(one), one, words
            if entry not in seen:
                seen.add(entry)
                yield one, words


@lru_cache(1 << 14)
def _standing_under(path: Path) -> tuple[frozenset[str], tuple[tuple[str, frozenset[str]], ...]]:
    """Return the words on a path, and each key on it with the words above."""
    texts = [frozenset(_words(part)) if isinstance(part, str) else frozenset[str]() for part in path]
    keys = [(part, frozenset[str]().union(*texts[:at])) for at, part in enumerate(path) if at and isinstance(part, str)]
    return frozenset[str]().union(*texts), tuple(keys)


@lru_cache(1 << 14)
def _words(text: str) -> tuple[str, ...]:
    words = _WORD.findall(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).lower())
    return tuple(word.rstrip("s") for word in words if word not in _DULL and len(word) > 1)


def _product(listed: Mapping[str, Any]) -> list[Action]:
    rows: list[dict[str, Any]] = [{}]
    for name, declared in listed["params"].items():
        rows = [{**row, name: value} for row in rows for value in declared["tried"]][:4000]
    return [{"action": listed["name"], "params": row} for row in rows]
