def drawn(random, rows, columns, high):
    return [[[random.randint(0, high) for _ in range(columns)] for _ in range(rows)]]


def snake(rows, columns, wall):
    # The way goes up and down through all columns; off it everything is high.
    grid = [[0] * columns for _ in range(rows)]
    for column in range(1, columns, 2):
        for row in range(rows):
            if row != (rows - 1 if column % 4 == 1 else 0):
                grid[row][column] = wall
    return grid


def small(random):
    return drawn(random, random.randint(1, 4), random.randint(1, 4), random.choice([3, 20]))


def cases(random):
    yield [[[7]]]
    yield [[[0, 10**9]]]
    yield [[[1], [10**9], [5]]]
    yield [snake(5, 9, 8)]
    yield [[row[::-1] for row in snake(4, 11, 3)]]
    for _ in range(6):
        yield drawn(random, random.randint(5, 25), random.randint(5, 25), random.choice([9, 1000, 10**9]))
    yield [[[column * column * 50 + row * (column % 7) for column in range(20)] for row in range(20)]]
    # Between rough tussocks, the easy way turns back to the left.
    grid = [[50 + (row + column) % 2 * 49 for column in range(6)] for row in range(6)]
    way = [
        (1, 0),
        (1, 1),
        (1, 2),
        (1, 3),
        (2, 3),
        (3, 3),
        (3, 2),
        (3, 1),
        (4, 1),
        (5, 1),
        (5, 2),
        (5, 3),
        (5, 4),
        (5, 5),
    ]
    for height, (row, column) in enumerate(way):
        grid[row][column] = height
    yield [grid]
    yield [[row + [10**9] for row in drawn(random, 110, 108, 10**6)[0]]]
    yield [snake(100, 120, 10**9)]
    yield [[[abs(value) + row % 2 for value in line] for row, line in enumerate(snake(100, 119, 10**9 - 1))]]
    yield drawn(random, 110, 109, 10**9)
    yield drawn(random, 3, 4000, 10**6)
    yield drawn(random, 1, 12_000, 10**9)
