"""A sorting network of 16 channels."""

CHANNELS = 16


def solve():
    return [list(pair) for pair in network()]


# EVOLVE-BLOCK-START
def network():
    """Return comparators: every channel is carried to its place, one after the other."""
    pairs = []
    for end in range(CHANNELS - 1, 0, -1):
        for low in range(end):
            pairs.append((low, low + 1))
    return pairs
# EVOLVE-BLOCK-END
