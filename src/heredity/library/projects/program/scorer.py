"""Judges what solve() returned, in a sandbox where nothing of the program is."""

from fractions import Fraction
from itertools import combinations


def verify(answer):
    """Return the least difference of two distances; raise ValueError for what is no answer, which is the program's fault."""
    if (
        not isinstance(answer, list)
        or len(answer) != 6
        or not all(type(v) in (int, float) and 0 <= v <= 1 for v in answer)
    ):
        raise ValueError("give six numbers from 0 to 1")
    distances = sorted(abs(Fraction(a) - Fraction(b)) for a, b in combinations(answer, 2))
    least = min([distances[0], *(b - a for a, b in zip(distances, distances[1:]))])
    return {"least_difference": float(least)}
