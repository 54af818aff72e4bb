"""Five weights for a balance."""

# EVOLVE-BLOCK-START
WEIGHTS = (1.0, 2.0, 4.0, 8.0, 16.0)


def solve():
    return list(WEIGHTS)


# EVOLVE-BLOCK-END
