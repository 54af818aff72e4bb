"""16 points in the plane: rings around a middle."""

import math


# EVOLVE-BLOCK-START
def solve():
    return points()


COUNTS = (4, 12)
DISTANCES = (0.35, 1.0)
PHASES = (0.0, 0.5)


def points():
    """Return 16 points on rings."""
    found = []
    for count, distance, phase in zip(COUNTS, DISTANCES, PHASES):
        for k in range(count):
            angle = math.tau * (k + phase) / count
            found.append([distance * math.cos(angle), distance * math.sin(angle)])
    return found


# EVOLVE-BLOCK-END
