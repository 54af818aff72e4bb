"""Searches of a level by moments: an exhaustive one that computes the maximum reward, and one that follows reward.

The environment runs in the same process, so results are claims, which the host replays before it believes them.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from world_folder_choices import Choices
from world_folder_moments import Action, Moment, Moments, Taken

_WALKS = 40
_PASSES = 500
_EDGE = tuple[float, int]
_Child = tuple[float, float, Moment, Action]
_END = -1
EPSILON = 1e-9


@dataclass(slots=True)
class Log:
    """Everything that searches have encountered.

    Attributes:
        best: actions of the best-paid play; `total`: its reward.
        crashes: exceptions, each with the first actions that led to it.
        paid: moments and actions that paid there, a few per name; `moved`: those that led to another moment.
    """

    best: list[Action] = field(default_factory=list)
    total: float = 0.0
    crashes: dict[str, list[Action]] = field(default_factory=dict)
    paid: dict[str, list[tuple[Moment, Action]]] = field(default_factory=dict)
    moved: dict[str, list[tuple[Moment, Action]]] = field(default_factory=dict)

    def note(self, taken: Taken, actions: Sequence[Action], total: float) -> None:
        """Record a step that led to the end of `actions`, and the total there."""
        if taken.failed:
            earlier = self.crashes.get(taken.failed)
            if earlier is None or len(actions) < len(earlier):
                self.crashes[taken.failed] = list(actions)
        elif total > self.total + EPSILON:
            self.total, self.best = total, list(actions)

    def pay(self, moment: Moment, action: Action) -> None:
        """Record an action that paid."""
        _keep(self.paid, moment, action, 4)

    def move(self, moment: Moment, action: Action) -> None:
        """Record an action that led to another moment."""
        _keep(self.moved, moment, action, 2)


def _keep(rows: dict[str, list[tuple[Moment, Action]]], moment: Moment, action: Action, most: int) -> None:
    row = rows.setdefault(action["action"], [])
    if len(row) < most:
        row.append((moment, action))


@dataclass(frozen=True, slots=True)
class Extent:
    """The progress of an exhaustive search.

    Attributes:
        moments: number of moments reached, ignoring time.
        exhausted: True if there are no others, and time made no difference in the walks.
        most: the maximum reward, if exhausted.
    """

    moments: int
    exhausted: bool
    most: float = 0.0


def exhaust(
    moments: Moments, actions: Sequence[Action], horizon: int, limits: tuple[int, float], log: Log, draws: random.Random
) -> Extent:
    """Search exhaustively, breadth first, and compute the maximum reward within the horizon.

    Args:
        moments: the level.
        actions: all possible actions.
        horizon: maximum length of an episode, in steps.
        limits: step budget, and a total at which the search stops.
        log: record of everything encountered.
        draws: source of chance for the walks that test whether time makes a difference.
    """
    budget, enough = limits
    ends = moments.steps + budget
    moments.begin()
    index: dict[bytes, int] = {moments.key(): 0}
    waiting: deque[tuple[int, Moment, float]] = deque([(0, moments.take(()), 0.0)])
    table: dict[int, list[_EDGE | None]] = {}
    while waiting:
        here, moment, total = waiting.popleft()
        edges: list[_EDGE | None] = []
        for action in actions:
            if moments.steps >= ends:
                return Extent(len(index), False)
            moments.put(moment)
            taken = moments.step(action)
            path = (*moment.actions, action)
            log.note(taken, path, total + taken.reward)
            if taken.failed:
                edges.append(None)
                continue
            if taken.reward > EPSILON:
                log.pay(moment, action)
            if log.total >= enough:
                return Extent(len(index), False)
            if taken.done or len(path) >= horizon:
                edges.append((taken.reward, _END))
                continue
            key = moments.key()
            if key not in index:
                index[key] = len(index)
                waiting.append((index[key], moments.take(path), total + taken.reward))
            if index[key] != here:
                log.move(moment, action)
            edges.append((taken.reward, index[key]))
        table[here] = edges
    if any(edge is None for edges in table.values() for edge in edges):
        return Extent(len(index), False)
    most, plan = _most(table, horizon)
    if not _timeless(moments, actions, index, table, horizon, draws) or not _pays(moments, actions, plan, most, log):
        return Extent(len(index), False)
    return Extent(len(index), True, most)


class Follower:
    """Keeps several plays at once, step by step: half of them the best paid, the others drawn from the rest.

    Args:
        moments: the level.
        choose: returns the actions to try from the environment.
        choices: remembers useful actions.
        log: record of everything encountered.
    """

    def __init__(self, moments: Moments, choose: Callable[[Any], list[Action]], choices: Choices, log: Log) -> None:
        self._moments, self._choose, self._choices, self._log = moments, choose, choices, log
        self._draws = random.Random(1)
        self._seen: set[bytes] = set()

    def run(self, horizon: int, budget: int) -> None:
        """Search to the horizon until the step budget is used; start again if all plays end early."""
        ends = self._moments.steps + budget
        for _ in range(_PASSES):
            before = self._moments.steps
            self._pass(horizon, ends)
            if self._moments.steps >= ends or self._moments.steps == before:
                return

    def _pass(self, horizon: int, ends: int) -> None:
        moments = self._moments
        beam: list[tuple[Moment, float]] = [] if moments.begin() else [(moments.take(()), 0.0)]
        for t in range(horizon):
            children: dict[bytes, _Child] = {}
            width = 1
            for moment, total in beam:
                moments.put(moment)
                tried = self._choose(moments.env)
                width = max(width, len(tried))
                if moments.steps >= ends:
                    return
                self._expand(moment, total, tried, children)
            self._seen.update(children)
            beam = self._chosen(children, max(4, (ends - moments.steps) // (max(1, horizon - t - 1) * (width + 1))))

    def _expand(self, moment: Moment, total: float, tried: Sequence[Action], children: dict[bytes, _Child]) -> None:
        moments = self._moments
        before = moments.key()
        for action in tried:
            moments.put(moment)
            taken = moments.step(action)
            self._log.note(taken, (*moment.actions, action), total + taken.reward)
            if taken.failed:
                continue
            if taken.reward > EPSILON:
                self._log.pay(moment, action)
            if taken.done:
                continue
            key = moments.key()
            if key != before or taken.reward > EPSILON:
                self._choices.keep(action)
                self._log.move(moment, action)
            child = (total + taken.reward, (key not in self._seen) + self._draws.random(), moment, action)
            if key not in children or child[:2] > children[key][:2]:
                children[key] = child

    def _chosen(self, children: dict[bytes, _Child], most: int) -> list[tuple[Moment, float]]:
        ranked = sorted(children.values(), key=lambda child: (-child[0], -child[1]))
        chosen = ranked[: most // 2]
        chosen += sorted(ranked[most // 2 :], key=lambda child: -child[1])[: most - len(chosen)]
        beam: list[tuple[Moment, float]] = []
        for total, _, moment, action in chosen:
            self._moments.put(moment)
            if not self._moments.step(action).failed:
                beam.append((self._moments.take((*moment.actions, action)), total))
        return beam


def _most(table: dict[int, list[_EDGE | None]], horizon: int) -> tuple[float, list[int]]:
    """Return the maximum reward from the first moment, and the indices of the actions that collect it."""
    values = [0.0] * len(table)
    plans: list[list[int]] = []
    for _ in range(horizon):
        after, plan = [0.0] * len(table), [0] * len(table)
        for here, edges in table.items():
            worth = [edge[0] + (values[edge[1]] if edge[1] >= 0 else 0.0) for edge in edges if edge is not None]
            plan[here] = max(range(len(worth)), key=worth.__getitem__)
            after[here] = worth[plan[here]]
        plans.append(plan)
        if after == values and len(plans) > 1:
            plans += [plan] * (horizon - len(plans))
            break
        values = after
    here, chosen = 0, list[int]()
    for plan in reversed(plans):
        chosen.append(plan[here])
        edge = table[here][plan[here]]
        if edge is None or edge[1] < 0:
            break
        here = edge[1]
    return values[0], chosen


def _pays(moments: Moments, actions: Sequence[Action], plan: Sequence[int], most: float, log: Log) -> bool:
    """Return True if the plan pays the computed reward when played."""
    if moments.begin():
        return most <= EPSILON
    total, played = 0.0, list[Action]()
    for index in plan:
        taken = moments.step(actions[index])
        played.append(actions[index])
        total += taken.reward
        log.note(taken, played, total)
        if taken.failed or taken.done:
            break
    return abs(total - most) < 1e-6 or most <= EPSILON


def _timeless(
    moments: Moments,
    actions: Sequence[Action],
    index: dict[bytes, int],
    table: dict[int, list[_EDGE | None]],
    horizon: int,
    draws: random.Random,
) -> bool:
    """Return True if walks to the horizon meet only moments of the table, at any time."""
    for _ in range(_WALKS):
        over, here = moments.begin(), 0
        for t in range(horizon):
            if over:
                break
            choice = draws.randrange(len(actions))
            taken, edge = moments.step(actions[choice]), table[here][choice]
            over = taken.done
            if edge is None or abs(taken.reward - edge[0]) > EPSILON:
                return False
            if t + 1 >= horizon:
                break
            if over != (edge[1] < 0) or (not over and index.get(moments.key()) != edge[1]):
                return False
            here = edge[1]
    return True
