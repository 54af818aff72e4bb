"""Coefficients of a cubic."""

# EVOLVE-BLOCK-START
COEFFICIENTS = (0.0, 1.0, -0.2, 0.0)


def solve():
    return list(COEFFICIENTS)


# EVOLVE-BLOCK-END
