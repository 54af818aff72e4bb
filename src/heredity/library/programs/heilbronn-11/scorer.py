"""Verifies points in a triangle in exact arithmetic."""

from fractions import Fraction
from itertools import combinations

COUNT = 11


def verify(answer):
    """Return the smallest share of area; raise ValueError if the answer is no set of points in the triangle."""
    if not isinstance(answer, list) or len(answer) != COUNT:
        raise ValueError(f"give a list of {COUNT} points [x, y]")
    points = []
    for number, point in enumerate(answer):
        if not isinstance(point, list) or len(point) != 2 or not all(type(v) in (int, float) for v in point):
            raise ValueError(f"point {number} is {point!r:.80}; give two numbers [x, y]")
        x, y = (Fraction(v) for v in point)
        if x < 0 or y < 0 or x + y > 1:
            raise ValueError(f"point {number} is outside of the triangle")
        points.append((x, y))
    smallest = min(
        abs((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])) for a, b, c in combinations(points, 3)
    )
    return {"smallest_share": float(smallest)}
