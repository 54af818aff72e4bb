"""Verifies an upper bound of the minimum overlap constant in exact arithmetic."""

from fractions import Fraction


def verify(answer):
    """Return the largest overlap; raise ValueError if the answer is no such function."""
    if not isinstance(answer, list) or not 8 <= len(answer) <= 400 or not all(type(v) in (int, float) for v in answer):
        raise ValueError("give a list of 8 to 400 numbers")
    exact = [Fraction(v) for v in answer]
    if min(exact) < 0 or max(exact) > 10**9 or not sum(exact):
        raise ValueError("give values that are not negative, and not all zero")
    common = max(v.denominator for v in exact)
    values = [int(v * common) for v in exact]
    count, total = len(values), sum(values)
    if max(values) * count > 2 * total:
        raise ValueError("scaled to integral 1, a value exceeds 1; make the function flatter")
    # With f = count * value / (2 * total), the overlap at a shift by whole steps; between them it is linear.
    rest = [2 * total - count * v for v in values]
    most = max(
        sum(values[i] * rest[i + shift] for i in range(max(0, -shift), min(count, count - shift)))
        for shift in range(-count + 1, count)
    )
    return {"overlap": float(Fraction(most, 2 * total * total))}
