"""11 points in the triangle x >= 0, y >= 0, x + y <= 1."""


# EVOLVE-BLOCK-START
def solve():
    return [list(inside(point)) for point in points()]


POINTS = (
    (0.05, 0.05), (0.9, 0.03), (0.03, 0.9), (0.5, 0.02), (0.02, 0.5), (0.48, 0.5),
    (0.2, 0.15), (0.66, 0.14), (0.16, 0.64), (0.36, 0.3), (0.28, 0.42),
)


def points():
    """Return 11 points."""
    return POINTS
# EVOLVE-BLOCK-END


def inside(point):
    """Return a point, moved into the triangle if it is outside."""
    x, y = max(point[0], 0.0), max(point[1], 0.0)
    while x + y > 1.0:
        x, y = x / (x + y) * 0.9999999999, y / (x + y) * 0.9999999999
    return x, y
