"""A scheme that multiplies 3 x 3 matrices."""

SIZE = 3


def solve():
    return scheme()


# EVOLVE-BLOCK-START
def scheme():
    """Return the scheme of the definition: one multiplication for each term of each sum."""
    terms = []
    for i in range(SIZE):
        for j in range(SIZE):
            for k in range(SIZE):
                terms.append([unit(i, k), unit(k, j), unit(i, j)])
    return terms
# EVOLVE-BLOCK-END


def unit(row, column):
    """Return the matrix with a single one."""
    return [int(index == row * SIZE + column) for index in range(SIZE * SIZE)]
