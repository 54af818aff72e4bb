"""Search over hashable situations: shortest plans, and plans that pay most."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

P = TypeVar("P", bound=Hashable)
M = TypeVar("M")


def shortest_plan(
    start: P, successors: Callable[[P], Iterable[tuple[M, P]]], goal: Callable[[P], bool]
) -> list[M] | None:
    """Return a shortest list of moves from a situation to a goal, by breadth-first search; None if there is none.

    Args:
        start: where it begins.
        successors: the moves from a situation, each with the situation that it leads to.
        goal: whether a situation is one that is looked for.
    """
    before: dict[P, tuple[P, M] | None] = {start: None}
    queue = deque([start])
    while queue:
        situation = queue.popleft()
        if goal(situation):
            return _back(before, situation)
        for move, other in successors(situation):
            if other not in before:
                before[other] = (situation, move)
                queue.append(other)
    return None


def richest_plan(
    start: P, successors: Callable[[P], Iterable[tuple[M, P, int]]], hope: Callable[[P], int]
) -> tuple[int, list[M]]:
    """Return the most that can be collected from a situation on, and the moves that collect it.

    Best first: the situation with the greatest sum of what was collected and what may be hoped for goes on first, so when
    the best collected sum is at least the hope of every other, nothing better exists (A*, maximizing). It is exact if
    `hope` never is less than what can still be collected. A situation that is reached again with more is taken up again.

    Args:
        start: where it begins.
        successors: the moves from a situation, each with the situation that it leads to and what it pays, 0 or more.
        hope: an upper bound on what can still be collected from a situation.
    """
    before: dict[P, tuple[P, M] | None] = {start: None}
    collected = {start: 0}
    queue: list[tuple[int, int, int, P]] = [(-hope(start), 0, 0, start)]
    best, richest, pushed = 0, start, 0
    while queue and -queue[0][0] > best:
        _, minus, _, situation = heapq.heappop(queue)
        if -minus < collected[situation]:
            continue
        for move, other, pay in successors(situation):
            total = pay - minus
            if total > collected.get(other, -1):
                collected[other] = total
                before[other] = (situation, move)
                pushed += 1
                heapq.heappush(queue, (-total - hope(other), -total, pushed, other))
                if total > best:
                    best, richest = total, other
    return best, _back(before, richest)


def _back(before: dict[P, tuple[P, M] | None], situation: P) -> list[M]:
    moves: list[M] = []
    while (step := before[situation]) is not None:
        situation, move = step
        moves.append(move)
    return moves[::-1]


def cheapest_plan(
    start: P, successors: Callable[[P], Iterable[tuple[M, P, int]]], goal: Callable[[P], bool]
) -> tuple[int, list[M]] | None:
    """Return the least cost of getting from a situation to a goal, with the moves (Dijkstra's search); None if there is no way.

    Args:
        start: where it begins.
        successors: the moves from a situation, each with the situation that it leads to and what it costs, 0 or more.
        goal: whether a situation is one that is looked for.
    """
    before: dict[P, tuple[P, M] | None] = {start: None}
    costs = {start: 0}
    queue: list[tuple[int, int, P]] = [(0, 0, start)]
    pushed = 0
    while queue:
        cost, _, situation = heapq.heappop(queue)
        if cost > costs[situation]:
            continue
        if goal(situation):
            return cost, _back(before, situation)
        for move, other, price in successors(situation):
            total = cost + price
            if other not in costs or total < costs[other]:
                costs[other] = total
                before[other] = (situation, move)
                pushed += 1
                heapq.heappush(queue, (total, pushed, other))
    return None


def meeting_plan(
    start: P,
    goals: Iterable[P],
    successors: Callable[[P], Iterable[tuple[M, P]]],
    predecessors: Callable[[P], Iterable[tuple[M, P]]],
) -> list[M] | None:
    """Return a shortest list of moves from a situation to any of the goals, searched from both ends; None if there is none.

    Layers are finished one by one, the smaller side first, so the first meeting is on a shortest way: the way's situation
    one layer earlier would otherwise have met already.

    Args:
        start: where it begins.
        goals: where it may end.
        successors: the moves from a situation, each with the situation that it leads to.
        predecessors: the moves into a situation, each with the situation that it comes from.
    """
    ahead: dict[P, tuple[P, M] | None] = {start: None}
    behind: dict[P, tuple[P, M] | None] = dict.fromkeys(goals)
    if start in behind:
        return []
    fronts, sides, ways = [[start], list(behind)], (ahead, behind), (successors, predecessors)
    while fronts[0] and fronts[1]:
        turn = int(len(fronts[1]) < len(fronts[0]))
        mine, theirs, layer = sides[turn], sides[1 - turn], list[P]()
        for situation in fronts[turn]:
            for move, other in ways[turn](situation):
                if other in mine:
                    continue
                mine[other] = (situation, move)
                if other in theirs:
                    return _back(ahead, other) + _back(behind, other)[::-1]
                layer.append(other)
        fronts[turn] = layer
    return None


def best_within(
    start: P, successors: Callable[[P], Iterable[tuple[M, P]]], steps: int, worth: Callable[[P], int]
) -> tuple[int, list[M]]:
    """Return the greatest worth of a situation that can be reached within some moves, and the moves to it.

    It is exact: everything that can be reached is looked at, the moves to the first found of the best are the fewest.

    Args:
        start: where it begins.
        successors: the moves from a situation, each with the situation that it leads to.
        steps: how many moves there may be.
        worth: what a situation is worth.
    """
    before: dict[P, tuple[P, M] | None] = {start: None}
    best, layer = start, [start]
    for _ in range(steps):
        following: list[P] = []
        for situation in layer:
            for move, other in successors(situation):
                if other not in before:
                    before[other] = (situation, move)
                    following.append(other)
        best = max([best, *following], key=worth)
        layer = following
    return worth(best), _back(before, best)


def guided_plan(
    start: P,
    successors: Callable[[P], Iterable[tuple[M, P]]],
    guess: Callable[[P], int],
    most: int,
) -> list[M] | None:
    """Return a list of moves to a goal, not always a shortest; None if none was found.

    Situations with the least sum of moves made and moves guessed go on first. The bolder the guess, the fewer situations are
    looked at, and the longer the list may be.

    Args:
        start: where it begins.
        successors: the moves from a situation, each with the situation that it leads to.
        guess: about how many moves there still are; 0 at a goal and nowhere else.
        most: how many situations may be looked at.
    """
    before: dict[P, tuple[P, M] | None] = {start: None}
    queue: list[tuple[int, int, int, P]] = [(guess(start), 0, 0, start)]
    for _ in range(most):
        if not queue:
            return None
        total, made, _, situation = heapq.heappop(queue)
        if total == made:
            return _back(before, situation)
        for move, other in successors(situation):
            if other not in before:
                before[other] = (situation, move)
                heapq.heappush(queue, (made + 1 + guess(other), made + 1, len(before), other))
    return None
