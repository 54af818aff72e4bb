"""Judges a cubic polynomial by its largest error."""

from math import sin


def verify(answer):
    """Return how close it is, from 0 to 1; raise ValueError for what is no answer."""
    if (
        not isinstance(answer, list)
        or len(answer) != 4
        or not all(type(v) in (int, float) and abs(v) < 1000 for v in answer)
    ):
        raise ValueError("give four numbers")
    points = [x / 20 for x in range(61)]
    errors = [abs(sum(c * x**power for power, c in enumerate(answer)) - sin(x)) for x in points]
    return {"closeness": 1 / (1 + max(errors))}
