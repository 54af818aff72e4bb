"""Judges five points in the unit square, in a sandbox where nothing of the program is."""

from itertools import combinations
from math import dist


def verify(answer):
    """Return the least distance; raise ValueError for what is no answer, which is the program's fault."""
    if (
        not isinstance(answer, list)
        or len(answer) != 10
        or not all(type(v) in (int, float) and 0 <= v <= 1 for v in answer)
    ):
        raise ValueError("give ten numbers from 0 to 1")
    points = list(zip(answer[::2], answer[1::2]))
    return {"least_distance": min(dist(a, b) for a, b in combinations(points, 2))}
