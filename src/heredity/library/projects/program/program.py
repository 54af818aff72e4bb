"""Places on a line from 0 to 1 whose pairwise distances are as different as they can be."""

# EVOLVE-BLOCK-START
PLACES = (0.0, 0.1, 0.25, 0.45, 0.7, 1.0)


def solve():
    return [min(max(position, 0.0), 1.0) for position in PLACES]


# EVOLVE-BLOCK-END
