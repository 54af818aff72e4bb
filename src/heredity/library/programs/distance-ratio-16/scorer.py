"""Verifies points in the plane in exact arithmetic."""

from fractions import Fraction
from itertools import combinations

COUNT = 16


def verify(answer):
    """Return the squared ratio of the largest to the smallest distance; raise ValueError if the answer is no set of points."""
    if not isinstance(answer, list) or len(answer) != COUNT:
        raise ValueError(f"give a list of {COUNT} points [x, y]")
    points = []
    for number, point in enumerate(answer):
        if not isinstance(point, list) or len(point) != 2 or not all(type(v) in (int, float) for v in point):
            raise ValueError(f"point {number} is {point!r:.80}; give two numbers [x, y]")
        if max(map(abs, point)) > 1e6:
            raise ValueError(f"point {number} is further from 0 than a million")
        points.append(tuple(Fraction(v) for v in point))
    squares = [(a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 for a, b in combinations(points, 2)]
    if min(squares) * 10**12 <= max(squares):
        raise ValueError("two points are the same, or a million times nearer than others")
    return {"squared_ratio": float(max(squares) / min(squares))}
