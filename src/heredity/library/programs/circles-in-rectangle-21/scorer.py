"""Verifies a packing of 21 circles in a rectangle of perimeter 4 in exact arithmetic."""

from fractions import Fraction

COUNT = 21


def verify(answer):
    """Return the sum of the radii; raise ValueError if the answer is no packing."""
    if not isinstance(answer, list) or len(answer) != 2 or type(answer[0]) not in (int, float):
        raise ValueError("give [width, circles]")
    width, height = Fraction(answer[0]), 2 - Fraction(answer[0])
    if width <= 0 or height <= 0:
        raise ValueError("the width is not between 0 and 2")
    if not isinstance(answer[1], list) or len(answer[1]) != COUNT:
        raise ValueError(f"give a list of {COUNT} circles [x, y, r]")
    circles = []
    for number, circle in enumerate(answer[1]):
        if not isinstance(circle, list) or len(circle) != 3 or not all(type(v) in (int, float) for v in circle):
            raise ValueError(f"circle {number} is {circle!r:.80}; give three numbers [x, y, r]")
        circles.append(tuple(Fraction(v) for v in circle))
    for number, (x, y, r) in enumerate(circles):
        if r <= 0 or x < r or y < r or x + r > width or y + r > height:
            raise ValueError(f"circle {number} is not inside of the rectangle with a positive radius")
    for i, (x, y, r) in enumerate(circles):
        for j, (u, v, s) in enumerate(circles[:i]):
            if (x - u) ** 2 + (y - v) ** 2 < (r + s) ** 2:
                raise ValueError(f"circles {j} and {i} overlap")
    return {"sum_of_radii": float(sum(r for _, _, r in circles))}
