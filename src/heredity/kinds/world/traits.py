"""Capabilities that a world requires, detected from the behaviour of its state: the columns of AutoEnv's table A7.

No words of a world are read, except its declared semantics, since a state does not show whether words are inverse. Each
capability is a rule over a few plays of an exploring player and of the solution. The agreement of the rules with
descriptions is measured (docs/world-exports.md); they support a curator's decision and prove nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heredity.kinds.world.description import CAPABILITIES
from heredity.kinds.world.episode import Episode
from heredity.kinds.world.gates.contract import Subject
from heredity.kinds.world.gates.plays import Explorer, Policy, rng_of
from heredity.kinds.world.gates.states import Leaves, leaves
from heredity.kinds.world.world import Level

_LEVELS = 3
_MOVED = 0.15
"""Least share of steps at which a coordinate changes by one, for an agent's position."""
_GAUGES = 2
_SYMBOLS = 6
_AHEAD = 0.3

Path = tuple[str, ...]


@dataclass(frozen=True)
class _Change:
    """The effect of a step: leaves before and after; whether the action was refused."""

    before: Leaves
    after: Leaves
    refused: bool

    def changed(self) -> list[Path]:
        return [path for path, value in self.after.items() if self.before.get(path) != value]


def capabilities(subject: Subject, means: Mapping[str, float]) -> tuple[str, ...]:
    """Return the detected capabilities, in the order of `CAPABILITIES`.

    Args:
        subject: the world with its levels.
        means: mean shares of the bound by player (see `heredity.kinds.world.gates.plays`).
    """
    changes = [change for level in subject.some(_LEVELS) for change in _changes(subject, level)]
    clocks = _clocks(changes)
    meta = subject.world.description.meta
    asked = {
        "navigation": _walks(changes),
        "memory": meta.observation == "partial",
        "inversion": meta.semantics == "inverse",
        "control": len(_gauges(changes, clocks)) >= _GAUGES,
        "pattern": _symbols(changes) >= _SYMBOLS,
        "planning": means["solution"] - means["greedy"] >= _AHEAD,
        "adversarial": _moves_by_itself(changes, clocks),
    }
    return tuple(name for name in CAPABILITIES if asked[name])


def _changes(subject: Subject, level: Level) -> list[_Change]:
    explorer = Explorer(subject.world.description, rng_of(subject, level, "traits"))
    solution = iter(subject.world.levels.solve(level.data))
    changes: list[_Change] = []
    policies: list[Policy] = [explorer, lambda _: next(solution, None), lambda _: None]
    for policy in policies:
        episode: Episode = subject.world.start(level.data)
        before = leaves(episode.state)
        while not episode.done:
            step = episode.step(policy(episode))
            after = leaves(episode.state)
            changes.append(_Change(before, after, step.refused))
            before = after
    return changes


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _clocks(changes: Sequence[_Change]) -> set[Path]:
    """Return paths of counters: numbers that change by the same amount at almost every step."""
    steps: dict[Path, Counter[float]] = {}
    for change in changes:
        for path, value in change.after.items():
            old = change.before.get(path)
            if _number(value) and _number(old):
                steps.setdefault(path, Counter())[value - old] += 1  # type: ignore[operator]
    return {path for path, tally in steps.items() if any(by and n >= 0.9 * tally.total() for by, n in tally.items())}


def _walks(changes: Sequence[_Change]) -> bool:
    """Return True if some pair of integers is a position that changes in single steps."""
    moved: Counter[Path] = Counter()
    taken = [change for change in changes if not change.refused]
    for change in taken:
        for path in {path[:-1] for path in change.changed()}:
            pair = [(change.before.get((*path, key)), change.after.get((*path, key))) for key in ("0", "1")]
            if all(type(old) is type(new) is int for old, new in pair) and (*path, "2") not in change.after:
                moved[path] += sum(abs(new - old) for old, new in pair) == 1  # type: ignore[operator]
    return any(count >= _MOVED * len(taken) for count in moved.values())


def _gauges(changes: Sequence[_Change], clocks: set[Path]) -> set[Path]:
    """Return paths of numbers that go both up and down, by different amounts: stocks and dials, not positions or clocks."""
    ups: dict[Path, set[float]] = {}
    for change in changes:
        for path in change.changed():
            old, new = change.before.get(path), change.after[path]
            if _number(old) and _number(new) and path not in clocks:
                ups.setdefault(path, set()).add(new - old)  # type: ignore[operator]
    return {path for path, by in ups.items() if any(d > 0 for d in by) and any(d < 0 for d in by) and len(by) > _GAUGES}


def _symbols(changes: Sequence[_Change]) -> int:
    """Return the largest number of leaves in one list or grid that change during play."""
    lists: dict[Path, set[Path]] = {}
    for change in changes:
        for path in change.changed():
            if path and path[-1].isdecimal():
                lists.setdefault(path[:-1], set()).add(path)
    return max(map(len, lists.values()), default=0)


def _moves_by_itself(changes: Sequence[_Change], clocks: set[Path]) -> bool:
    """Return True if much of the state, clocks aside, changes also when an action is refused, so something else acts."""
    refused = [change for change in changes if change.refused]
    acts = [any(path not in clocks for path in change.changed()) for change in refused]
    return bool(acts) and sum(acts) > len(acts) / 2
