"""32 circles in a unit square: rings of centres, and as large circles around them as fit."""

import math


# EVOLVE-BLOCK-START
def solve():
    return shrunk(grown(centres()))


COUNTS = (3, 10, 19)
DISTANCES = (0.1, 0.25, 0.45)
PHASES = (0.0, 0.0, 0.0)
SQUARENESS = (0.0, 0.0, 0.0)


def centres():
    """Return 32 centres on rings around the middle; squareness moves a ring towards a square, 1 all the way."""
    points = []
    for count, distance, phase, squareness in zip(COUNTS, DISTANCES, PHASES, SQUARENESS):
        for k in range(count):
            angle = math.tau * (k + phase) / count
            x, y = math.cos(angle), math.sin(angle)
            stretch = 1 + squareness * (1 / max(abs(x), abs(y)) - 1)
            points.append((0.5 + distance * stretch * x, 0.5 + distance * stretch * y))
    return points


# EVOLVE-BLOCK-END


def grown(points):
    """Return circles: each first takes half of its smallest gap, then, from the middle outwards, what is left to it."""
    radii = [min(edge(p), *(distance(p, q) / 2 for q in points if q is not p)) for p in points]
    for i in sorted(range(len(points)), key=lambda i: distance(points[i], (0.5, 0.5))):
        gaps = [distance(points[i], points[j]) - radii[j] for j in range(len(points)) if j != i]
        radii[i] = min(edge(points[i]), *gaps)
    return [(x, y, r) for (x, y), r in zip(points, radii)]


def edge(point):
    return max(min(*point, 1.0 - point[0], 1.0 - point[1]), 0.0)


def distance(one, other):
    return ((one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2) ** 0.5


def shrunk(circles):
    """Return circles that are a little smaller, so that rounding makes none overlap."""
    return [[x, y, r - 1e-9] for x, y, r in circles]
