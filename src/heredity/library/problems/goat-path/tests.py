def drawn(random, rows, columns, high, leap):
    return [[[random.randint(0, high) for _ in range(columns)] for _ in range(rows)], leap]


def small(random):
    high = random.choice([2, 6, 30, 10**9])
    leap = random.choice([1, 2, 5, high // 2 + 1, 10**9])
    return drawn(random, random.randint(1, 4), random.randint(1, 4), high, leap)


def winding(rows, columns, step, gap):
    """A way through every second row and the joints between them; what lies between is too high to leap on."""
    heights = [[10**9 - gap] * columns for _ in range(rows)]
    height = 0
    for row in range(0, rows, 2):
        forth = range(columns) if row % 4 == 0 else range(columns - 1, -1, -1)
        for column in forth:
            heights[row][column] = height
            height += step
        if row + 2 < rows:
            heights[row + 1][columns - 1 if row % 4 == 0 else 0] = height
            height += step
    return heights


def cases(random):
    yield [[[0]], 1]
    yield [[[10**9, 0]], 10**9]
    yield [[[0, 10**9]], 10**9]
    yield [[[0], [10**9], [10**9 - 1]], 10**9 - 1]
    yield [[[5, 4, 3, 2, 1]], 1]
    yield [[[1, 2], [4, 3]], 1]
    # The nearest rock leads to a dead end, the highest one too, and a way across corners would be longer.
    yield [[[5, 6, 7], [9, 1, 3], [2, 2, 4]], 8]
    yield [[[1, 9, 1], [9, 2, 9], [1, 9, 3]], 9]
    yield [[[3, 3, 4, 4, 5, 5]], 1]
    for rows, columns in ((1, 60), (40, 1), (7, 9), (12, 12), (20, 20)):
        for high, leap in ((9, 3), (50, 20), (10**9, 4 * 10**8)):
            yield drawn(random, rows, columns, high, leap)
    yield [[[row + column for column in range(160)] for row in range(160)], 1]
    yield [[[3 * row + 2 * column for column in range(160)] for row in range(160)], 2]
    yield [[[10**9 - row * column for column in range(160)] for row in range(160)], 10**9]
    yield [[[7] * 160 for _ in range(160)], 10**9]
    yield [winding(159, 160, 1, 0), 1]
    yield [[row[::-1] for row in winding(160, 159, 7, 1)][::-1], 7]
    yield drawn(random, 160, 160, 10**9, 10**9)
    yield drawn(random, 160, 160, 300, 40)
    yield [[[row * 1000 + random.randint(0, 500) for _ in range(160)] for row in range(160)], 1200]
