"""Probes of an adversarial agent in moments of a level: invalid, idle and repeated actions, and unlimited amounts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from world_folder_moments import Action, Moment, Moments, Path, Taken
from world_folder_search import EPSILON, Log

_AGAIN = 5
_LEAST = 3
"""Number of consecutive payments required for an action.

A single payment may be due to earlier actions, and so may payments while the state still changes, as when a harvest
ripens; these count only at the start.
"""
_HUGE = 10**6
_NOTED = 10**5
_OTHERS = 10
Claim = dict[str, Any]


class Probes:
    """Probes in moments of a level; `claims` are the clearest of each kind, and of each amount.

    Args:
        moments: the level.
        refused: actions that an environment must refuse, each with its defect.
        idle: actions named for doing nothing.
    """

    def __init__(self, moments: Moments, refused: Sequence[tuple[str, Action]], idle: Sequence[Action]) -> None:
        self._moments, self._refused, self._idle = moments, refused, idle
        self.claims: dict[str, Claim] = {}
        self.payers: dict[str, Action] = {}
        self.crashes: dict[str, tuple[str, list[Action]]] = {}
        self._next = 0

    def income(self, moment: Moment, most: int) -> None:
        """Try some invalid and some idle actions in a moment."""
        count = min(most, len(self._refused))
        rows = [self._refused[(self._next + offset) % len(self._refused)] for offset in range(count)]
        for what, action in (*self._refused[:1], *rows):
            self._pays("invalid-income", what, moment, action)
        self._next += count
        for action in self._idle:
            self._pays("idle-income", "", moment, action)

    def farm(self, moment: Moment, action: Action, others: Sequence[Action]) -> None:
        """Repeat a paid action, alone and alternating with others, in a moment."""
        base = self._baseline(moment)
        for cycle in ([action], *([action, other] for other in others[:_OTHERS] if other != action)):
            if self._goes_round(moment, cycle, base):
                return

    def amounts(self, moment: Moment, action: Action, places: Sequence[str]) -> None:
        """Try amounts of a million in an action that had an effect."""
        for name in places:
            for amount in (_HUGE, -_HUGE):
                self._moments.put(moment)
                before = self._moments.leaves()
                greedy = {"action": action["action"], "params": {**action["params"], name: amount}}
                taken = self._moments.step(greedy)
                if taken.failed:
                    continue
                leaf = _leapt(before, self._moments.leaves())
                if leaf is not None or abs(taken.reward) >= _NOTED:
                    where = ".".join(map(str, leaf)) if leaf else "the reward"
                    text = f"{name} of {action['action']} accepts {amount}, and {where} jumps by as much"
                    self._claim("unbounded-amount", text, (*moment.actions, greedy), abs(taken.reward))
                    self.payers[repr(greedy)] = greedy

    def _pays(self, kind: str, what: str, moment: Moment, action: Action) -> None:
        moments = self._moments
        moments.put(moment)
        paid: list[float] = []
        ends: list[dict[Path, Any]] = []
        over = False
        while len(paid) < _AGAIN and not over:
            taken = moments.step(action)
            if taken.failed:
                path = [*moment.actions, *[action] * (len(paid) + 1)]
                if kind == "invalid-income" and (
                    taken.failed not in self.crashes or len(path) < len(self.crashes[taken.failed][1])
                ):
                    self.crashes[taken.failed] = (what, path)
                return
            if taken.reward <= EPSILON:
                break
            paid.append(taken.reward)
            ends.append(moments.leaves())
            over = taken.done
        owed = bool(moment.actions) and not _same_but_for_counts(ends, moments.clock)
        if len(paid) >= _LEAST and not owed:
            path = (*moment.actions, *[action] * len(paid))
            self._claim(kind, what, path, sum(paid), len(moment.actions))
            if kind == "invalid-income":
                self.payers[repr(action)] = action

    def _baseline(self, moment: Moment) -> float:
        """Return the payment of the first refused action, since some worlds pay for every step."""
        if not self._refused:
            return 0.0
        self._moments.put(moment)
        return max(0.0, self._moments.step(self._refused[0][1]).reward)

    def _goes_round(self, moment: Moment, cycle: Sequence[Action], base: float) -> bool:
        moments = self._moments
        moments.put(moment)
        total, rounds = 0.0, list[dict[Path, Any]]()
        gain, taken = 0.0, Taken()
        for _ in range(_AGAIN):
            gain = 0.0
            for action in cycle:
                taken = moments.step(action)
                if taken.failed or (taken.done and len(rounds) < _LEAST):
                    return False
                gain += taken.reward
                if taken.done:
                    break
            if gain <= base * len(cycle) + EPSILON:
                return False
            total += gain
            rounds.append(moments.leaves())
            if taken.done:
                break
        if not taken.done:
            base = max(base, moments.step(self._refused[0][1]).reward if self._refused else 0.0)
        if gain <= base * len(cycle) + EPSILON:
            return False
        if len(rounds) < _LEAST or not _same_but_for_counts(rounds[1:], moments.clock):
            return False
        path = (*moment.actions, *[action for _ in rounds for action in cycle])
        names = " and ".join(action["action"] for action in cycle)
        text = f"{names} pays every time when repeated, and nothing changes except counters"
        self._claim("farmable", text, path, total / len(rounds), len(moment.actions), len(cycle))
        return True

    def _claim(
        self, kind: str, text: str, actions: Sequence[Action], worth: float, prefix: int = 0, cycle: int = 1
    ) -> None:
        earlier = self.claims.get(text if kind == "unbounded-amount" else kind)
        rank = (-prefix, worth) if kind != "unbounded-amount" else (worth, -len(actions))
        if earlier is None or rank > tuple(earlier["rank"]):
            claim = {"kind": kind, "text": text, "actions": list(actions), "prefix": prefix, "cycle": cycle}
            self.claims[text if kind == "unbounded-amount" else kind] = {**claim, "rank": rank}


def number_places(action: Action, listed: Mapping[str, Any]) -> list[str]:
    """Return the numeric parameters of an action."""
    params: Mapping[str, Any] = action["params"]
    numbers = {name for name, value in params.items() if isinstance(value, int | float) and not isinstance(value, bool)}
    return [name for name in listed if name in numbers]


def nodes_of(log: Log, moments: Moments, plays: Sequence[Sequence[Action]], most: int) -> list[Moment]:
    """Return moments along the best play, and along others, evenly spread, the starts first."""
    nodes: list[Moment] = []
    for actions in (log.best, *plays):
        over, played = moments.begin(), list[Action]()
        here: list[Moment] = [] if over else [moments.take(())]
        for action in actions:
            taken = moments.step(action)
            played.append(action)
            if taken.done or taken.failed:
                break
            here.append(moments.take(played))
        step = max(1, -(-len(here) * (len(plays) + 1) // most))
        nodes += here[::step]
    return nodes


def _leapt(before: Mapping[Path, Any], after: Mapping[Path, Any]) -> Path | None:
    for path, value in after.items():
        old = before.get(path)
        if isinstance(value, bool) or not isinstance(value, int | float) or not isinstance(old, int | float):
            continue
        if _NOTED <= abs(value - old) < float("inf"):
            return path
    return None


def _same_but_for_counts(rounds: Sequence[Mapping[Path, Any]], clock: frozenset[Path]) -> bool:
    """Return True if the ends of rounds are the same, except for time and numbers that only grow."""
    first = rounds[0] if rounds else {}
    if any(moment.keys() != first.keys() for moment in rounds):
        return False
    for path in first:
        if path in clock or path == ("_t",):
            continue
        values = [moment[path] for moment in rounds]
        if all(value == values[0] for value in values):
            continue
        numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
        if not numbers or any(b <= a for a, b in pairwise(values)):
            return False
    return True
