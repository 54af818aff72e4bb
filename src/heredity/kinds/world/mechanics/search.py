"""Search over hashable states: shortest plans, and plans with the greatest reward."""

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
    """Return a shortest list of moves from a state to a goal, by breadth-first search (None if there is none).

    Args:
        start: the initial state.
        successors: the moves from a state, each with the resulting state.
        goal: returns True for a goal state.
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
    """Return the greatest reward that can be collected from a state, and the moves that collect it.

    Best first: the state with the greatest sum of collected and hoped-for reward is expanded first. Once the best
    collected sum is at least the hope of every other, nothing better exists (A*, maximizing). The result is exact if
    `hope` never underestimates the remaining reward. A state that is reached again with more reward is expanded again.

    Args:
        start: the initial state.
        successors: the moves from a state, each with the resulting state and its reward, 0 or more.
        hope: an upper bound on the reward that can still be collected from a state.
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
    """Return the least cost from a state to a goal, with the moves (Dijkstra's algorithm); None without a path.

    Args:
        start: the initial state.
        successors: the moves from a state, each with the resulting state and its cost, 0 or more.
        goal: returns True for a goal state.
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
    """Return a shortest list of moves from a state to any of the goals, searched from both ends; None if there is none.

    Layers are finished one by one, the smaller side first. The first meeting is on a shortest path, because the path's
    state one layer earlier would otherwise have met already.

    Args:
        start: the initial state.
        goals: the final states.
        successors: the moves from a state, each with the resulting state.
        predecessors: the moves into a state, each with the previous state.
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
    """Return the greatest value of a state that can be reached within a number of moves, and the moves to it.

    The search is exhaustive; the moves to the first best state found are the fewest.

    Args:
        start: the initial state.
        successors: the moves from a state, each with the resulting state.
        steps: maximum number of moves.
        worth: value of a state.
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

    States with the least sum of moves made and moves guessed are expanded first. A bolder guess expands fewer states,
    and may give a longer list.

    Args:
        start: the initial state.
        successors: the moves from a state, each with the resulting state.
        guess: estimated number of remaining moves; 0 at a goal and only there.
        most: maximum number of states to expand.
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
