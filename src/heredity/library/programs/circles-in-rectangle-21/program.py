"""21 circles in a rectangle of perimeter 4: a grid, with as large circles as fit."""


# EVOLVE-BLOCK-START
def solve():
    return [WIDTH, shrunk(grown(centres()))]


WIDTH = 0.8
SPREAD = 1.0
LEAN = 0.0


def centres():
    """Return 21 centres in seven rows of three; odd rows lean to a side."""
    points = []
    for row in range(7):
        for column in range(3):
            x = (column + 0.5 + LEAN * (row % 2)) / 3
            y = 0.5 + SPREAD * ((row + 0.5) / 7 - 0.5)
            points.append((WIDTH * min(max(x, 0.0), 1.0), (2 - WIDTH) * min(max(y, 0.0), 1.0)))
    return points


# EVOLVE-BLOCK-END


def grown(points):
    """Return circles: each first takes half of its smallest gap, then, in turn, what is left to it."""
    radii = [min(edge(p), *(distance(p, q) / 2 for q in points if q is not p)) for p in points]
    for i in range(len(points)):
        gaps = [distance(points[i], points[j]) - radii[j] for j in range(len(points)) if j != i]
        radii[i] = min(edge(points[i]), *gaps)
    return [(x, y, r) for (x, y), r in zip(points, radii)]


def edge(point):
    return max(min(*point, WIDTH - point[0], 2 - WIDTH - point[1]), 0.0)


def distance(one, other):
    return ((one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2) ** 0.5


def shrunk(circles):
    """Return circles that are a little smaller, so that rounding makes none overlap."""
    return [[x, y, r - 1e-9] for x, y, r in circles]
