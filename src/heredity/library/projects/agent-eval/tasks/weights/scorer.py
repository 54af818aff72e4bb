"""Judges a set of weights for a balance with two pans."""

from itertools import product


def verify(answer):
    """Return the share of the loads that can be weighed; raise ValueError for what is no answer."""
    if (
        not isinstance(answer, list)
        or len(answer) != 5
        or not all(type(v) in (int, float) and 0 < v < 1000 for v in answer)
    ):
        raise ValueError("give five weights above 0")
    sums = [sum(sign * weight for sign, weight in zip(signs, answer)) for signs in product((-1, 0, 1), repeat=5)]
    return {"weighed": sum(any(abs(load - total) <= 0.5 for total in sums) for load in range(1, 122)) / 121}
